#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The package scaleacross: what it asks of the program, and what it gives of a database."""

import contextlib
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import tomllib
import unittest
from unittest import mock

TOP = pathlib.Path(__file__).resolve().parents[2]
STUDY = TOP / "examples" / "small-two-buildings" / "study.yaml"

sys.path.insert(0, str(TOP / "python"))
import scaleacross  # noqa: E402
from scaleacross import program  # noqa: E402

# Two layers on two servers of 8 GPUs: 2 x 8 = tp 8 x dp 2.
TINY = {
    "study": "tiny", "model": {"name": "tiny", "layers": 2, "hidden": 1024, "heads": 16,
                               "head_dim": 64, "dense_ffn": 4096, "vocabulary": 8192},
    "workload": {"sequence": 1024, "global_batch": 16},
    "cluster": {"buildings": {"count": 2, "gpus": 8, "gpu": "h100"},
                "cross": {"distance": "10km", "capacity": "800Gbps"}},
    "plan": {"tp": 8, "sharding": "ddp"},
    "search": {"plan": {"tp": [4, 8]}}, "baselines": [], "engines": ["analytical"],
}


class InAFolder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        # Whatever is left behind would be here.
        self.scratch = self.folder / "tmp"
        self.scratch.mkdir()
        for patch in (mock.patch.object(tempfile, "tempdir", str(self.scratch)),
                      mock.patch.dict(os.environ, {"TMPDIR": str(self.scratch)})):
            patch.start()
            self.addCleanup(patch.stop)
        before = os.getcwd()
        os.chdir(self.folder)
        self.addCleanup(os.chdir, before)

    def left(self):
        return sorted(str(path.relative_to(self.folder)) for path in self.folder.rglob("*")
                      if path != self.scratch)


class Asking(InAFolder):
    def test_run_of_a_dict_and_of_a_file_leave_nothing(self):
        one = scaleacross.run(TINY)
        self.assertEqual(one["plan"]["dp"], 2)
        self.assertEqual(one["engine"], "analytical")
        self.assertEqual(one.frame.loc[0, "iteration_time_s"], one["iteration_time_s"])
        other = scaleacross.run(STUDY, engine="flow", set={"plan.tp": 2, "plan.crossing": "pp"})
        self.assertEqual((other["plan"]["tp"], other["engine"]), (2, "flow"))
        self.assertEqual(self.left(), [])

    def test_explore_keeps_a_database_where_one_is_named(self):
        answer = scaleacross.explore(TINY, db="kept.db", keep=1)
        self.assertEqual(self.left(), ["kept.db"])
        self.assertEqual(list(answer.frame["iteration_time_s"]), [answer["best"]["iteration_time_s"]])
        plans = scaleacross.read("kept.db").plans
        self.assertEqual(list(plans["iteration_time_s"]), [answer["best"]["iteration_time_s"]])
        self.assertEqual(self.left(), ["kept.db"])

    def test_sweep_is_a_row_per_value(self):
        swept = scaleacross.explore(TINY, sweep={"cluster.cross.distance": ["1km", "100km"]})
        self.assertEqual(list(swept.frame["value"]), ["1km", "100km"])

    def test_compare_has_a_row_per_case(self):
        rows = scaleacross.compare(TINY, engines=["analytical", "flow"]).frame
        self.assertEqual(len(rows), 4, rows)
        self.assertEqual(self.left(), [])

    def test_errors_are_the_programs_own(self):
        with self.assertRaisesRegex(scaleacross.ProgramError,
                                    "(?s)plan.'px': the key is not known.*allowed: tp, cp") as caught:
            scaleacross.run(TINY, set={"plan.px": 1})
        self.assertEqual((caught.exception.code, caught.exception.result), (2, None))
        with self.assertRaisesRegex(scaleacross.ProgramError, "building .* has 8 GPUs, no multiple of ") as caught:
            scaleacross.run({**TINY, "plan": {"tp": 16}})
        self.assertEqual(caught.exception.code, 1)
        self.assertIn("infeasible", caught.exception.result)
        with self.assertRaisesRegex(scaleacross.ProgramError, "none.yaml"):
            scaleacross.run("none.yaml")
        self.assertEqual(self.left(), [])

    def test_options_are_words(self):
        self.assertEqual(program.words_of({
            "set": {"plan.tp": 4, "plan.async_tp": True, "engines": ["flow", "packet"],
                    "plan.crossing": "pp"},
            "sweep": {"cluster.cross.loss": [0, 1e-5]}, "keep": 5, "retry_failed": True,
            "exhaustive": False, "seed": None, "engines": ["flow", "packet"],
            "db": pathlib.Path("a b.db")}),
            ["--set", "plan.tp=4", "--set", "plan.async_tp=true", "--set",
             'engines=["flow", "packet"]', "--set", "plan.crossing=pp", "--sweep",
             "cluster.cross.loss=0,1e-05", "--keep", "5", "--retry-failed", "--engines", "flow",
             "--engines", "packet", "--db", "a b.db"])


    def test_values_of_numpy_and_pandas(self):
        numpy = __import__("numpy")
        pandas = __import__("pandas")
        study = {**TINY, "workload": {"sequence": numpy.int64(1024), "global_batch": numpy.int32(16)},
                 "search": {"plan": {"tp": numpy.array([4, 8]), "pp": pandas.Series([1, 2]),
                                     "crossing": ("dp", "pp")}},
                 "plan": {"sharding": "ddp", "async_tp": numpy.bool_(True)}}
        plain = {**study, "workload": TINY["workload"], "plan": {"sharding": "ddp", "async_tp": True},
                 "search": {"plan": {"tp": [4, 8], "pp": [1, 2], "crossing": ["dp", "pp"]}}}
        self.assertEqual(list(scaleacross.explore(study).frame["label"]),
                         list(scaleacross.explore(plain).frame["label"]))
        self.assertEqual(program.words_of({
            "set": {"plan.tp": numpy.int64(4)}, "keep": numpy.int64(5),
            "sweep": {"cluster.cross.loss": numpy.array([0.0, 0.5])}}),
            ["--set", "plan.tp=4", "--keep", "5", "--sweep", "cluster.cross.loss=0.0,0.5"])

    def test_what_no_study_has_says_where_it_stands(self):
        for study, says in (
                ({**TINY, "search": {"plan": {"tp": {4, 8}}}},
                 r"study\['search'\]\['plan'\]\['tp'\] is a set, which has no order; give a list"),
                ({**TINY, "seed": object()}, r"study\['seed'\] is of type object"),
                ({**TINY, 1: 2}, "study has the key 1; keys of a study are texts"),
                ({**TINY, "x": [1, float("nan")]}, r"study\['x'\]\[1\] is nan; .* finite")):
            with self.assertRaisesRegex(scaleacross.InputError, says):
                scaleacross.run(study)
        with self.assertRaisesRegex(scaleacross.InputError, "set.'plan.tp'. is a set"):
            scaleacross.run(TINY, set={"plan.tp": {4}})
        with self.assertRaisesRegex(scaleacross.InputError, "a value of a sweep has no comma"):
            scaleacross.explore(TINY, sweep={"study": ["a,b", "c"]})
        self.assertEqual(self.left(), [])

    def test_texts_are_texts_whatever_their_characters(self):
        for n, name in enumerate(("a: b", "# c", "{d}", "[e]", "'f", '"g"', "h # i", "*j", "&k", "!l",
                                  "|", "- m", "%n", "@o", "null", "~", " p ", "é \U0001f600",
                                  "s:", "back\\slash", "\x85", "---")):
            with self.subTest(name=name):
                scaleacross.explore(TINY, db=f"{n}.db", set={"study": name}, keep=1)
                scaleacross.explore({**TINY, "study": name}, db=f"{n}-file.db", keep=1)
                for db in (f"{n}.db", f"{n}-file.db"):
                    self.assertEqual(list(scaleacross.read(db).searches["study"]), [name])

    def test_compare_takes_engines_by_either_name(self):
        for more in ("analytical", ["analytical"], ["analytical", "flow:sampled"]):
            rows = scaleacross.compare(TINY, engine=more, engines=["flow"], top=1)
            names = [more] if isinstance(more, str) else more
            self.assertEqual(sorted(set(rows.frame["engine"]) if "engine" in rows.frame else
                                    {name for row in rows["rows"] for name in row["engines"]}),
                             sorted([*names, "flow"]))

    def test_no_json_is_an_error_of_the_program(self):
        silent = self.folder / "silent"
        silent.write_text("#!/bin/sh\necho hello\n")
        silent.chmod(0o755)
        with mock.patch.dict(os.environ, {"SCALEACROSS_PROGRAM": str(silent)}):
            with self.assertRaisesRegex(scaleacross.ProgramError, "run has printed no JSON: hello"):
                scaleacross.run(TINY)

    def test_a_shard_has_its_plans(self):
        shard = scaleacross.explore(TINY, shard="1/1", db="x.db")
        whole = scaleacross.explore(TINY)
        self.assertEqual(list(shard.frame["label"]), list(whole.frame["label"]))
        self.assertEqual(list(shard.frame["iteration_time_s"]), list(whole.frame["iteration_time_s"]))

    def test_collectives_are_a_row_per_size(self):
        rows = scaleacross.collective(TINY, op="all_reduce", b="1M", e="4M", f=2).frame
        self.assertEqual(list(rows["bytes"]), [1 << 20, 1 << 21, 1 << 22])
        of_machine = scaleacross.collective(machine="dgx-h100", nodes=2, b="1M", e="1M")
        self.assertEqual(len(of_machine.frame), 1)
        self.assertEqual(self.left(), [])
        scaleacross.collective(TINY, b="1M", e="1M", db="kept.db")
        self.assertEqual(self.left(), ["kept.db"])

    def test_a_kept_plan_runs_again(self):
        answer = scaleacross.explore(TINY, db="x.db")
        again = scaleacross.run(from_="x.db", rank=2)
        self.assertEqual(again["plan"]["label"], answer.frame["label"][1])
        self.assertEqual(again["iteration_time_s"], answer.frame["iteration_time_s"][1])
        with self.assertRaisesRegex(scaleacross.ProgramError, "-x.yaml.*no such file"):
            scaleacross.run("-x.yaml")

    def test_export_is_the_table_of_a_search(self):
        answer = scaleacross.explore(TINY, db="x.db")
        table = scaleacross.export("x.db")
        self.assertEqual(list(table["label"]), list(answer.frame["label"]))
        self.assertEqual(list(scaleacross.export("x.db", search=1)["rank"]), list(table["rank"]))
        with self.assertRaisesRegex(scaleacross.ProgramError, "no such search"):
            scaleacross.export("x.db", search=7)

    def test_write_report_is_the_page(self):
        scaleacross.explore(TINY, db="x.db")
        self.assertEqual(scaleacross.write_report("x.db", "page.html"), pathlib.Path("page.html"))
        self.assertTrue(pathlib.Path("page.html").read_text().startswith("<!DOCTYPE html>"))
        with self.assertRaisesRegex(scaleacross.InputError, "is the database itself"):
            scaleacross.write_report("x.db", "x.db")
        os.mkfifo("pipe.html")
        with self.assertRaisesRegex(scaleacross.InputError, "no regular file"):
            scaleacross.write_report("x.db", "pipe.html")
        self.assertEqual(self.left(), ["page.html", "pipe.html", "x.db"])


class Finding(InAFolder):
    def put(self, path):
        path.parent.mkdir(parents=True)
        path.write_text("#!/bin/sh\necho '{}'\n")
        path.chmod(0o755)
        return path

    def test_named_then_of_the_checkout_then_on_path(self):
        named, on_path = self.put(self.folder / "a/mine"), self.put(self.folder / "b/scaleacross")
        with mock.patch.dict(os.environ, {"SCALEACROSS_PROGRAM": str(named), "PATH": str(
                on_path.parent)}), mock.patch.object(program, "TOP", self.folder / "c"):
            self.assertEqual(program.find_program(), named)
            os.environ.pop("SCALEACROSS_PROGRAM")
            os.environ.pop("SCALEACROSS_PRESET", None)
            self.assertEqual(program.find_program(), on_path)
            built = self.put(self.folder / "c/build/release/bin/scaleacross")
            self.assertEqual(program.find_program(), built)

    def test_none_says_where_it_was_looked_for(self):
        with mock.patch.dict(os.environ, {"PATH": "", "SCALEACROSS_PROGRAM": ""}), \
                mock.patch.object(program, "TOP", self.folder):
            with self.assertRaisesRegex(scaleacross.ProgramError, "./scaleacross build makes it"):
                scaleacross.run(TINY)
            os.environ["SCALEACROSS_PROGRAM"] = "/no/such"
            with self.assertRaisesRegex(scaleacross.ProgramError, "SCALEACROSS_PROGRAM=/no/such"):
                scaleacross.run(TINY)


class Reading(InAFolder):
    def test_frames_are_the_tables(self):
        scaleacross.explore(TINY, db="x.db", sweep={"cluster.cross.distance": ["1km", "100km"]})
        scaleacross.run(TINY, db="x.db", engine="flow")
        frames = scaleacross.read("x.db")
        with contextlib.closing(sqlite3.connect("x.db")) as connection:
            def rows(query):
                return connection.execute(query).fetchall()
            self.assertEqual(list(frames.runs["run_id"]), [row[0] for row in rows(
                "SELECT id FROM run ORDER BY id")])
            for frame, table in ((frames.classes, "run_class"), (frames.memory, "run_memory"),
                                 (frames.links, "run_resource")):
                self.assertEqual([tuple(row) for row in frame.itertuples(index=False)], rows(
                    f"SELECT * FROM {table} ORDER BY 1, 2"), table)
            self.assertEqual(list(frames.plans["iteration_time_s"]), [row[0] for row in rows(
                "SELECT iteration_time_s FROM search_run JOIN run ON run.id = run_id "
                "ORDER BY search_id, 1")])
        self.assertEqual(list(frames.searches["id"]), [1, 2])
        self.assertEqual(set(frames.plans["search_id"]), {1, 2})
        self.assertEqual(self.left(), ["x.db"])

    def test_without_a_search(self):
        scaleacross.run(TINY, db="x.db")
        frames = scaleacross.read("x.db")
        self.assertEqual((len(frames.searches), len(frames.plans), len(frames.runs)), (0, 0, 1))
        self.assertIn("schedule", frames.plans)

    def test_another_schema_is_refused(self):
        scaleacross.run(TINY, db="x.db")
        with contextlib.closing(sqlite3.connect("x.db")) as connection:
            connection.execute("PRAGMA user_version = 99")
        with self.assertRaisesRegex(scaleacross.InputError, "schema version 99"):
            scaleacross.read("x.db")
        with self.assertRaisesRegex(scaleacross.InputError, "none.db: no such file"):
            scaleacross.read("none.db")


class Package(unittest.TestCase):
    def test_has_the_version_of_the_program(self):
        project = tomllib.loads((TOP / "python" / "pyproject.toml").read_text())["project"]
        self.assertEqual(project["version"], (TOP / "VERSION").read_text().strip())

    def test_importing_it_needs_pandas_alone(self):
        hidden = "import sys; sys.modules['jinja2'] = None; import scaleacross, scaleacross.report"
        subprocess.run([sys.executable, "-c", hidden], check=True,
                       env={**os.environ, "PYTHONPATH": str(TOP / "python")})


if __name__ == "__main__":
    unittest.main()
