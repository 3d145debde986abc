#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The table that "within the model's error" stands on: recomputed, and equal to the printed one."""

import os
import pathlib
import re
import sys
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(TOP / "analysis"))
import pair_order  # noqa: E402


class PairOrder(unittest.TestCase):
    def test_worked_case(self):
        # Modelled 10, 11 and 13 where 1.0, 1.2 and 1.1 were measured: 10 before 11 and 10 before 13
        # are right, 11 before 13 is wrong. They differ by 10, 30 and 18 %.
        pairs = sorted(pair_order.pairs_of([(1.0, 10), (1.2, 11), (1.1, 13)]))
        self.assertEqual([right for _, right in pairs], [True, False, True])
        for (excess, _), expected in zip(pairs, (0.1, 13 / 11 - 1, 0.3)):
            self.assertAlmostEqual(excess, expected)
        self.assertIn("| 15 to 20 % | 1 | 0 % |\n| 20 % or more | 1 | 100 % |",
                      pair_order.table_of(pairs))

    def test_the_page_prints_what_is_found(self):
        pairs = [pair for rows in pair_order.ROWS
                 for pair in pair_order.pairs_of(
                     pair_order.modelled(os.environ["SCALEACROSS_PROGRAM"], rows))]
        self.assertEqual(len(pairs), 15 * 14 // 2 + 22 * 21 // 2)
        page = (TOP / "contrib" / "scaleacross" / "doc" / "compute.md").read_text()
        self.assertIn(pair_order.table_of(pairs), page)

    def test_the_model_s_error_follows(self):
        # "10 to 15 %": between the two the model passes 85 % of pairs ordered rightly, and stays
        # above 90 % beyond.
        header = (TOP / "contrib/scaleacross/core/explore/model-error.h").read_text()
        low = float(re.search(r"kModelErrorFrom = ([\d.]+)", header)[1])
        high = float(re.search(r"kModelErrorTo = ([\d.]+)", header)[1])
        pairs = [pair for rows in pair_order.ROWS
                 for pair in pair_order.pairs_of(
                     pair_order.modelled(os.environ["SCALEACROSS_PROGRAM"], rows))]

        def share(begin, end):
            right = [order for excess, order in pairs if begin <= excess < end]
            return sum(right) / len(right)

        self.assertLess(share(0, low), 0.85)
        self.assertGreater(share(high, float("inf")), 0.90)


if __name__ == "__main__":
    unittest.main()
