#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The way of an infrastructure engineer: two models from their config.json, three unequal sites.

Nothing here is a figure of the program's: what is held is order, sums, products of what the studies
say, and that all places that show a figure show the same one."""

import base64
import contextlib
import csv
import html
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent / "sites"
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
sys.path.insert(0, str(HERE))
import ask  # noqa: E402
import scaleacross  # noqa: E402

GPUS = {"north": 384, "east": 256, "west": 128}
PART = 1e-9  # of seconds that are sums of others


class Sites:
    """Of one model; `sequence` and `batch` are the study's."""

    model, sequence, batch = "", 8192, 768

    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.study = HERE / f"{cls.model}.yaml"
        cls.found = ask.ask(cls.study, cls.folder)
        cls.answer, cls.best = cls.found["answer"], cls.found["answer"]["best"]
        (config,) = HERE.glob(f"{cls.model}-*.json")
        cls.config = json.loads(config.read_text())

    def shown(self):
        """The first search, that of the study as it is, as the database has it."""
        done = subprocess.run([PROGRAM, "show", self.folder / "answer.db", "--search", "1", "--json"],
                              capture_output=True, text=True, check=True)
        (search,) = json.loads(done.stdout)["searches"]
        return search

    def exported(self):
        with (self.folder / "plans.csv").open(newline="") as file:
            return list(csv.DictReader(file))

    # ---- the answer ----

    def test_the_best_is_the_first_of_a_ranking(self):
        times = [plan["iteration_time_s"] for plan in self.answer["ranking"]]
        self.assertEqual(times, sorted(times))
        self.assertEqual(times[0], self.best["iteration_time_s"])
        self.assertTrue(self.answer["optimal"])
        self.assertLessEqual(self.answer["bound_s"], times[0] * (1 + PART))
        self.assertEqual(self.answer["space"], self.answer["ran"] + self.answer["pruned"] +
                         sum(self.answer["rejected"].values()) + sum(self.answer["failed"].values()))

    def test_a_plan_takes_all_gpus_and_lies_in_its_buildings(self):
        plan = self.best["plan"]
        self.assertEqual(plan["tp"] * plan["cp"] * plan["pp"] * plan["dp"], sum(GPUS.values()))
        stages = self.best["stages"]
        self.assertEqual(sum(stages["layers"]), self.config["num_hidden_layers"])
        for usage in self.best["memory"]:
            used = sum(size for name, size in usage.items() if name != "usable")
            self.assertLessEqual(used, usage["usable"])

    def test_a_pipeline_sends_what_arithmetic_says(self):
        # Over two boundaries between sites an activation of 16 bits goes forward and a gradient of
        # 16 bits back, for every token. Else only the norm of the gradients is summed up, a number.
        across = 2 * 2 * 2 * self.sequence * self.batch * self.config["hidden_size"]
        seen = 0
        for row in self.exported():
            if row["crossing"] == "pp":
                more = int(row["cross_building_bytes"]) - across
                self.assertGreaterEqual(more, 0, row["label"])
                self.assertLess(more, 8 * 8 * sum(GPUS.values()), row["label"])
                seen += 1
        self.assertGreater(seen, 1)

    def test_parts_of_the_time_add_up(self):
        parts = (self.best["compute_s"] + self.best["bubble_s"] +
                 sum(part["exposed_s"] for part in self.best["classes"].values()))
        # Means over ranks; the slowest one is no faster than their mean.
        self.assertLessEqual(parts, self.best["iteration_time_s"] * (1 + PART))
        self.assertAlmostEqual(self.best["exposed_comm_s"], sum(
            part["exposed_s"] for part in self.best["classes"].values()), delta=PART)

    # ---- against one site ----

    def test_being_spread_out_costs(self):
        site = self.answer["one_site"]
        self.assertEqual(site["cross_building_bytes"], 0)
        self.assertAlmostEqual(site["spread_overhead"],
                               self.best["iteration_time_s"] / site["iteration_time_s"] - 1, places=9)
        self.assertAlmostEqual(self.found["loss"],
                               1 - 1 / (1 + site["spread_overhead"]), places=9)
        self.assertGreater(self.found["loss"], 0)
        said = f"being spread out costs {100 * site['spread_overhead']:#.3g} %"
        self.assertTrue(any(said in line for line in self.answer["explanation"]), said)

    # ---- distance ----

    def test_what_crosses_flips_once(self):
        low, high = self.found["flip_km"]
        self.assertLess(low, high)
        self.assertLessEqual(high / low, ask.EXACT)
        by_distance = sorted(self.found["crossing"].items())
        self.assertEqual([crossing for _, (crossing, _) in by_distance],
                         ["dp" if km <= low else "pp" for km, _ in by_distance])
        times = [time for _, (_, time) in by_distance]
        self.assertEqual(times, sorted(times), "farther is faster")

    # ---- half of a span ----

    def test_half_of_a_span_costs_no_less_than_nothing(self):
        kept, anew = self.found["half_lost"]["kept"], self.found["half_lost"]["anew"]["best"]
        self.assertEqual(kept["plan"]["label"], self.best["plan"]["label"])
        self.assertEqual(kept["cross_building_bytes"], self.best["cross_building_bytes"])
        self.assertGreaterEqual(kept["iteration_time_s"], self.best["iteration_time_s"])
        self.assertGreaterEqual(anew["iteration_time_s"], self.best["iteration_time_s"])
        self.assertLessEqual(anew["iteration_time_s"], kept["iteration_time_s"])

    def test_half_of_the_lanes_is_half_of_the_span(self):
        half = self.capacity_gbps("east to west") // 2
        built = self.timed(f"cluster.links.0.capacity={half}Gbps", "cluster.links.0.lanes=1")
        kept = self.found["half_lost"]["kept"]["iteration_time_s"]
        self.assertAlmostEqual(kept, built, delta=PART)

    def capacity_gbps(self, name):
        (rate,) = [one["capacity_bps"] for one in self.best["resources"] if one["name"] == name]
        return round(rate / 1e9)

    def timed(self, *settings):
        """The time of the best plan with other values of the study."""
        run = scaleacross.run(self.study, set={**ask.settings(self.best["plan"]),
                                               **dict(one.split("=") for one in settings)})
        return run["iteration_time_s"]

    # ---- the next best ----

    def test_five_next_best_say_what_differs_and_what_follows(self):
        self.assertEqual(len(self.found["next"]), 5)
        rows = {int(row["rank"]): row for row in self.exported()}
        for place, plan in enumerate(self.found["next"], 2):
            row = rows[place]
            self.assertEqual(row["label"], plan["label"])
            differs = {key for key in ("tp", "ep", "pp", "dp", "crossing", "sharding", "microbatch",
                                       "recompute") if row[key] != rows[1][key]}
            self.assertEqual(set(plan["differs"]), differs)
            for key, (own, its) in plan["differs"].items():
                self.assertEqual((str(own), str(its)), (row[key], rows[1][key]))
            self.assertAlmostEqual(sum(plan["because"].values()),
                                   plan["iteration_time_s"] - self.best["iteration_time_s"],
                                   delta=PART)

    # ---- the same everywhere ----

    def test_files_and_commands_say_the_same(self):
        shown, exported = self.shown(), self.exported()
        best = [(plan["label"], plan["iteration_time_s"]) for plan in self.answer["ranking"]]
        self.assertEqual([(one["plan"]["label"], one["iteration_time_s"])
                          for one in shown["ranking"]][:len(best)], best)
        self.assertEqual([(row["label"], float(row["iteration_time_s"])) for row in exported
                          if row["rank"]][:len(best)], best)
        self.assertEqual(shown["explanation"], self.answer["explanation"])
        page = (self.folder / "answer.html").read_text(encoding="utf-8")
        (link,) = re.findall(r'href="data:[^"]*base64,([^"]*)"[^>]*download="plans.csv"|'
                             r'download="plans.csv"[^>]*href="data:[^"]*base64,([^"]*)"', page)
        table = csv.DictReader(io.StringIO(base64.b64decode("".join(link)).decode()))
        self.assertEqual([float(row["iteration_time_s"]) for row in table],
                         [time for _, time in best][:10])
        text = html.unescape(re.sub("<[^>]*>", "", page))
        for line in self.answer["explanation"][1:]:
            self.assertIn(line.split(": ", 1)[1].rstrip("."), text)
        self.assertIn(f"{100 * self.answer['one_site']['spread_overhead']:#.3g} %", text)
        for label, _ in best[:6]:
            self.assertIn(label, text)

    def test_the_script_says_it(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            ask.say(self.found)
        first, second, *others = printed.getvalue().splitlines()
        self.assertTrue(first.startswith(self.best["plan"]["label"]))
        self.assertIn("between {} and {} km".format(*self.found["flip_km"]), second)
        self.assertEqual(len(others), 2 + 5)


class Llama(Sites, unittest.TestCase):
    model = "llama"

    def test_where_the_sites_differ_stages_do(self):
        # Sites of 384, 256 and 128 GPUs hold stages as 3 to 2 to 1.
        for row in self.exported():
            if row["crossing"] == "pp":
                self.assertEqual(int(row["pp"]) % 6, 0)


class Mixtral(Sites, unittest.TestCase):
    model, sequence = "mixtral", 4096

    def test_experts_are_those_of_the_card(self):
        shown = json.loads(subprocess.run([PROGRAM, "show", self.study, "--json"], check=True,
                                          capture_output=True, text=True).stdout)
        model = shown["scenario"]["model"]
        self.assertEqual((model["experts"], model["top_k"], model["expert_ffn"]),
                         (self.config["num_local_experts"], self.config["num_experts_per_tok"],
                          self.config["intermediate_size"]))


if __name__ == "__main__":
    unittest.main()
