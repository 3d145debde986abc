#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The table of measured collectives is what its page says: unique, whole, and consistent."""

import csv
import pathlib
import unittest

HERE = pathlib.Path(__file__).resolve().parent

# Bus over algorithm bandwidth of n ranks, as nccl-tests' doc/PERFORMANCE.md defines them.
FACTORS = {"all_reduce": lambda n: 2 * (n - 1) / n, "all_gather": lambda n: (n - 1) / n,
           "reduce_scatter": lambda n: (n - 1) / n, "alltoall": lambda n: (n - 1) / n,
           "sendrecv": lambda n: 1}
OTHERS = {"ep_dispatch", "ep_combine", "ep_dispatch_ll", "ep_combine_ll", "alltoall_torch",
          "p2p_alltoall_msg", "all_reduce_ratio"}
FAULTY = {"h100-roce-2-slow", "v100-8-slow"}


class Published(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with (HERE / "published.csv").open(newline="") as file:
            cls.rows = list(csv.DictReader(file))
        cls.page = (HERE / "README.md").read_text()

    def test_ids_are_unique(self):
        self.assertIn(f"{len(self.rows):,} measured times", self.page)
        self.assertEqual(len({row["id"] for row in self.rows}), len(self.rows))

    def test_every_column_is_described(self):
        for column in self.rows[0]:
            self.assertIn(f"`{column}`", self.page)

    def test_every_line_says_what_was_measured(self):
        for row in self.rows:
            self.assertNotIn(None, row.values(), row["id"])
            self.assertTrue(row["id"].startswith(row["setup"]), row["id"])
            self.assertIn(row["op"], FACTORS.keys() | OTHERS, row["id"])
            self.assertEqual(int(row["gpus_per_node"]) * int(row["nodes"]), int(row["gpus"]),
                             row["id"])
            for column in ("source", "date", "gpu", "intra_link", "nic", "fabric"):
                self.assertTrue(row[column], (row["id"], column))
            figures = [row[column] for column in ("time_us", "algbw", "busbw") if row[column]]
            self.assertTrue(figures, row["id"])
            for figure in figures:
                self.assertGreaterEqual(float(figure), 0, row["id"])

    def test_a_setup_is_one_machine(self):
        machines = {}
        for row in self.rows:
            machine = tuple(row[column] for column in ("source", "gpu", "nodes", "intra_link",
                                                       "nic", "fabric"))
            self.assertEqual(machines.setdefault(row["setup"], machine), machine, row["id"])
        self.assertLessEqual(FAULTY, machines.keys())

    def test_size_over_time_is_the_algorithm_bandwidth(self):
        checked = 0
        for row in self.rows:
            if row["op"] in FACTORS and row["time_us"] and row["algbw"] and float(row["algbw"]) > 1:
                found = int(row["bytes"]) / 1e3 / float(row["time_us"])
                self.assertAlmostEqual(found / float(row["algbw"]), 1, delta=0.03, msg=row["id"])
                checked += 1
        self.assertGreater(checked, 600)

    def test_bandwidths_have_the_ratio_of_their_ranks(self):
        checked = 0
        for row in self.rows:
            if row["op"] in FACTORS and row["algbw"] and row["busbw"] and float(row["algbw"]) > 20:
                factor = float(row["busbw"]) / float(row["algbw"])
                expected = FACTORS[row["op"]](int(row["gpus"]))
                self.assertAlmostEqual(factor / expected, 1, delta=0.005, msg=row["id"])
                checked += 1
        self.assertGreater(checked, 400)


if __name__ == "__main__":
    unittest.main()
