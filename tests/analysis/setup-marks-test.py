#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""setup_marks: each mark is found where a curve has what it says, and nowhere else."""

import collections
import csv
import os
import pathlib
import random
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "analysis"))

import collective_lines  # noqa: E402
import setup_marks  # noqa: E402

PROGRAM = pathlib.Path(os.environ["SCALEACROSS_PROGRAM"])
TABLE = TOP / "tests" / "validation" / "collectives" / "published.csv"

LINE = {"setup": "s", "gpu": "H100", "gpus_per_node": "8", "nodes": "4", "gpus": "32",
        "intra_link": "NVLink4+NVSwitch", "nic": "400G x8/node", "fabric": "InfiniBand", "env": "",
        "nccl": "", "note": "", "busbw": ""}


def curve(op, times, **changed):
    """Lines of one curve, by size."""
    return [{**LINE, **changed, "id": f"s|{op}|{size}", "op": op, "bytes": str(size),
             "time_us": str(time)} for size, time in times.items()]


class SetupMarks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machines = collective_lines.machines_of(PROGRAM)

    def marks(self, lines):
        return setup_marks.marks_of(lines, self.machines)

    def test_what_nics_and_links_carry(self):
        """Eight NICs of 50 GB/s for a server; of an all-to-all's traffic 24 / 31 leave it."""
        def carried(op, **changed):
            return setup_marks.carried({**LINE, "op": op, **changed}, self.machines)
        self.assertEqual(carried("all_reduce"), 400)
        self.assertAlmostEqual(carried("alltoall"), 50 * 31 / 24)
        # Of two GPUs a server two NICs are used.
        self.assertEqual(carried("all_gather", gpus_per_node="2", gpus="8"), 100)
        # One server: the links. A rack of 72 has more NICs than links carry.
        self.assertEqual(carried("all_reduce", nodes="1", gpus="8"), 450)
        rack = {"gpu": "GB200", "gpus_per_node": "4", "intra_link": "NVLink5 NVL72",
                "nic": "400G x4/node"}
        self.assertEqual(carried("all_reduce", **rack, nodes="36", gpus="144"), 900)
        self.assertIsNone(carried("all_reduce", nic="not stated"))
        self.assertIsNone(carried("all_reduce", gpu="H20"))

    def test_curves_of_a_line_through_latency_and_rate_have_none(self):
        draw = random.Random(5)
        for _ in range(200):
            op = draw.choice(["all_reduce", "all_gather", "reduce_scatter", "alltoall"])
            factor = collective_lines.OPERATIONS[op].factor(32)
            start, rate = draw.uniform(5, 300), draw.uniform(205, 400) / (4 if op == "alltoall" else 1)
            rate = max(rate, 0.55 * setup_marks.carried({**LINE, "op": op}, self.machines))
            times = {1 << power: start + (1 << power) * factor / rate / 1e3
                     for power in range(draw.randint(5, 20), draw.randint(30, 34))}
            self.assertEqual(self.marks(curve(op, times)), {}, (op, times))

    def test_slow(self):
        size = 1 << 30
        for share, marks in ((0.51, {}), (0.49, {("s", "all_gather"): ["slow"]})):
            time = size * 31 / 32 / (share * 400e3)
            self.assertEqual(self.marks(curve("all_gather", {size: time})), marks)
        # Under 256 MiB a curve need not be at its rate.
        self.assertEqual(self.marks(curve("all_gather", {1 << 27: 1e6})), {})

    def test_noisy(self):
        steady = {1 << power: 30 + (1 << power) * 31 / 32 / 380e3 for power in range(10, 34)}
        noisy = {("s", "all_gather"): ["noisy"]}
        # Two small sizes that took longer than larger ones; one is an accident.
        self.assertEqual(self.marks(curve("all_gather", {**steady, 1 << 12: 60})), {})
        self.assertEqual(self.marks(curve("all_gather", {**steady, 1 << 12: 60, 1 << 14: 70})), noisy)
        # At 1 GiB three times the time: another GiB would have taken none.
        swing = {1 << power: 3 * steady[1 << power] for power in (29, 30)}
        self.assertEqual(self.marks(curve("all_gather", {**steady, **swing})), noisy)

    def test_late(self):
        start = {1 << power: 45 + (1 << power) / 350e3 for power in range(20, 34)}
        one = {"nodes": "1", "gpus": "8"}
        late = self.marks(curve("all_reduce", start, **one))
        self.assertEqual(late, {("s", "all_reduce"): ["late"]})
        self.assertEqual(setup_marks.of_size(late["s", "all_reduce"], (16 << 20) - 1), ["late"])
        self.assertEqual(setup_marks.of_size(late["s", "all_reduce"], 16 << 20), [])
        self.assertEqual(self.marks(curve("all_reduce", start)), {})

    def test_lines_that_say_too_little_are_passed_over(self):
        broken = curve("all_reduce", {1 << 30: 1e6})
        for column in ("bytes", "gpus", "nodes", "gpus_per_node"):
            self.assertEqual(self.marks([{**broken[0], column: "?"}]), {}, column)
        self.assertEqual(self.marks([{**broken[0], "time_us": ""}]), {})
        self.assertEqual(self.marks(curve("sendrecv", {1 << 30: 1e6})), {})

    def test_what_the_table_calls_faulty_is_marked(self):
        with TABLE.open(newline="") as file:
            table = list(csv.DictReader(file))
        marks = self.marks(table)
        marked = collections.Counter(setup for setup, _ in marks)
        self.assertGreaterEqual(marked["h100-roce-2-slow"], 3)
        # And not most of the table.
        curves = {(line["setup"], line["op"]) for line in table}
        self.assertLess(len(marks), len(curves) / 4)


if __name__ == "__main__":
    unittest.main()
