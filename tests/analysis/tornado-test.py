#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The tornado, drawn from what the program itself has just printed."""

import contextlib
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = TOP / "analysis" / "tornado.py"
STUDY = TOP / "examples" / "small-two-buildings" / "study.yaml"
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
SVG = "{http://www.w3.org/2000/svg}"

sys.path.insert(0, str(SCRIPT.parent))
import tornado  # noqa: E402


def texts(path):
    return [element.text for element in xml.etree.ElementTree.parse(path).iter(f"{SVG}text")]


def drawn_bars(path):
    """Left and right end by the id of a bar, in points."""
    found = {}
    for group in xml.etree.ElementTree.parse(path).iter(f"{SVG}g"):
        if re.fullmatch(r"\S+: (low|high)", group.get("id", "")):
            drawn = group.find(f"{SVG}path").get("d")
            x = [float(word) for word in re.findall(r"[ML] (\S+) ", drawn)]
            found[group.get("id")] = (min(x), max(x))
    return found


class Tornado(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.path = cls.folder / "report.json"
        cls.path.write_text(subprocess.run(
            [PROGRAM, "sensitivity", STUDY, "--json"], check=True, text=True,
            stdout=subprocess.PIPE).stdout)
        cls.report = json.loads(cls.path.read_text())

    def setUp(self):
        self.out = self.folder / f"{self.id()}.svg"

    def draw(self, report, *options, out=None):
        """Exit code and standard error."""
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            try:
                code = tornado.main([str(report), "-o", str(out or self.out), *options])
            except SystemExit as end:
                code = end.code
        return code, said.getvalue()

    def of(self, **report):
        path = self.folder / f"{self.id()}.json"
        path.write_text(json.dumps({**self.report, **report}))
        return path

    def test_bars_are_the_changes_of_the_report(self):
        self.assertEqual(self.draw(self.path), (0, ""))
        base = self.report["base"]["iteration_time_s"]
        bars = drawn_bars(self.out)
        expected = {}
        for one in self.report["inputs"]:
            for end in ("low", "high"):
                if one[end]["best_s"] is not None:
                    expected[f"{one['key']}: {end}"] = one[end]["best_s"] / base - 1
        largest = max(bars, key=lambda name: abs(expected[name]))
        scale = (bars[largest][1] - bars[largest][0]) / abs(expected[largest])
        zero = bars[largest][0] if expected[largest] > 0 else bars[largest][1]
        for name, (left, right) in bars.items():
            self.assertAlmostEqual((right - left) / scale, abs(expected[name]), delta=1e-4)
            self.assertAlmostEqual(left if expected[name] > 0 else right, zero, delta=0.05)
        # None that is worth a bar is missing.
        for name, change in expected.items():
            self.assertTrue(abs(change) < 1e-3 or name in bars, name)
        drawn = texts(self.out)
        first = self.report["inputs"][0]
        self.assertIn(f"{first['key']} = {first['value']}", drawn)
        self.assertIn("small-two-buildings: every figure lowered and raised by 20 %", drawn)

    def test_another_choice_is_marked(self):
        self.draw(self.path)
        marked = {group.get("id") for group in xml.etree.ElementTree.parse(self.out).iter(f"{SVG}g")
                  if group.get("id", "").endswith(": changes")}
        self.assertEqual(marked, {f"{one['key']}: {end}: changes" for one in self.report["inputs"]
                                  for end in ("low", "high") if one[end]["changes"]})
        self.assertTrue(marked)

    def test_an_end_without_a_plan_is_said(self):
        first = json.loads(json.dumps(self.report["inputs"][0]))
        first["low"].update(best_s=None, kept_s=None, reason="no plan can run", changes=False)
        self.assertEqual(self.draw(self.of(inputs=[first])), (0, ""))
        self.assertIn(f"{first['low']['value']}: no plan can run", texts(self.out))

    def test_top_keeps_the_first(self):
        self.draw(self.path, "--top", "3")
        keys = {name.split(": ")[0] for name in drawn_bars(self.out)}
        self.assertLessEqual(keys, {one["key"] for one in self.report["inputs"][:3]})

    def test_same_bytes_from_standard_input(self):
        self.draw(self.path)
        again = self.folder / "again.svg"
        subprocess.run([sys.executable, SCRIPT, "-", "-o", again], check=True,
                       input=self.path.read_text(), text=True)
        self.assertEqual(again.read_bytes(), self.out.read_bytes())

    def test_wrong_input_is_refused(self):
        def refuse(report, *options, says, out=None):
            code, said = self.draw(report, *options, out=out)
            self.assertEqual(code, 2)
            self.assertRegex(said, says)
            self.assertFalse(self.out.exists())
        refuse(self.folder / "none.json", says="none.json: No such file")
        refuse(STUDY, says="this is no JSON .*sensitivity STUDY --json prints it")
        other = self.folder / "other.json"
        other.write_text("[1]")
        refuse(other, says="there is no 'study' in it")
        refuse(self.of(inputs=[]), says="nothing to draw")
        refuse(self.path, "--top", "0", says="--top: '0' is out of range; give a whole number from 1 on")
        refuse(self.path, says=".svg or .png", out=self.folder / "x.gif")
        refuse(self.path, says="cannot be written", out=self.folder / "no" / "x.svg")


if __name__ == "__main__":
    unittest.main()
