#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The study's table and picture at reduced size, measured by the program itself."""

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
import study_picture  # noqa: E402

REFUSED = ("network.recovery: go-back-n takes every packet that overtakes for a loss, and multipath "
           "spray-adaptive lets them overtake")
GRID = ["--works", "all-reduce", "--transports", "roce-pfc,roce-lossy", "--multipaths",
        "e-ecmp,spray-adaptive", "--distances", "1,100", "--losses", "0", "--bytes", "1M",
        "--seeds", "1"]
US = {"us": 1, "ms": 1e3, "s": 1e6}


class StudyPicture(unittest.TestCase):
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
                code = study_picture.main(["-o", str(self.out), "--rows", str(self.rows),
                                           "--program", PROGRAM, *GRID, *options])
            except SystemExit as end:
                code = end.code
        return code, printed.getvalue(), said.getvalue()

    def texts(self):
        return [text.text for text in
                xml.etree.ElementTree.parse(self.out).iter(f"{SVG}text")]

    def cells(self, table):
        """The cells behind transport and multipath, by these two."""
        rows = [[cell.strip() for cell in line.split("|")[1:-1]]
                for line in table.splitlines() if line.startswith("| ")]
        return {(row[0], row[1]): row[2:] for row in rows[1:]}

    def test_sprayed_all_reduce(self):
        code, table, said = self.call()
        self.assertEqual((code, said), (0, ""))
        cells = self.cells(table)
        self.assertEqual(len(cells), 4)
        # 1 MiB: twice 0.5 MiB of each of eight NICs over spans of 1.6 Tb/s together, packets of
        # 4,178 bytes for 4,096: 21.4 us. And twice the way: 2 x (0.75 + 4.5) us, 5 us per km, and
        # a packet taken in whole by four switches, 84 ns at 400 and 167 at 200 Gb/s: 0.5 us. None
        # is lost, nobody is in another's way; 1 %.
        for line in (("roce-pfc", "spray-adaptive"), ("roce-lossy", "spray-adaptive")):
            for cell, km in zip(cells[line], (1, 100)):
                value, unit = re.match(r"\**([\d.]+) (us|ms)", cell).groups()
                expected = 2 * (21.4 + 10.5 + 0.5 + 5 * km)
                self.assertGreater(float(value) * US[unit], 0.99 * expected)
                self.assertLess(float(value) * US[unit], 1.01 * expected)

    def test_refusals_are_shown(self):
        code, table, _ = self.call()
        self.assertEqual(code, 0)
        # With PFC the first attempt is go-back-N: refused, named, and the next one measured.
        self.assertTrue(self.cells(table)["roce-pfc", "spray-adaptive"][0].endswith("(a)"))
        self.assertFalse(self.cells(table)["roce-pfc", "e-ecmp"][0].endswith("(a)"))
        self.assertIn(f"- (a) {REFUSED}: measured with network.recovery: selective-repeat", table)
        self.assertTrue(any(REFUSED in text for text in self.texts()))

    def test_a_combination_without_an_alternative_is_refused(self):
        transports = study_picture.TRANSPORTS
        alone = {**transports, "roce-pfc": transports["roce-pfc"][:1]}
        study_picture.TRANSPORTS = alone
        self.addCleanup(setattr, study_picture, "TRANSPORTS", transports)
        code, table, said = self.call("--transports", "roce-pfc")
        self.assertEqual((code, said), (0, ""))
        self.assertEqual(self.cells(table)["roce-pfc", "spray-adaptive"], ["refused (a)"] * 2)
        self.assertIn("refused a", self.texts())
        self.assertIn(f"- (a) {REFUSED}\n", table)
        code, _, said = self.call("--transports", "roce-pfc", "--multipaths", "spray-adaptive")
        self.assertEqual(code, 2)
        self.assertIn(f"nothing of this has a result: {REFUSED}", said)

    def test_training_step(self):
        code, table, said = self.call("--works", "step", "--transports", "roce-lossy",
                                      "--multipaths", "spray-adaptive")
        self.assertEqual((code, said), (0, ""))
        near, far = (re.match(r"\**([\d.]+) ms", cell).group(1)
                     for cell in self.cells(table)["roce-lossy", "spray-adaptive"])
        # Compute does not depend on the distance, so that no more than all it exposes differs; and
        # of that at least one all-reduce's way there and back, 2 x 99 km x 5 us.
        self.assertGreater(float(far) - float(near), 0.99)
        self.assertIn("training step", self.texts())

    def test_goes_on_from_what_was_measured(self):
        self.assertEqual(self.call()[0], 0)
        before = self.rows.read_text()
        self.assertEqual(len(before.splitlines()), 2 * 2 * 2)
        # A kill cuts the last line short.
        self.rows.write_text(before[:-20] + "\n")
        self.assertEqual(self.call()[0], 0)
        after = self.rows.read_text()
        self.assertEqual(len(after.splitlines()), 9)
        picture = self.out.read_bytes()
        self.assertEqual(self.call()[0], 0)
        self.assertEqual(self.rows.read_text(), after)
        self.assertEqual(self.out.read_bytes(), picture)

    def test_csv_has_every_row(self):
        table = self.folder / "table.csv"
        code, printed, _ = self.call("--table", str(table), "--seeds", "2")
        self.assertEqual((code, printed), (0, ""))
        lines = table.read_text().splitlines()
        self.assertEqual(len(lines), 1 + 16)
        self.assertTrue(lines[0].startswith("work,transport,multipath,distance_km,loss,bytes,seed"))
        refused = [line for line in lines if line.endswith('"')]
        self.assertEqual(len(refused), 4)
        for line in refused:
            self.assertIn(REFUSED, line)

    def test_cells(self):
        def row(**values):
            return {"time_us": None, "refusals": [], **values}
        cell = study_picture.Cell([row(time_us=10), row(time_us=30)])
        self.assertEqual(cell.mean, 20)
        # A draw that failed leaves no mean: it would be that of the lucky ones.
        cell = study_picture.Cell([row(time_us=10), row(failed="retry limit")])
        self.assertIsNone(cell.mean)
        self.assertEqual((cell.failed, cell.runs), (["retry limit"], 2))

    def test_refuses(self):
        for options, says in [
                (["-o", str(self.folder / "picture.pdf")], "svg or .png"),
                (["--transports", "tcp"], "no transport 'tcp'; there are roce-pfc"),
                (["--works", "sleep"], "no work 'sleep'"),
                (["--multipaths", "magic"], "network.multipath"),
                (["--bytes", "64Q"], "size"),
                (["--seeds", "0"], "seeds"),
                (["--program", str(self.folder / "nothing")], "cannot be run"),
                (["--study", str(self.folder / "nothing.yaml")], "No such file")]:
            code, _, said = self.call(*options)
            self.assertEqual(code, 2, options)
            self.assertIn(says, said)
            self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
