#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The table of design points is what the program finds, and the page says what follows from it."""

import os
import pathlib
import re
import statistics
import subprocess
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["SCALEACROSS_PROGRAM"])
SCRIPT = TOP / "analysis" / "design_points.py"
sys.path.insert(0, str(TOP / "analysis"))
import design_points as points  # noqa: E402

# Quick ones, one of each model that the table has, with two of the schools.
AGAIN = 1
SCHOOLS = ["production", "placement-only"]


def seconds(row, name):
    return float(row[f"{name}_s"]) if row[f"{name}_s"] else None


class DesignPoints(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.rows = points.read_table(points.TABLE)
        cls.page = points.PAGE.read_text()

    def test_the_points_are_432_and_the_ends_of_ranges_come_first(self):
        every = points.all_points()
        self.assertEqual(len(every), 3 * 3 * 4 * 4 * 3)
        self.assertEqual(len(set(map(points.id_of, every))), len(every))
        # Two ends each of four ranges, for three models.
        ends = [point for point in every[:48]]
        self.assertEqual({point["loss"] for point in ends}, {"0", "1e-5"})
        self.assertEqual({point["buildings"] for point in ends}, {"2", "5"})
        self.assertEqual({point["distance"] for point in ends}, {"3km", "1000km"})
        self.assertEqual({point["oversubscription"] for point in ends}, {"1", "16"})

    def test_every_row_is_a_point(self):
        known = {points.id_of(point): point for point in points.all_points()}
        for row in self.rows:
            self.assertEqual({key: row[key] for key in known[row["id"]]}, known[row["id"]])

    def test_the_page_says_what_follows_from_the_table(self):
        self.assertEqual(points.page_with(self.page, self.rows), self.page)

    def test_the_greatest_gains_are_those_of_the_table(self):
        """By other means than the script's."""
        def gains(names):
            return [100 * (min(seconds(row, name) for name in names if row[f"{name}_s"])
                           / float(row["best_s"]) - 1)
                    for row in self.rows if any(row[f"{name}_s"] for name in names)]
        for word, names in (("Over production", ["production"]),
                            ("Over the fastest planner of the point",
                             ["megatron", "atlas-like", "crosspipe-like", "fsdp-only",
                              "madmax-like", "sailor-like"]),
                            ("Over the best single dimension",
                             ["placement-only", "schedule-only", "parallelism-only",
                              "network-only"])):
            said = re.search(rf"\*\*{word}\*\* at most (-?[\d.]+) %", self.page).group(1)
            self.assertEqual(said, f"{max(gains(names)):.2f}", word)
        median = re.search(r"by more than 0.1 % at \d+ of \d+ points, in the median by ([\d.]+) %",
                           self.page).group(1)
        self.assertEqual(median, f"{statistics.median(gains(names)):.2f}")

    def test_the_published_gains_are_exceeded_where_the_page_says(self):
        over = {row["id"] for row in self.rows
                if 100 * points.gain(row, "production") > points.PUBLISHED["production"]}
        scarce = {row["id"] for row in self.rows
                  if (row["buildings"], row["oversubscription"]) == ("5", "16")}
        self.assertEqual(over, scarce)
        self.assertEqual([row["id"] for row in self.rows
                          if min(100 * points.gain(row, name) for name in points.PLANNERS
                                 if row[f"{name}_s"]) > points.PUBLISHED["planner"]], [])

    def test_no_single_dimension_is_slower_than_production(self):
        for row in self.rows:
            for name in points.DIMENSIONS:
                if row["production_s"]:
                    self.assertLessEqual(seconds(row, name),
                                         seconds(row, "production") * (1 + points.SAME),
                                         f"{row['id']} {name}")

    def test_some_points_are_found_again(self):
        for model in points.MODELS:
            quick = sorted((row for row in self.rows if row["model"] == model),
                           key=lambda row: float(row["seconds"]))[:AGAIN]
            self.assertEqual(points.again(PROGRAM, self.rows, [row["id"] for row in quick], 2,
                                          SCHOOLS), [])

    def test_wrong_words_are_refused(self):
        for words, said in ((["--only", "distance=5km"], "3km, 30km, 100km, 1000km"),
                            (["--only", "colour=red"], "model, buildings, distance"),
                            (["--again", "nowhere"], "has no such point")):
            ended = subprocess.run([sys.executable, SCRIPT, *words], capture_output=True, text=True,
                                   check=False)
            self.assertEqual(ended.returncode, 2, words)
            self.assertIn(said, ended.stderr)


if __name__ == "__main__":
    unittest.main()
