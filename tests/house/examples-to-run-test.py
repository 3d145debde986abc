#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every example is in the list that ns-3's test.py reads, and nothing else is."""

import pathlib
import runpy
import unittest

MODULE = pathlib.Path(__file__).resolve().parents[2] / "contrib" / "scaleacross"


class ExamplesToRun(unittest.TestCase):
    def test_all_are_listed(self):
        listed = runpy.run_path(str(MODULE / "test" / "examples-to-run.py"))["cpp_examples"]
        names = [command.split()[0] for command, *_ in listed]
        self.assertEqual(names, sorted(path.stem for path in (MODULE / "examples").glob("*.cc")))
        for _, *flags in listed:
            self.assertTrue(all(flag in ("True", "False") for flag in flags))


if __name__ == "__main__":
    unittest.main()
