#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The report of a database: what it says is what the program says, and a browser shows all of it."""

import base64
import contextlib
import csv
import html.parser
import io
import json
import os
import pathlib
import re
import shlex
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

TOP = pathlib.Path(__file__).resolve().parents[2]
STUDY = TOP / "examples" / "small-two-buildings" / "study.yaml"

sys.path.insert(0, str(TOP / "python"))
import scaleacross  # noqa: E402
from scaleacross.report import __main__ as report  # noqa: E402
from scaleacross.report import words  # noqa: E402
from scaleacross.database import settings_of  # noqa: E402
from scaleacross.report.source import numbers_of, settings_text  # noqa: E402

ANALYTICAL = {"engines": ["analytical"]}
MARKUP = "</script><img src=x onerror=alert(1)> & \"q\" 'x' {{ 7 * 7 }}"


def folder_of(test):
    folder = tempfile.TemporaryDirectory()
    test.addClassCleanup(folder.cleanup)
    return pathlib.Path(folder.name)


def write(db, out, *options):
    """Exit code, standard output, standard error."""
    printed, said = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
        try:
            code = report.main([str(db), "-o", str(out), *options])
        except SystemExit as end:
            code = end.code
    return code, printed.getvalue(), said.getvalue()


def changed(db, path, *statements):
    path.write_bytes(db.read_bytes())
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        for statement in statements:
            connection.execute(*statement)
    return path


class Text(html.parser.HTMLParser):
    """What a page shows by section (its id, "" above them), its tables and its links."""

    TEXTS = ("h1", "h2", "p", "li", "dt", "dd")

    def __init__(self, page):
        super().__init__()
        self.texts, self.tables, self.links, self.scripts = {}, {}, {}, []
        self.section, self.table = "", []
        self.into = None  # the list whose last text is being read
        self.feed(page)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "section":
            self.section = attributes["id"]
        elif tag == "table":
            self.table = self.tables.setdefault(attributes["id"].removeprefix("table-"), [])
        elif tag == "tr":
            self.table.append([])
        elif tag == "a" and "download" in attributes:
            self.links[attributes["download"]] = attributes["href"]
        into = (self.texts.setdefault(self.section, []) if tag in self.TEXTS else
                self.table[-1] if tag in ("td", "th") else self.scripts if tag == "script" else None)
        if into is not None:
            into.append("")
            self.into = into

    def handle_endtag(self, tag):
        if tag == "section":
            self.section = ""
        if tag in (*self.TEXTS, "td", "th", "script"):
            self.into = None

    def handle_data(self, data):
        if self.into is not None:
            self.into[-1] += data

    def lines(self):
        return [line for lines in self.texts.values() for line in lines]

    def csv(self, name):
        text = base64.b64decode(self.links[name].split("base64,")[1]).decode()
        return list(csv.DictReader(io.StringIO(text)))


class Pages(unittest.TestCase):
    """Of the small study with baselines, a sweep, a map, a run, packets and failures."""

    @classmethod
    def setUpClass(cls):
        cls.folder = folder_of(cls)
        cls.db = cls.folder / "small.db"
        scaleacross.explore(STUDY, db=cls.db, set={
            **ANALYTICAL, "baselines": ["production", "megatron", "one-site"]})
        scaleacross.compare(STUDY, db=cls.db, engines=["analytical", "flow"], top=2)

    def page(self, db, *options):
        out = self.folder / f"{self.id()}.html"
        self.assertEqual(write(db, out, *options), (0, f"wrote {out}\n", ""))
        return Text(out.read_text())

    def last(self, db):
        """The page of the search that was stored last, which need not be the study as it is."""
        ((search,),) = self.stored("SELECT max(id) FROM search", db)
        return self.page(db, "--search", str(search))

    def shown(self, db=None, *words_):
        return subprocess.run([scaleacross.find_program(), "show", db or self.db, *words_],
                              check=True, capture_output=True, text=True).stdout

    def stored(self, query, db=None):
        with contextlib.closing(sqlite3.connect(db or self.db)) as connection:
            return connection.execute(query).fetchall()

    def test_every_sentence_of_the_search_stands_once(self):
        page = self.page(self.db)
        ((explanation, label),) = self.stored(
            "SELECT explanation, label FROM search JOIN search_run ON search_id = id AND rank = 1")
        lines = explanation.strip().splitlines()
        self.assertTrue(lines[0].startswith(f"Best: {label}: "), lines[0])
        self.assertEqual(page.texts["answer"][0], "Let data parallelism cross the buildings "
                         f"(DP-out): {lines[0].removeprefix(f'Best: {label}: ')}")
        self.assertEqual(page.texts["answer"][1], label)
        for line in lines[1:]:
            self.assertEqual(page.lines().count(line), 1, line)

    def test_a_placement_without_another_is_no_advice(self):
        db = changed(self.db, self.folder / "held.db",
                     ["UPDATE search SET space = replace(space, 'plan.crossing dp pp; ', '')"])
        self.assertNotIn("plan.crossing", self.stored("SELECT space FROM search", db)[0][0])
        self.assertTrue(self.page(db).texts["answer"][0].startswith(
            "With DP-out, the only placement that is searched: "))

    def test_figures_are_as_show_prints_them(self):
        page, shown = self.page(self.db), self.shown()
        head, *rows = page.tables["plans"]
        text = shown.splitlines()
        self.assertEqual(len(rows), 10)
        for row in rows:
            cells = dict(zip(head, row))
            (line,) = [one for one in text if re.match(rf" +{cells['#']}  TP", one)]
            figures = re.split("  +", line.strip())[2:]
            self.assertEqual([cells[name] for name in (
                "iteration", "MFU", "exposed", "bubble", "memory", "across buildings", "GPU-hours")],
                figures[:7])
            self.assertEqual(cells["fastest"], figures[8])
            if cells["#"] != "1":
                self.assertIn(f"  {cells['#']}: {cells['differs from the best (its value)']}: "
                              f"{cells['which times follow']}", text)
        head, *rows = page.tables["baselines"]
        self.assertEqual([row[0] for row in rows], ["megatron", "production", "one-site"])
        for row in rows[:2]:
            self.assertTrue(any(one.split()[:1] == [row[0]] and f"  {row[2]}  " in one
                                for one in text), row)

    def test_whose_errors_times_have(self):
        short = "dense on H100 and H200, BF16; steps under a second"
        for stack, says in (
                ("megatron-core", f"each figure the largest of {short}, all in one building"),
                ({"preset": "megatron-core", "elementwise": 100},
                 "of the kind that errs most (MoE on Blackwell): not validated for this one, with 34 "
                 "published runs of 4 model families (dense on H100 and H200, BF16): values of the "
                 "stack megatron-core are changed")):
            db = self.folder / "error.db"
            answer = scaleacross.explore(STUDY, db=db, set={
                **ANALYTICAL, "baselines": [], "workload.stack": stack,
                "cluster.buildings.gpu": "h100"})
            self.assertLess(answer["best"]["iteration_time_s"], 1)
            self.assertIn(says, " ".join(self.last(db).lines()))

    def test_training_by_hand(self):
        """Days and cost of 15T tokens: so many iterations, each of its sequences."""
        db = self.folder / "priced.db"
        scaleacross.explore(STUDY, db=db, set={**ANALYTICAL, "baselines": [],
                                               "prices.gpu_hour": 2.5})
        (scenario, time_s), = self.stored(
            "SELECT IFNULL(scenario.study, scenario.text), iteration_time_s FROM search JOIN scenario ON scenario.id = "
            "search.scenario_id JOIN search_run ON search_id = search.id JOIN run ON run.id = run_id "
            "WHERE rank = 1", db)
        study = json.loads(scenario)
        sequence, batch = study["workload"]["sequence"], study["workload"]["global_batch"]
        page = self.page(db, "--search", "1", "--tokens", "15T")
        said = page.texts["answer"]
        figures = dict(zip(said, said[1:]))
        self.assertEqual(figures["model"], study["model"]["name"])
        self.assertEqual(figures["batch"], f"{batch:,} sequences of {sequence:,} tokens")
        self.assertEqual(figures["GPUs, by kind and site"], "64 h100 (" + ", ".join(
            f"{one['name']} {one['gpus']}" for one in study["cluster"]["buildings"]) + ")")
        days = 15e12 / (sequence * batch) * time_s / 86400
        # 64 GPUs at 2.5 an hour, and spans without a price.
        cost = 64 * 2.5 * 24 * days
        self.assertAlmostEqual(float(figures["days for 15T tokens, without failures"]), days,
                               delta=5e-4 * days)
        self.assertAlmostEqual(float(figures["cost of 15T tokens"].replace(",", "")), cost,
                               delta=5e-4 * cost)
        first = page.csv("plans.csv")[0]
        self.assertAlmostEqual(float(first["days"]), days, delta=1e-9 * days)
        self.assertAlmostEqual(float(first["training_cost"]), cost, delta=1e-9 * cost)

    def test_numbers_of_tokens_that_are_none(self):
        for text in ("15Q", "0", "-1T", "T", "nan", "1e19"):
            code, _, error = write(self.db, self.folder / "none.html", f"--tokens={text}")
            self.assertEqual(code, 2, text)
            self.assertIn("such as 15T", error)
        self.assertFalse((self.folder / "none.html").exists())

    def test_one_building_lets_nothing_cross(self):
        db = self.folder / "one-building.db"
        scaleacross.explore(STUDY, db=db, set={**ANALYTICAL, "baselines": []}, sweep={
            "cluster.use": self.buildings()[:1] + ["+".join(self.buildings())]})
        ((alone,),) = self.stored("SELECT id FROM search WHERE settings LIKE '%\"cluster.use\":\""
                                  f"{self.buildings()[0]}\"%'", db)
        page = self.page(db, "--search", str(alone))
        said = page.texts["answer"]
        self.assertNotIn("Let ", said[0])
        self.assertFalse([line for line in said if "sure of the placement" in line or
                          "placement is the faster" in line])
        head, *rows = page.tables["sweep"]
        won = {row[0]: row[head.index("wins")] for row in rows}
        self.assertEqual(won[self.buildings()[0]], "nothing crosses")
        self.assertIn(won["+".join(self.buildings())], ("DP-out", "PP-out"))

    def buildings(self):
        ((scenario,),) = self.stored("SELECT IFNULL(study, text) FROM scenario WHERE id = "
                                     "(SELECT MIN(scenario_id) FROM search)")
        return [one["name"] for one in json.loads(scenario)["cluster"]["buildings"]]

    def test_every_sweep_has_its_section(self):
        db = self.folder / "sweeps.db"
        given = {**ANALYTICAL, "baselines": []}
        scaleacross.explore(STUDY, db=db, set=given)
        for sweep in ({"cluster.cross.oversubscription": [1, 16]},
                      {"cluster.cross.distance": ["1km", "300km"]}):
            scaleacross.explore(STUDY, db=db, set=given, sweep=sweep)
        page = self.page(db)
        keys = {page.tables[name][0][0] for name in ("sweep", "sweep-2")}
        self.assertEqual(keys, {"cluster.cross.oversubscription", "cluster.cross.distance"})
        self.assertNotIn("sweep-3", page.tables)

    def test_files_have_the_values_of_the_database(self):
        page = self.page(self.db)
        plans = self.stored("SELECT rank, iteration_time_s, mfu, probability_best FROM search_run "
                            "JOIN run ON run.id = run_id WHERE rank <= 10 ORDER BY rank")
        self.assertEqual([tuple(float(row[name]) for name in (
            "rank", "iteration_time_s", "mfu", "probability_best"))
            for row in page.csv("plans.csv")], plans)
        best = "(SELECT run_id FROM search_run WHERE rank = 1)"
        self.assertEqual(
            [(row["name"], int(row["bytes"]), float(row["busy"])) for row in page.csv("links.csv")],
            self.stored(f"SELECT name, bytes, busy FROM run_resource WHERE run_id = {best} "
                        "ORDER BY position"))
        self.assertEqual(
            [(int(row["stage"]), int(row["activations"])) for row in page.csv("memory.csv")],
            self.stored(f"SELECT stage, activations FROM run_memory WHERE run_id = {best}"))
        times = {row["plan"]: row for row in page.csv("times.csv")}
        self.assertEqual(set(times), {*map(str, range(1, 11)), "megatron", "production", "one-site",
                                      "by flow"})
        exposed = dict(self.stored(f"SELECT class, exposed_s FROM run_class WHERE run_id = {best}"))
        self.assertEqual(float(times["1"]["dp_s"]), exposed["dp"])

    def test_where_it_comes_from(self):
        facts = dict(self.page(self.db).tables["provenance"][1:])
        ((version, commit, fingerprint),) = self.stored(
            "SELECT DISTINCT program_version, git_commit, fingerprint FROM run "
            "WHERE engine = 'analytical'")
        self.assertEqual((facts["version"], facts["commit"], facts["fingerprint of the model"]),
                         (version, commit, fingerprint))
        # The command does what it says: the very same search is found, and nothing runs.
        words_ = facts["command"]
        self.assertTrue(words_.startswith("./scaleacross explore STUDY --db small.db --set "), words_)
        again = self.folder / "again.db"
        shutil.copy(self.db, again)
        command = words_.replace("./scaleacross", str(scaleacross.find_program())).replace(
            "STUDY", str(STUDY)).replace("small.db", "again.db")
        subprocess.run(["bash", "-c", command], cwd=self.folder, check=True, capture_output=True)
        self.assertEqual(self.stored("SELECT count(*), sum(evaluations) FROM run", again),
                         self.stored("SELECT count(*), sum(evaluations) FROM run"))

    def test_numbers_of_the_command_have_all_digits(self):
        db = changed(self.db, self.folder / "digits.db", [
            "UPDATE search SET seed = 12345678, gap_asked = 0.0123456789, "
            "rest_gap_asked = 0"])
        facts = dict(self.page(db).tables["provenance"][1:])
        self.assertIn(" --seed 12345678 --gap 0.0123456789 --rest-gap 0", facts["command"])
        self.assertEqual(facts["seed"], "12345678")

    def test_the_same_bytes_again_and_nothing_beside_them(self):
        before = set(self.folder.iterdir())
        first, second = self.folder / "1.html", self.folder / "2.html"
        for out in (first, second):
            self.assertEqual(write(self.db, out)[0], 0)
        self.assertEqual(first.read_bytes(), second.read_bytes())
        self.assertLess(first.stat().st_size, 3e6)
        self.assertEqual(set(self.folder.iterdir()) - before, {first, second})

    def test_a_sweep(self):
        db = self.folder / "sweep.db"
        # The study as it is, 1:2, is found first, and is one of the points.
        scaleacross.explore(STUDY, db=db, set=ANALYTICAL)
        swept = scaleacross.explore(STUDY, db=db, set={**ANALYTICAL, "baselines": []},
                                    sweep={"cluster.cross.oversubscription": [1, 2, 16]})
        page = self.page(db)
        head, *rows = page.tables["sweep"]
        self.assertEqual(head, ["cluster.cross.oversubscription", "DP-out", "PP-out", "wins",
                                "margin", "sure", "best plan"])
        self.assertEqual([row[0] for row in rows], ["1", "2", "16"])
        for row, point in zip(page.csv("sweep.csv"), swept["values"]):
            for crossing, best in point["placements"].items():
                self.assertEqual(float(row[f"{crossing}_s"]), best["iteration_time_s"])
            self.assertAlmostEqual(float(row["margin"]), point["margin"], places=12)
        for row, point in zip(rows, swept["values"]):
            self.assertEqual(row[5], words.probability(point["probability"]))
        self.assertIn("Over cluster.cross.oversubscription the best placement changes from DP-out to "
                      "PP-out between 2 and 16 (not told apart on either side).", page.lines())
        self.assertEqual(page.tables["searches"][0][0], "search")
        self.assertTrue(self.page(db, "--search", "2").texts[""][2].endswith(
            " · cluster.cross.oversubscription=1"))
        self.assertEqual(page.texts[""][2], "64 GPUs in 2 buildings: building1 32, building2 32")

    def test_categories_keep_their_order(self):
        db = self.folder / "categories.db"
        values = ["h100", "b200", "a100-80g"]
        swept = scaleacross.explore(STUDY, db=db, set={**ANALYTICAL, "baselines": []},
                                    sweep={"cluster.buildings.gpu": values})
        page = self.last(db)
        self.assertEqual([row[0] for row in page.tables["sweep"][1:]], values)
        spec = json.loads(page.scripts[0])["sweep"]
        self.assertEqual(list(dict.fromkeys(row["name"] for row in spec["data"][0]["values"])), values)
        self.assertEqual({mark["type"] for mark in spec["marks"]}, {"text", "rect"})  # no line
        winners = {point["value"]: f"{point['winner'].upper()}-out" for point in swept["values"]}
        (line,) = [line for line in page.texts["sweep"]
                   if line.startswith("Over cluster.buildings.gpu: ")]
        for name in set(winners.values()):
            won = ", ".join(value for value in values if winners[value] == name)
            self.assertIn(f"{name} wins with {won}", line)
        self.assertNotIn("between", line)

    def test_categories_of_a_map_are_read_from_the_top(self):
        db = self.folder / "categories-map.db"
        values = ["h100", "b200", "a100-80g"]
        scaleacross.explore(STUDY, db=db, set={**ANALYTICAL, "baselines": []}, sweep={
            "cluster.buildings.gpu": values, "cluster.cross.distance": ["300km", "1km"]})
        page = self.last(db)
        self.assertEqual([row[:2] for row in page.tables["sweep"][1:]],
                         [[gpu, distance] for gpu in values for distance in ("1km", "300km")])
        scales = {scale["name"]: scale["domain"]
                  for scale in json.loads(page.scripts[0])["sweep"]["scales"]}
        self.assertEqual((scales["x"], scales["y"]), (["1km", "300km"], values[::-1]))

    def test_which_search_is_meant(self):
        """By the rule of the program's commands, in the same words."""
        db = self.folder / "meant.db"
        out = self.folder / "meant.html"
        scaleacross.explore(STUDY, db=db, set={**ANALYTICAL, "baselines": [],
                                               "cluster.cross.oversubscription": 16})
        self.assertIn("cluster.cross.oversubscription=16", " ".join(self.page(db).texts[""]))
        db.unlink()
        scaleacross.explore(STUDY, db=db, set={**ANALYTICAL, "baselines": []},
                            sweep={"cluster.cross.oversubscription": [1, 16]})

        def asked(problem, count):
            code, _, said = write(db, out)
            self.assertEqual(code, 2)
            self.assertIn(problem, said)
            told = subprocess.run([scaleacross.find_program(), "show", db], capture_output=True,
                                  text=True)
            self.assertEqual(told.returncode, 2)
            self.assertIn(problem, told.stderr)
            lines = [line for line in said.splitlines() if line.startswith("    --search")]
            self.assertEqual(len(lines), count)
            self.assertEqual(lines, [line for line in told.stderr.splitlines()
                                     if line.startswith("    --search")])

        asked("no search is stored here of a study as its file says it, without --set or --sweep", 2)
        # 2 is what the study says, so that this point is the study.
        scaleacross.explore(STUDY, db=db, set={**ANALYTICAL, "baselines": []},
                            sweep={"cluster.cross.oversubscription": [2, 4]})
        self.assertEqual(self.page(db).texts[""][2],
                         "64 GPUs in 2 buildings: building1 32, building2 32")
        other = self.folder / "other.yaml"
        other.write_text(STUDY.read_text().replace("study: small-two-buildings", "study: other"
                                                   ).replace("layers: 8", "layers: 4"))
        scaleacross.explore(other, db=db, set=ANALYTICAL)
        asked("2 searches are stored here of studies as their files say them", 5)
        # One study asked for several things.
        for options in ({"objective": "memory"}, {"keep": 5, "gap": "1%"}, {"exhaustive": True},
                        {"pareto": "time,memory"}, {"shard": "1/2"}):
            scaleacross.explore(other, db=db, set=ANALYTICAL, **options)
        asked("searches are stored here of studies as their files say them", 10)

    def test_several_studies_are_not_mixed(self):
        db = self.folder / "studies.db"
        alone = self.folder / "alone.db"
        for one in (db, alone):
            scaleacross.explore(STUDY, db=one, set={**ANALYTICAL, "baselines": []},
                                sweep={"cluster.cross.distance": ["1km", "300km"]})
        scaleacross.explore(STUDY, db=db, set={**ANALYTICAL, "baselines": [], "study": "another",
                                               "model.layers": 4},
                            sweep={"cluster.cross.distance": ["1km", "100km"]})
        page, own = self.page(db, "--search", "1"), self.page(alone, "--search", "1")
        self.assertEqual(page.texts[""][1], "small-two-buildings")
        for name in ("sweep.csv", "plans.csv", "times.csv", "links.csv"):
            self.assertEqual(page.csv(name), own.csv(name), name)
        self.assertIn("This page is of search 1 alone, of 4 of 2 studies in studies.db; --search N shows "
                      "another. They are listed at the end.", page.texts["answer"])
        self.assertEqual(len(page.tables["searches"]), 5)

    def test_a_sweep_beside_the_study_as_it_is(self):
        db = self.folder / "beside.db"
        scaleacross.explore(STUDY, db=db, set=ANALYTICAL)  # at 1:2
        scaleacross.explore(STUDY, db=db, set=ANALYTICAL, sweep={
            "cluster.cross.oversubscription": [4, 1]})
        page = self.page(db)
        self.assertEqual([row[0] for row in page.tables["sweep"][1:]], ["1", "4"])
        self.assertIn("is none of these points", " ".join(page.texts["sweep"]))
        # That of another study of this name is none of it.
        other = changed(db, self.folder / "edited.db", [
            "UPDATE scenario SET study = replace(study, '\"layers\":8', '\"layers\":6') WHERE id > 1"])
        self.assertNotIn("sweep", self.page(other).tables)

    def test_settings_are_those_that_were_given(self):
        """Values with commas and what looks like another setting stay what they are."""
        given = {"engines": "[analytical]", "search": "{plan: {tp: [2, 4], pp: [1]}}",
                 "study": "a, plan.tp=4", "cluster.cross.distance": "1km"}
        db = self.folder / "settings.db"
        subprocess.run([os.environ["SCALEACROSS_PROGRAM"], "explore", str(STUDY), "--db", str(db),
                        *(word for key, value in given.items()
                          for word in ("--set", f"{key}={value}"))], check=True,
                       capture_output=True)
        ((settings,),) = self.stored("SELECT settings FROM search", db)
        self.assertEqual(settings_of({"settings": settings}), given)
        self.assertEqual(settings_text({"settings": settings}),
                         ", ".join(f"{key}={value}" for key, value in given.items()))
        facts = dict(self.last(db).tables["provenance"][1:])
        self.assertEqual(shlex.split(facts["command"])[5:],
                         [word for key, value in given.items()
                          for word in ("--set", f"{key}={value}")])

    def test_uncertain_spans(self):
        db = self.folder / "robust.db"
        answer = scaleacross.explore(STUDY, db=db, robust=True, set={
            **ANALYTICAL, "uncertain.distance": {"values": ["1km", "300km"], "shares": [0.9, 0.1]}})
        page = self.page(db, "--search", "1")
        for line in answer["robust"]["explanation"]:
            self.assertIn(line, page.texts["robust"])
            self.assertIn(line, page.texts["answer"])
        best, nominal = (answer["robust"][key] for key in ("best", "nominal_best"))
        self.assertNotEqual(best["label"], nominal["label"])
        shown = " ".join(page.texts["answer"])
        self.assertIn(f"{words.seconds(best['quantile_s'])} per iteration or less, with a probability "
                      f"of 95 %; {words.seconds(best['nominal_s'])} as the study is.", shown)
        for plan in (best, nominal):
            self.assertIn(plan["label"], shown)
            for key in ("quantile_s", "mean_s", "slowest_s", "nominal_s"):
                self.assertIn(words.seconds(plan[key]), shown)
        self.assertIn("of the best plan of the study as it is", " ".join(page.texts["places"]))
        self.assertEqual([float(row["quantile_s"]) for row in page.csv("robust.csv")][:10],
                         [row["quantile_s"] for row in answer["robust"]["ranking"]])
        self.assertEqual([row[:2] for row in page.tables["cases"][1:]],
                         [["distance 1km", "90.0 %"], ["distance 300km", "10.0 %"]])

    def test_memory_of_every_building_is_its_own(self):
        """Of GPUs with 81,559 and 143,771 MiB 6,144 are kept back: under DP-out both buildings hold all
        stages, and what these may fill there is 75,415 and 137,627 MiB."""
        db = self.folder / "mixed.db"
        scaleacross.explore(STUDY, db=db, set={
            **ANALYTICAL, "baselines": [], "search": {}, "cluster.buildings": [
                {"name": name, "gpus": 32, "gpus_per_node": 8, "gpu": gpu, "fabric": {"spines": 1}}
                for name, gpu in (("building1", "h100"), ("building2", "h200"))]})
        page = self.last(db)
        rows = {row["building"]: row for row in page.csv("places.csv")}
        self.assertEqual({name: int(row["usable"]) for name, row in rows.items()},
                         {"building1": 79_078_359_040, "building2": 144_312_369_152})
        self.assertEqual({row["fits"] for row in rows.values()}, {"True"})
        fullest = {row["fullest"] for row in rows.values()}
        self.assertEqual(len(fullest), 1)  # the same plan on both

    def test_whether_plans_fit(self):
        page = self.page(self.db)
        head, *rows = page.tables["plans"]
        self.assertEqual({row[head.index("fits in 73.65 GiB")] for row in rows}, {"yes"})
        db = self.folder / "full.db"
        scaleacross.explore(STUDY, db=db, set={
            **ANALYTICAL, "baselines": [], "workload.memory_limit": False, "cluster.buildings.gpu": {
                "preset": "h100", "hbm_capacity": "8GiB"}})
        head, *rows = self.last(db).tables["plans"]
        ((usable,),) = self.stored("SELECT max(usable) FROM run_memory", db)
        for row, (most,) in zip(rows, self.stored(
                "SELECT memory_bytes_max FROM search_run JOIN run ON run.id = run_id "
                "WHERE rank <= 10 ORDER BY rank", db)):
            self.assertEqual(row[head.index(f"fits in {words.amount(usable)}")],
                             "yes" if most <= usable else "no")

    def test_the_study_that_it_offers_runs_to_its_time(self):
        page = self.page(self.db)
        path = self.folder / "offered.json"
        path.write_bytes(base64.b64decode(page.links["study.json"].split(",")[1]))
        ((best,),) = self.stored("SELECT iteration_time_s FROM search_run JOIN run ON run.id = run_id "
                                 "WHERE rank = 1")
        self.assertEqual(scaleacross.run(path)["iteration_time_s"], best)

    def test_buildings_and_spans_of_every_plan(self):
        page = self.page(self.db)
        rows = page.csv("stages.csv")
        self.assertEqual({row["plan"] for row in rows}, {str(n) for n in range(1, 11)})
        for n in range(1, 11):
            own = [row for row in rows if row["plan"] == str(n)]
            self.assertEqual([row["building"] for row in own], ["building1", "building2"])
            ((label, pp),) = self.stored("SELECT plan.crossing, pp FROM search_run JOIN run ON run.id "
                                         f"= run_id JOIN plan ON plan.id = plan_id WHERE rank = {n}")
            # Of 8 layers each building has all, or its half of the pipeline.
            self.assertEqual({row["layers"] for row in own}, {"4" if label == "pp" and pp > 1 else "8"})
        for row in page.csv("spans.csv"):
            for n in range(1, 11):
                ((busy,),) = self.stored(
                    "SELECT busy FROM run_resource JOIN search_run USING (run_id) "
                    f"WHERE rank = {n} AND name = '{row['span']}'")
                self.assertEqual(float(row[str(n)]), busy)

    def test_a_shard(self):
        db = self.folder / "shard.db"
        shard = scaleacross.explore(STUDY, db=db, shard="1/2", set={**ANALYTICAL, "baselines": []})
        self.assertEqual(list(shard.frame["label"])[:1], [shard["ranking"][0]["label"]])
        page = self.page(db)
        self.assertTrue(page.texts["answer"][0].startswith("The best of shard 1 of 2: "))
        said = " ".join(page.lines())
        for contradiction in ("optimal", "not finished", "not concluded", "So far", "Let "):
            self.assertNotIn(contradiction, said, contradiction)
        self.assertIn("./scaleacross merge puts all 2 together", said)

    def test_how_far_an_unfinished_search_is(self):
        db = changed(self.db, self.folder / "begun.db", [
            "UPDATE search SET finished = 0, explanation = NULL, gap = NULL, evaluated = 0, "
            "next_plan = 18, proven_after = NULL"], ["DELETE FROM search_run"], ["DELETE FROM baseline"], [
                "UPDATE search_count SET count = 2 WHERE reason <> 'crossing'"])
        ((decided,),) = self.stored("SELECT sum(count) FROM search_count", db)
        ((refused,),) = self.stored("SELECT count FROM search_count WHERE reason = 'crossing'", db)
        page = self.page(db)
        self.assertEqual(page.texts["answer"][0], "Nothing has run yet.")
        said = page.texts["answer"][1]
        self.assertTrue(said.startswith(f"Not finished; of 36 combinations the database has {decided} decided"), said)
        self.assertIn(f"{refused} cannot run ({refused} crossing)", said)
        self.assertIn("The same command goes on from here: ./scaleacross explore STUDY --db begun.db",
                      said)

    def test_runs_out_of_time_are_no_plans_that_cannot_run(self):
        db = self.folder / "timeouts.db"
        with self.assertRaises(scaleacross.ProgramError):
            scaleacross.explore(STUDY, db=db, time_limit="1ms", set={
                "engines": ["packet"], "baselines": [], "workload.global_batch": 1024})
        page = self.last(db)
        self.assertEqual(page.texts["answer"][0], "No plan has a result.")
        self.assertIn("timeout", page.texts["answer"][1])
        self.assertNotIn("can run.", " ".join(page.texts["answer"]))

    def test_a_sweep_without_a_plan(self):
        db = self.folder / "none-swept.db"
        for value in (2, 16):
            with self.assertRaises(scaleacross.ProgramError):
                scaleacross.explore(STUDY, db=db, set={
                    **ANALYTICAL, "search.plan.tp": [64], "baselines": [],
                    "cluster.cross.oversubscription": value})
        page = self.last(db)
        self.assertEqual([row[:2] for row in page.tables["sweep"][1:]], [["2", "none"], ["16", "none"]])
        self.assertNotIn("sweep", json.loads(page.scripts[0]))
        self.assertNotIn("", page.texts["sweep"])

    def test_a_sweep_by_memory(self):
        db = self.folder / "memory-swept.db"
        for value in (2, 16):
            scaleacross.explore(STUDY, db=db, objective="memory", set={
                **ANALYTICAL, "baselines": [], "cluster.cross.oversubscription": value})
        page = self.page(db)
        self.assertNotIn("sweep", json.loads(page.scripts[0]))
        for row in page.csv("sweep.csv"):
            best = self.stored("SELECT crossing, memory_bytes_max FROM search_run JOIN run ON "
                               "run.id = run_id JOIN plan ON plan.id = plan_id WHERE "
                               f"best_of_crossing AND search_id = {row['search']} ORDER BY rank", db)
            self.assertEqual(row["wins"], f"{best[0][0].upper()}-out")
            self.assertEqual({name: int(float(row[f"{name}_bytes"])) for name, _ in best}, dict(best))

    def test_searches_of_another_kind_are_no_sweep(self):
        db = self.folder / "kinds.db"
        scaleacross.explore(STUDY, db=db, set={**ANALYTICAL, "baselines": []},
                            sweep={"cluster.cross.oversubscription": [1, 16]})
        self.assertIn("sweep", self.last(db).tables)
        for column in ("fingerprint", "correction", "seed", "space"):
            other = changed(db, self.folder / f"{column}.db", [
                f"UPDATE search SET {column} = '7' WHERE id = 1"], ["DELETE FROM sweep_point"])
            self.assertNotIn("sweep", self.last(other).tables, column)

    def test_a_map(self):
        db = self.folder / "map.db"
        scaleacross.explore(STUDY, db=db, set={**ANALYTICAL, "baselines": []},
                            sweep={"cluster.cross.distance": ["300m", "1km", "300km"],
                                   "cluster.cross.oversubscription": [1, 16]})
        page = self.last(db)
        self.assertEqual([row[:2] for row in page.tables["sweep"][1:]],
                         [[down, right] for down in ("300m", "1km", "300km")
                          for right in ("1", "16")])
        cells = json.loads(page.scripts[0])["sweep"]["data"][0]["values"]
        self.assertEqual(len(cells), 6)

    def test_a_front(self):
        db = self.folder / "front.db"
        scaleacross.explore(STUDY, db=db, pareto="time,memory", set={
            **ANALYTICAL, "baselines": []})
        front = self.stored("SELECT rank FROM search_run WHERE pareto AND rank <= 10 ORDER BY rank",
                            db)
        self.assertGreater(len(front), 1)
        head, *rows = self.page(db).tables["plans"]
        self.assertEqual([(int(row[0]),) for row in rows
                          if row[head.index("on the front")] == "yes"], front)
        page = self.page(db)
        whole = self.stored("SELECT search_run.label, iteration_time_s, memory_bytes_max FROM "
                            "search_run JOIN run ON run.id = run_id WHERE pareto "
                            "ORDER BY iteration_time_s", db)
        self.assertEqual([(row["label"], float(row["time"]), float(row["memory"]))
                          for row in page.csv("front.csv")], whole)
        self.assertEqual(len(json.loads(page.scripts[0])["front"]["data"][0]["values"]), len(whole))

    def test_the_best_is_that_of_the_objective(self):
        db = self.folder / "memory.db"
        scaleacross.explore(STUDY, db=db, objective="memory", set={**ANALYTICAL, "baselines": []})
        ((run, label, crossing),) = self.stored(
            "SELECT run_id, search_run.label, plan.crossing FROM search_run JOIN run ON run.id = run_id "
            "JOIN plan ON plan.id = plan_id WHERE rank = 1", db)
        page = self.page(db)
        self.assertEqual(page.texts["answer"][1], label)
        self.assertRegex(page.texts["answer"][0], f"\\({crossing.upper()}-out\\): \\d[^:]*per iteration")
        self.assertEqual([int(row["activations"]) for row in page.csv("memory.csv")],
                         [row[0] for row in self.stored(
                             f"SELECT activations FROM run_memory WHERE run_id = {run}", db)])
        self.assertEqual([int(row["bytes"]) for row in page.csv("links.csv")],
                         [row[0] for row in self.stored("SELECT bytes FROM run_resource WHERE "
                                                        f"run_id = {run} ORDER BY position", db)])

    def test_a_single_run(self):
        db = self.folder / "run.db"
        run = scaleacross.run(STUDY, db=db)
        page = self.page(db)
        self.assertEqual(page.texts["answer"][0], f"{words.seconds(run['iteration_time_s'])} per "
                         f"iteration, MFU {100 * run['mfu']:.1f} %, by the analytical engine.")
        self.assertEqual(page.tables["runs"][1][0], run["plan"]["label"])

    def test_runs_that_train_no_model_have_no_mfu(self):
        runs = self.folder / "runs.db"
        scaleacross.run(STUDY, db=runs)
        page = self.page(changed(runs, self.folder / "traces.db",
                                 ["UPDATE run SET mfu = NULL, memory_bytes_max = NULL"]))
        self.assertIn(" per iteration, by the analytical engine.", " ".join(page.texts["answer"]))
        self.assertNotIn("MFU", " ".join(page.texts["answer"]))

    def test_runs_of_several_scenarios_are_apart(self):
        db = self.folder / "several.db"
        scaleacross.run(STUDY, db=db, set={"cluster.cross.distance": "1km"})  # faster
        own = scaleacross.run(STUDY, db=db)
        page = self.page(db)
        self.assertEqual(page.texts["answer"][0], f"{words.seconds(own['iteration_time_s'])} per "
                         f"iteration, MFU {100 * own['mfu']:.1f} %, by the analytical engine.")
        self.assertEqual((len(page.tables["runs"]), len(page.tables["others-1"])), (2, 2))
        self.assertIn("1 km", " ".join(page.texts["others-1"]))
        self.assertIn("has runs of 2 scenarios", " ".join(page.texts["answer"]))

    def test_a_run_that_failed(self):
        db = self.folder / "failed.db"
        with self.assertRaises(scaleacross.ProgramError):
            scaleacross.run(STUDY, db=db, set={"plan.pp": 16})
        ((detail,),) = self.stored("SELECT detail FROM run", db)
        page = self.page(db)
        self.assertEqual(page.texts["answer"][0], f"No run has a result: {detail}")

    def test_a_search_without_a_plan(self):
        db = self.folder / "none.db"
        with self.assertRaises(scaleacross.ProgramError):
            scaleacross.explore(STUDY, db=db, set={**ANALYTICAL, "search.plan.tp": [64],
                                                   "baselines": []})
        page = self.last(db)
        self.assertEqual(page.texts["answer"][:2], ["No plan can run.",
                                                    "No plan of this space can run."])
        self.assertEqual({row[1] for row in page.tables["not-ranked"][1:]} - {"duplicate"},
                         {"degrees", "building", "crossing"})

    def test_an_unfinished_search_says_so(self):
        db = changed(self.db, self.folder / "open.db", [
            "UPDATE search SET finished = 0, explanation = NULL, gap = NULL"], [
            "UPDATE search_run SET rank = NULL"])
        page = self.page(db)
        self.assertTrue(page.texts["answer"][0].startswith("So far: "), page.texts["answer"])
        self.assertIn("not finished", " ".join(page.texts["answer"]))

    def test_a_search_whose_time_was_up_says_what_it_knows(self):
        """Of one that was stopped before its first block of plans was done: the runs are there."""
        db = changed(self.db, self.folder / "late.db", [
            "UPDATE search SET finished = 0, next_plan = 0, evaluated = 0, bound_s = NULL, "
            "ruled_out_least = NULL, proven_after = NULL, explanation = NULL, gap = NULL"],
            ["DELETE FROM search_count"], ["UPDATE search_run SET rank = NULL"])
        answer = scaleacross.explore(STUDY, db=db, stop_after="1us")
        self.assertTrue(answer["out_of_time"])
        page = self.page(db)
        said = dict(zip(answer["topics"], answer["explanation"]))
        self.assertIn("plan so far (", said["placement"])
        self.assertIn(said["placement"], page.texts["answer"])
        progress = (f"Time is up: so far, {answer['looked_at']} of {answer['combinations']} combinations "
                    f"are decided: {answer['space']} distinct plans: {answer['ran']} run")
        self.assertTrue(any(line.startswith(progress) and "The same command goes on from here" in line
                            for line in page.texts["answer"]), page.texts["answer"])
        for line in [said["proof"], *(f"{warning}." for warning in answer["warnings"]),
                     *answer["checked"]]:
            self.assertIn(line, page.texts["caveats"])
        for line, topic in zip(answer["explanation"], answer["topics"]):
            if topic == "baselines":
                self.assertIn(line, page.texts["baselines"])
        told = " ".join(page.texts["answer"])
        self.assertIn("sure that this plan is the fastest of all that are kept", told)
        self.assertNotIn("sure that the placement", told)
        self.assertIn("the best so far; the same ./scaleacross explore goes on", told)

    def test_words_of_others_are_no_markup(self):
        db = changed(self.db, self.folder / "markup.db",
                     ["UPDATE search SET study = ?, settings = json_object('cluster.name', ?)",
                      (MARKUP, MARKUP)],
                     ["UPDATE search_run SET label = ?", (MARKUP,)],
                     ["UPDATE plan SET label = ?", (MARKUP,)],
                     ["UPDATE baseline SET label = ?", (MARKUP,)],
                     ["UPDATE search_count SET example = ?", (MARKUP,)],
                     ["UPDATE run_resource SET name = ?", (MARKUP,)],
                     ["UPDATE search SET explanation = 'Placement: ' || ?", (MARKUP,)])
        page = self.last(db)
        self.assertEqual(len(page.scripts), 3)
        self.assertEqual(page.texts[""][:2], ["ScaleAcross report", MARKUP])
        self.assertIn("Placement: " + MARKUP, page.lines())
        self.assertEqual(page.tables["plans"][1][1], MARKUP)
        self.assertEqual(json.loads(page.scripts[0])["times"]["data"][1]["values"][0]["note"], MARKUP)

    def test_wrong_input_writes_nothing(self):
        out = self.folder / "kept.html"
        out.write_text("before")
        empty = self.folder / "empty.db"
        empty.touch()
        runs = self.folder / "no-rows.db"
        scaleacross.run(STUDY, db=runs)
        nothing = changed(runs, self.folder / "nothing.db", ["DELETE FROM run"])
        before = set(self.folder.iterdir())
        for words_, says in (
                ([self.folder / "missing.db", out], "missing.db: no such file"),
                ([STUDY, out], "study.yaml: cannot be read as a database"),
                ([empty, out], "empty.db: an SQLite database, but not one of ScaleAcross"),
                ([nothing, out], "neither a search nor a run; ./scaleacross explore STUDY --db"),
                ([self.db, out, "--search", "9"],
                 r"--search 9: the database has no such search; it holds:\s+--search 1: small-two-buildings"),
                ([runs, out, "--search", "1"], "--search 1: the database holds no search"),
                ([self.db, out, "--search", "x"], "'x' is no whole number from 1 on"),
                ([self.db, out, "--top", "0"], "'0' is no whole number from 1 on"),
                ([self.db, out, "--top", "1001"], "--top 1001: allowed are 1 to 1000"),
                ([self.db, self.folder / "x.txt"], "x.txt: the name has to end in .html or .htm"),
                ([self.db, self.folder / "no" / "x.html"], "x.html: cannot be written: No such file")):
            code, printed, said = write(*words_)
            self.assertEqual((code, printed), (2, ""), words_)
            self.assertRegex(said, says)
            self.assertNotIn("Traceback", said)
        self.assertEqual(out.read_text(), "before")
        self.assertEqual(set(self.folder.iterdir()), before)

    def test_the_database_is_not_replaced(self):
        db = self.folder / "named.html"
        shutil.copy(self.db, db)
        link = self.folder / "link.html"
        link.symlink_to(db)
        for out in (db, link):
            code, printed, said = write(db, out)
            self.assertEqual((code, printed), (2, ""))
            self.assertRegex(said, f"-o .*{out.name}: is the database itself, .*another name")
        self.assertEqual(db.read_bytes(), self.db.read_bytes())

    def test_without_the_program(self):
        with unittest.mock.patch.dict(os.environ, {"SCALEACROSS_PROGRAM": "/no/such"}):
            code, _, said = write(self.db, self.folder / "x.html")
        self.assertEqual(code, 2)
        self.assertRegex(said, "error: SCALEACROSS_PROGRAM=/no/such: no program")

    def test_without_jinja2(self):
        hidden = ("import sys; sys.modules['jinja2'] = None; from scaleacross.report import __main__;"
                  f"sys.exit(__main__.main([{str(self.db)!r}, '-o', 'x.html']))")
        ended = subprocess.run([sys.executable, "-c", hidden], capture_output=True, text=True,
                               cwd=self.folder, check=False,
                               env={**os.environ, "PYTHONPATH": str(TOP / "python")})
        self.assertEqual(ended.returncode, 2, ended.stderr)
        self.assertRegex(ended.stderr, "^scaleacross report: error: .*jinja2.*sudo apt-get install "
                         "python3-jinja2, then /usr/bin/python3")
        self.assertEqual(ended.stderr.count("\n"), 1)

    def test_a_full_disk_keeps_what_was_there(self):
        out = self.folder / "full.html"
        out.write_text("before")
        with unittest.mock.patch("os.fsync", side_effect=OSError(28, "No space left on device")):
            code, _, said = write(self.db, out)
        self.assertEqual(code, 2)
        self.assertIn("full.html: cannot be written: No space left on device", said)
        self.assertEqual(out.read_text(), "before")
        self.assertFalse(list(self.folder.glob(".full*")))


class Words(unittest.TestCase):
    def test_figures(self):
        for value, text in ((5.7382691302349995, "5.738 s"), (0.017096, "17.1 ms"),
                            (9.48e-4, "948 us"), (1e-12, "1 ps"), (0.99999, "1 s"), (0, "0 s"),
                            (-0.0025, "-2.5 ms"), (12345.6, "12346 s")):
            self.assertEqual(words.seconds(value), text)
        for value, text in ((0, "0 B"), (76525697984, "71.27 GiB"), (1 << 30, "1 GiB"),
                            (508.5 * 2**20, "508.5 MiB")):
            self.assertEqual(words.amount(value), text)
        self.assertEqual([words.significant(value) for value in (1.234e-5, -2e-7, 1234.5, 0.0)],
                         ["0.00001234", "-0.0000002", "1234", "0"])
        self.assertEqual([words.share(part) for part in (0.0506, 0.306, 0.1, 0.09996)],
                         ["5.06 %", "30.6 %", "10.0 %", "10.0 %"])
        self.assertEqual([words.probability(part) for part in (0.004, 0.0051, 0.5, 0.999)],
                         ["under 1 %", "1 %", "50 %", "over 99 %"])

    def test_values_of_a_setting_lie_on_a_line_or_are_categories(self):
        for values, numbers in ((["1km", "300m", "20000 km"], [1, 0.3, 20000]),
                                (["1e-5", "0", "2%"], None), (["1e-5", "0", "2.8"], [1e-5, 0, 2.8]),
                                (["1Tbps", "800Gbps"], [1e12, 8e11]), (["40ms", "1s"], [0.04, 1]),
                                (["h100", "b200"], None), (["1", "auto"], None), (["1km", "1s"], None)):
            self.assertEqual(numbers_of(values), numbers, values)


if __name__ == "__main__":
    unittest.main()
