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

    def test_what_has_no_slowdown_is_counted(self):
        # Of the six messages two have none; those without a label are not all.
        (self.folder / "rows.csv").write_text(ROWS + "1,,a\n1,,b\n1,7,\n1,5,\n")
        done = self.draw("rows.csv", "-o", "a.svg")
        self.assertEqual((done.returncode, done.stderr), (
            0, "fct.py: rows.csv: 2 of 6 messages left out: without a slowdown, as there was no "
            "route when they were posted\n"))
        self.assertEqual([line.split()[1:3] for line in done.stdout.splitlines()],
                         [["a", "2"], ["no", "label"]])
        self.assertIn("rows: no label (2)", (self.folder / "a.svg").read_text())
        (self.folder / "rows.csv").write_text("bytes,slowdown,label\n1,,a\n")
        self.refuse("rows.csv: has no message with a slowdown (1 without), so that there is nothing "
                    "to draw")

    def test_messages_without_any_label_are_all(self):
        (self.folder / "rows.csv").write_text("bytes,slowdown,label\n1,2,\n")
        done = self.draw("rows.csv", "-o", "a.svg")
        self.assertRegex(done.stdout, r"^rows +all +1 message   slowdown +2.000 median")

    def test_a_single_message_is_drawn(self):
        # From none to all of them at its slowdown: a line from the bottom of the axes to their top.
        (self.folder / "rows.csv").write_text("bytes,slowdown,label\n1,2,\n2,4,b\n")
        self.assertEqual(self.draw("rows.csv", "-o", "a.svg").returncode, 0)
        text = (self.folder / "a.svg").read_text()
        frame = re.search(r'id="patch_2">\s*<path d="M (\S+) (\S+) \nL (\S+) (\S+) \n'
                          r'L (\S+) (\S+)', text)
        lines = re.findall(r'<path d="([^"]*)" clip-path="[^"]*" style="fill: none; stroke: #(?:d55e00|'
                           r'0072b2)', text)
        self.assertEqual(len(lines), 2)
        for line in lines:
            points = [tuple(map(float, pair)) for pair in re.findall(r"(\S+) (\S+) \n", line)]
            self.assertEqual(len({x for x, _ in points}), 1, line)
            self.assertEqual({y for _, y in points}, {float(frame[2]), float(frame[6])}, line)

    def refuse(self, says):
        done = self.draw("rows.csv", "-o", "b.svg")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (2, "", f"fct.py: error: {says}\n"))
        self.assertFalse((self.folder / "b.svg").exists())

    def test_damaged_rows_are_refused_by_their_line(self):
        rows = self.folder / "rows.csv"
        # The comment, the columns, and two messages are lines 1 to 4.
        for value in ("nan", "inf", "0", "-1", "1e999", "x"):
            rows.write_text(ROWS + f"1,{value},a\n")
            self.refuse(f"rows.csv:5: slowdown is '{value}', and should be a number above 0, or empty "
                        "where there was no route")
        cut = ("not as many cells as columns; where it is the last line, the file was cut short: run "
               "its script again, or delete the line")
        rows.write_text(ROWS + "1,3")
        self.refuse(f"rows.csv:5: {cut}")
        rows.write_text(ROWS + "1,3,a,b\n1,3,a\n")
        self.refuse(f"rows.csv:5: {cut}")
        # A label of two lines, one of which looks like a comment, and one that does not end.
        rows.write_text(ROWS + '1,3,"a\n#b"\n1,3\n')
        self.refuse(f"rows.csv:7: {cut}")
        rows.write_text(ROWS + '1,3,"a\n')
        self.refuse("rows.csv:5: unexpected end of data")
        rows.write_bytes(ROWS.encode() + b"1,3,\xff\n")
        done = self.draw("rows.csv", "-o", "b.svg")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^fct.py: error: rows.csv: 'utf-8' codec can't .*\n$")

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
