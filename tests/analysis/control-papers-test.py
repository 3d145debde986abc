#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Congestion controls beside the figures of their papers."""

import contextlib
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]

sys.path.insert(0, str(TOP / "analysis"))
import control_papers  # noqa: E402

POINTS = json.loads((TOP / "analysis" / "control-papers.json").read_text())["points"]
# 5,000 flows for half a second of simulated time take as long as all the others.
LONG = {"swift-incast"}


class ControlPapers(unittest.TestCase):
    def call(self, *options):
        """Exit code, standard output and standard error."""
        printed, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            try:
                code = control_papers.main(["--program", PROGRAM, *options])
            except SystemExit as end:
                code = end.code
        return code, printed.getvalue(), said.getvalue()

    def points_file(self, points):
        file = tempfile.NamedTemporaryFile("w", suffix=".json", delete=False)
        self.addCleanup(os.unlink, file.name)
        with file:
            json.dump({"points": points}, file)
        return file.name

    def test_figures_are_met_and_missed_as_stated(self):
        names = [point["name"] for point in POINTS if point["name"] not in LONG]
        code, table, said = self.call("--check", "--only", ",".join(names))
        self.assertEqual((code, said), (0, ""))
        rows = [line for line in table.splitlines() if line.startswith("| ")]
        figures = sum(len(point["figures"]) for point in POINTS if point["name"] not in LONG)
        self.assertEqual(len(rows), 1 + figures)

    def test_every_miss_says_why(self):
        for point in POINTS:
            for figure in point["figures"]:
                if figure["expected"] == "missed":
                    self.assertTrue(figure.get("note"), point["name"])

    def test_check_notices_a_change(self):
        # Two flows with K = 40: at most 42 packets, all the same size, so that a figure of 30 is
        # missed whatever else changes.
        point = next(point for point in POINTS if point["name"] == "dctcp-model-2")
        point = {**point, "figures": [{"source": "nobody", "quantity": "99 % of the queue",
                                       "paper": {"value": 30, "within": 10}, "expected": "met"}]}
        code, _, said = self.call("--check", "--points", self.points_file([point]))
        self.assertEqual(code, 1)
        self.assertIn("99 % of the queue 42.0 packets is missed beside 30.0 packets", said)

    def test_verdicts(self):
        def verdict(here, **paper):
            return control_papers.verdict({"quantity": "line used", "paper": paper}, here,
                                          {"other": {"share": 0.5}})
        self.assertEqual(verdict(110, value=100, within=10), "met")
        self.assertEqual(verdict(110.1, value=100, within=10), "missed")
        self.assertEqual(verdict(89.9, value=100, within=10), "missed")
        self.assertEqual(verdict(18, **{"from": 20, "to": 30, "within": 10}), "met")
        self.assertEqual(verdict(33.1, **{"from": 20, "to": 30, "within": 10}), "missed")
        self.assertEqual(verdict(5, **{"from": 4}), "met")
        self.assertEqual(verdict(5, to=4), "missed")
        self.assertEqual(verdict(50.1, above="other"), "met")
        self.assertEqual(verdict(50, above="other"), "missed")
        self.assertEqual(verdict(None, to=4), "missed")

    def test_refuses(self):
        for options, says in [
                (["--only", "bbr"], "--only bbr: there are swift-target-25"),
                (["--program", "/nothing"], "cannot be run"),
                (["--points", "/nothing.json"], "No such file"),
                (["--points", self.points_file([{"figures": [{"quantity": "luck"}],
                                                 "name": "a"}])], "no quantity 'luck'"),
                (["--points", self.points_file([{
                    "name": "a", "control": "bbr", "arguments": [], "figures": []}])],
                 "'bbr' is not known\n  allowed: none, dcqcn, "),
                (["--jobs", "0"], "--jobs")]:
            code, table, said = self.call(*options)
            self.assertEqual((code, table), (2, ""), options)
            self.assertIn(says, said)


if __name__ == "__main__":
    unittest.main()
