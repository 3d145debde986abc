#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Collectives over distance as libraries run them: the page's table is the program's."""

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
PAGE = TOP / "contrib" / "scaleacross" / "doc" / "collectives.md"
SVG = "{http://www.w3.org/2000/svg}"

sys.path.insert(0, str(TOP / "analysis"))
import measuring  # noqa: E402
import nccl_distance  # noqa: E402

MS = {"us": 1e-3, "ms": 1, "s": 1e3}


def cells_of(line):
    return [cell.strip() for cell in line.split("|")[1:-1]]


def ms_of(cell):
    value, unit = re.match(r"(\S+) (us|ms|s)", cell).groups()
    return float(value) * MS[unit]


class NcclDistance(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "picture.svg"
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                cls.code = nccl_distance.main(
                    ["-o", str(out), "--rows", str(pathlib.Path(folder) / "rows.jsonl"),
                     "--program", PROGRAM, "--no-packets"])
            cls.table = printed.getvalue().splitlines()
            cls.texts = [text.text for text in
                         xml.etree.ElementTree.parse(out).iter(f"{SVG}text")]

    def test_the_page_has_this_table(self):
        self.assertEqual(self.code, 0)
        page = [re.sub(r" \([^)]*%\)", "", line) for line in PAGE.read_text().splitlines()]
        for line in self.table:
            self.assertIn(line, page)

    def test_far_times_are_those_of_slots(self):
        rows = {tuple(cells_of(line)[:2]): cells_of(line)[2:] for line in self.table[2:]}
        # 64 MiB from NIC to NIC through 4 MiB of slots: 15 round trips and the way. 1,000 km are
        # 5 ms. Then the last 4 MiB at 50 GB/s, and 30 ps a byte of a single message; all else is
        # less than a millisecond.
        far = ms_of(rows["sendrecv, 64 MiB", "NCCL, 1 queue pair"][-1])
        expected = 15.5 * 10 + 2**22 / 50e6 + 30e-9 * 2**26
        self.assertGreater(far, expected - 0.5)  # three digits
        self.assertLess(far, expected + 1)
        # Without slots it is the way, and 64 MiB at 50 GB/s.
        free = ms_of(rows["sendrecv, 64 MiB", "NCCLX, far"][-1])
        self.assertGreater(free, 5 + 1.34)
        self.assertLess(free, 5 + 1.34 * 1.1)

    def test_a_published_ring_over_two_sites(self):
        # wan-4node-ring of tests/validation/collectives/published.csv: full bandwidth with 20 us
        # between the sites, half with some hundred, for which 300 stand: 2 km and 30 km of glass.
        def us(distance):
            case = nccl_distance.case_of(PROGRAM, "", nccl_distance.WORK[2], "NCCL, rings",
                                         distance, "analytical")
            study = TOP / "analysis" / "nccl-distance.yaml"
            return nccl_distance.measured(PROGRAM, study, case)["time_us"]
        here = us(0)
        self.assertAlmostEqual(here / us(2), 1, delta=0.02)
        self.assertAlmostEqual(here / us(30), 0.5, delta=0.1)

    def test_the_picture_has_all_lines(self):
        for text in [*nccl_distance.LIBRARIES, "all-reduce, 4 GiB", "distance (km)"]:
            self.assertIn(text, self.texts)

    def test_one_point_on_packets(self):
        case = nccl_distance.case_of(PROGRAM, "", ("sendrecv", "across", 4 * nccl_distance.MIB),
                                     "NCCL, 1 queue pair", 30, "packet")
        study = TOP / "analysis" / "nccl-distance.yaml"
        packets = nccl_distance.measured(PROGRAM, study, case)["time_us"]
        model = nccl_distance.measured(PROGRAM, study, {**case, "engine": "analytical"})["time_us"]
        self.assertAlmostEqual(model / packets, 1, delta=0.03)

    def test_wrong_input_is_refused(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit) as end:
            nccl_distance.main(["-o", "picture.gif"])
        self.assertEqual(end.exception.code, 2)
        self.assertIn(".svg or .png", said.getvalue())
        with self.assertRaises(measuring.InputError):
            measuring.program_fingerprint(TOP / "none")


if __name__ == "__main__":
    unittest.main()
