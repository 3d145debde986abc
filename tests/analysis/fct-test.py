#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Pictures go where they are asked to, or the reason why not is said in a line."""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
ROWS = "# of a test\nbytes,slowdown,label\n1000,1.0,a\n2000,3.0,a\n"


class Fct(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "rows.csv").write_text(ROWS)

    def draw(self, *words, **options):
        return subprocess.run([sys.executable, TOP / "analysis" / "fct.py", *words], text=True,
                              cwd=self.folder, check=False, stderr=subprocess.PIPE,
                              **{"stdout": subprocess.PIPE, **options})

    def test_draws(self):
        done = self.draw("rows.csv", "-o", "a.svg")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("2 messages  slowdown    1.000 median     3.000 p99     3.000 worst", done.stdout)
        self.assertTrue((self.folder / "a.svg").read_text().startswith("<?xml"))

    def test_ticks_are_plain_numbers(self):
        # From the narrowest axis to one of many powers of ten; matplotlib's own are formulas.
        for worst, ticks in ((1.5, ["1"]), (9, ["1", "2", "5"]), (55, ["1", "2", "5", "10", "20"]),
                             (2e5, ["1", "100", "10000"])):
            (self.folder / "rows.csv").write_text(ROWS + f"3000,{worst},a\n")
            self.assertEqual(self.draw("rows.csv", "-o", "a.svg").returncode, 0)
            text = (self.folder / "a.svg").read_text()
            drawn = re.findall(r">([^<>]*)</text>", text)
            self.assertFalse([word for word in drawn if "$" in word or "{" in word], drawn)
            self.assertLessEqual(set(ticks), set(drawn), worst)

    def test_a_name_that_says_no_format_is_refused(self):
        for name in ("a.foo", "a", "/dev/full"):
            done = self.draw("rows.csv", "-o", name)
            self.assertEqual((done.returncode, done.stderr), (
                2, f"fct.py: error: {name}: the name has to end in .svg or .png\n"))
        self.assertFalse(pathlib.Path("/dev/full.png").exists())
        self.assertEqual([path.name for path in self.folder.iterdir()], ["rows.csv"])

    def test_full_disks_are_told_of(self):
        (self.folder / "full.svg").symlink_to("/dev/full")
        done = self.draw("rows.csv", "-o", "full.svg")
        self.assertEqual((done.returncode, done.stderr), (
            2, "fct.py: error: full.svg: cannot be written: No space left on device\n"))
        with open("/dev/full", "w") as full:
            done = self.draw("rows.csv", "-o", "a.svg", stdout=full)
        self.assertEqual(done.returncode, 2)
        self.assertIn("No space left on device", done.stderr.splitlines()[0])
        self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
