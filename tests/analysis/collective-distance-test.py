#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The table and the picture of collectives over distance, measured by the program itself."""

import contextlib
import io
import os
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
SVG = "{http://www.w3.org/2000/svg}"

sys.path.insert(0, str(TOP / "analysis"))
import collective_distance  # noqa: E402


class CollectiveDistance(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "picture.svg"
        self.rows = self.folder / "rows.jsonl"

    def call(self, *options):
        """Exit code, standard output and standard error."""
        printed, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            try:
                code = collective_distance.main(
                    ["-o", str(self.out), "--rows", str(self.rows), "--program", PROGRAM,
                     "--distances", "3,100", "--losses", "0", "--sizes", "64K,1M",
                     "--table-sizes", "1M", "--transports", "spray-adaptive+selective-repeat",
                     "--bytes", "1M",
                     *options])
            except SystemExit as end:
                code = end.code
        return code, printed.getvalue(), said.getvalue()

    def refuse(self, *options, says):
        code, _, said = self.call(*options)
        self.assertEqual(code, 2)
        self.assertRegex(said, says)
        self.assertFalse(self.out.exists())

    def test_table_and_picture(self):
        code, table, said = self.call()
        self.assertEqual((code, said), (0, ""))
        lines = table.splitlines()
        self.assertEqual(len(lines), 4)
        # 1 MiB takes 0.5 MiB through a NIC twice, 2 x 10.8 us, and twice the way: 2 x 0.75 +
        # 2 x 4.5 us and 5 us per km, and a few packets stored and forwarded. Sprayed packets
        # collide with nobody; 3 %.
        for line, km in zip(lines[2:], (3, 100)):
            cells = [cell.strip() for cell in line.split("|")[1:-1]]
            self.assertEqual(cells[:2], [f"{km} km", "0"])
            value, unit, difference = re.fullmatch(r"(\S+) (us|ms) \((\S+) %\)",
                                                   cells[2]).groups()
            us = float(value) * (1000 if unit == "ms" else 1)
            expected = 2 * (10.8 + 10.5 + 5 * km)
            self.assertGreater(us, 0.99 * expected)
            self.assertLess(us, 1.03 * expected)
            self.assertLessEqual(abs(int(difference)), 2)
        texts = [text.text for text in
                 xml.etree.ElementTree.parse(self.out).iter(f"{SVG}text")]
        for text in ("3 km", "100 km", "spray-adaptive+selective-repeat", "message size (B)"):
            self.assertIn(text, texts)

    def test_goes_on_from_what_was_measured(self):
        self.assertEqual(self.call()[0], 0)
        before = self.rows.read_text()
        self.assertEqual(len(before.splitlines()), 2 * 2 * 2)
        # A kill cuts the last line short.
        self.rows.write_text(before[:-20] + "\n")
        self.assertEqual(self.call()[0], 0)
        after = self.rows.read_text()
        self.assertEqual(len(after.splitlines()), 9)
        self.assertEqual(set(after.splitlines()[:7]), set(before.splitlines()[:7]))
        picture = self.out.read_bytes()
        self.assertEqual(self.call()[0], 0)
        self.assertEqual(self.rows.read_text(), after)
        self.assertEqual(self.out.read_bytes(), picture)

    def wrapped(self, script):
        """A program of its own that begins with a line of shell."""
        program = self.folder / "program"
        program.write_text(f"#!/bin/sh\n{script}\nexec {PROGRAM} \"$@\"\n")
        program.chmod(0o755)
        return str(program)

    def test_measures_again_what_another_build_measured(self):
        self.assertEqual(self.call()[0], 0)
        self.assertEqual(self.call("--program", self.wrapped(":"))[0], 0)
        self.assertEqual(len(self.rows.read_text().splitlines()), 2 * 8)

    def test_keeps_nothing_of_a_run_that_was_stopped(self):
        # The first call only asks what is offered.
        count = (f"echo >> {self.folder}/calls; "
                 f"[ $(wc -l < {self.folder}/calls) -lt 4 ] || ")
        self.assertEqual(self.call("--jobs", "1", "--program", self.wrapped(
            count + "kill -INT $$"))[0], 130)
        rows = self.rows.read_text().splitlines()
        self.assertEqual(len(rows), 2)
        self.assertTrue(all('"time_us": null' not in row for row in rows))
        (self.folder / "calls").unlink()
        code, _, said = self.call("--jobs", "1", "--program", self.wrapped(
            count + "kill -SEGV $$"))
        self.assertEqual(code, 2)
        self.assertIn("-11", said)
        self.assertFalse(self.out.exists())

    def test_csv_has_every_row(self):
        table = self.folder / "table.csv"
        code, printed, _ = self.call("--table", str(table))
        self.assertEqual((code, printed), (0, ""))
        lines = table.read_text().splitlines()
        self.assertEqual(len(lines), 1 + 8)
        self.assertTrue(lines[0].startswith("distance_km,loss,multipath,recovery,bytes,engine"))
        for line in lines[1:]:
            self.assertEqual(line.count(","), lines[0].count(","))
            self.assertGreater(float(line.split(",")[7]), 0)

    def test_refuses(self):
        self.refuse("-o", str(self.folder / "picture.pdf"), says="svg or .png")
        self.refuse("--sizes", "64Q", says="size")
        self.refuse("--table-sizes", "2M", says="--table-sizes: 2 MiB is not measured; give some of "
                    "--sizes, which are 64 KiB, 1 MiB\n$")
        self.refuse("--transports", "ecmp", says="MULTIPATH")
        self.refuse("--transports", "magic+go-back-n", says="left out magic")
        self.refuse("--program", str(self.folder / "nothing"), says="cannot be run")
        self.refuse("--study", str(self.folder / "nothing.yaml"), says="No such file")
        self.refuse("--op", "all_reduced", says="all_reduce")
        self.refuse("--jobs", "0", says="jobs")


if __name__ == "__main__":
    unittest.main()
