#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Releases of ns-3: the page, README, the compatibility header and CMake name the same ones."""

import pathlib
import re
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
MODULE = TOP / "contrib" / "scaleacross"
PAGE = (MODULE / "doc" / "ns3-releases.md").read_text(encoding="utf-8")
HEADER = (MODULE / "model" / "ns3-compat.h").read_text(encoding="utf-8")
CMAKE = (TOP / "cmake" / "InstalledNs3.cmake").read_text(encoding="utf-8")
README = (TOP / "README.md").read_text(encoding="utf-8")


class Releases(unittest.TestCase):
    def test_both_ends(self):
        oldest, newest = re.search(
            r"between ns-(3\.\d+) and the newest ns-3 this module is built with "
            r"\((main of \d{4}-\d\d-\d\d|3\.\d+)\)",
            HEADER).groups()
        self.assertEqual(re.search(r"VERSION_LESS (3\.\d+)", CMAKE)[1], oldest)
        self.assertIn(f"ns-{oldest} or newer", README)
        self.assertIn(f"nothing newer than {newest} has been built", README)
        rows = re.findall(r"^\| ([^|]*?(?:3\.\d+|main of)[^|]*?) \|", PAGE, re.MULTILINE)
        self.assertTrue(rows[0].startswith(oldest), rows)
        self.assertTrue(any(row.startswith(newest) and row.endswith("in a tree") for row in rows),
                        rows)

    def test_languages_and_targets(self):
        for release, standard in re.findall(
                r"VERSION_GREATER_EQUAL (3\.\d+)\)\n\s*set\(CMAKE_CXX_STANDARD (\d+)", CMAKE):
            self.assertIn(f"C++{standard} from {release} on", PAGE)
        old, new = re.search(r"up to (3\.\d+) and ns3::core from (3\.\d+) on", CMAKE).groups()
        self.assertIn(f"`ns3::libcore` up to {old}, `ns3::core` from {new} on", PAGE)

    def test_what_is_named_is_there(self):
        for path in ("tests/in-tree.sh", "tests/house/check-compat.sh",
                     "tests/house/newer-ns3-test.py", "cmake/InstalledNs3.cmake"):
            self.assertIn(path, PAGE)
            self.assertTrue((TOP / path).is_file(), path)
        self.assertIn("EnumAccessor(Members... members)", HEADER)
        for constant in re.findall(r"`(k[A-Z]\w+)`", PAGE):
            self.assertRegex(HEADER, rf"constexpr \w+ {constant} =")


if __name__ == "__main__":
    unittest.main()
