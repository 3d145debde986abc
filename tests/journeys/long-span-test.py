#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The way of a network researcher: a short script, its times of messages, its captures, a picture."""

import csv
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
EXAMPLE = pathlib.Path(os.environ["SCALEACROSS_PROGRAM"]).parent / "long-span"
SOURCE = TOP / "contrib" / "scaleacross" / "examples" / "long-span.cc"
WAYS = ("ecmp", "spray-adaptive")
MEMBERS, BYTES = 8, 1_600_000
MESSAGES = 8 * MEMBERS


class LongSpan(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        done = subprocess.run([EXAMPLE, f"--prefix={cls.folder}/run", f"--bytes={BYTES}"],
                              check=True, capture_output=True, text=True)
        cls.printed = done.stdout.splitlines()

    def rows(self, way):
        text = (self.folder / f"run-{way}.csv").read_text(encoding="ascii").splitlines()
        self.assertTrue(text[0].startswith("#"))
        return list(csv.DictReader(text[1:]))

    def test_the_script_is_short(self):
        code = [line for line in SOURCE.read_text(encoding="utf-8").splitlines()
                if line.strip() and not line.strip().startswith(("//", "#include"))
                and line.strip() not in ("{", "}")]
        self.assertLess(len(code), 60)

    def test_both_ways_end(self):
        for way in WAYS:
            self.assertTrue(any(line.startswith(way) and "all-reduce" in line
                                for line in self.printed), self.printed)
            tcp, = [line for line in self.printed if line.startswith(way) and "TCP" in line]
            self.assertEqual(int(tcp.split()[2]), BYTES)

    def test_every_message_has_a_row(self):
        # Each of four members of a building sends three parts of S / 4, exchanges S / 8 with its
        # equal across twice, and sends three of S / 4 again.
        expected = MEMBERS * (6 * [BYTES // 4] + 2 * [BYTES // 8])
        for way in WAYS:
            rows = self.rows(way)
            self.assertEqual(sorted(int(row["bytes"]) for row in rows), sorted(expected))
            for row in rows:
                self.assertEqual(row["label"], "all_reduce")
                # Times are rounded up to a picosecond on each of seven links at most.
                self.assertGreaterEqual(int(row["fct_ps"]), int(row["ideal_ps"]) - 7)
                slowdown = int(row["fct_ps"]) / int(row["ideal_ps"])
                self.assertAlmostEqual(float(row["slowdown"]), slowdown, places=5)
            crossing = [row for row in rows if int(row["fct_ps"]) >= 10**9]
            self.assertGreaterEqual(len(crossing), 2 * MEMBERS)  # takes 1 ms

    def test_captures_are_well_formed(self):
        if shutil.which("tshark") is None:
            if os.environ.get("CI"):
                raise RuntimeError("tshark is missing: apt install tshark")
            self.skipTest("tshark is not installed: apt install tshark")
        captures = sorted(self.folder.glob("run-*.pcap"))
        self.assertEqual(len(captures), len(WAYS))
        environment = dict(os.environ, HOME=str(self.folder), LC_ALL="C.UTF-8")
        for capture in captures:
            shown = subprocess.run(
                ["tshark", "-n", "-r", capture, "-T", "fields", "-e", "_ws.malformed",
                 "-e", "udp.dstport", "-e", "tcp.dstport"],
                check=True, capture_output=True, text=True, env=environment).stdout.splitlines()
            fields = [line.split("\t") for line in shown]
            self.assertEqual({malformed for malformed, _, _ in fields}, {""})
            self.assertIn("4791", {udp for _, udp, _ in fields})
            self.assertIn("5001", {tcp for _, _, tcp in fields})

    def test_the_picture_is_drawn(self):
        picture = self.folder / "fct.svg"
        files = [self.folder / f"run-{way}.csv" for way in WAYS]
        done = subprocess.run([sys.executable, TOP / "analysis" / "fct.py", *files, "-o", picture],
                              check=True, capture_output=True, text=True)
        text = picture.read_text(encoding="utf-8")
        for way in WAYS:
            self.assertIn(f"run-{way}: all_reduce ({MESSAGES})", text)
        self.assertEqual(len(done.stdout.splitlines()), len(WAYS))

    def test_other_files_are_refused(self):
        wrong = self.folder / "wrong.csv"
        wrong.write_text("a,b\n1,2\n", encoding="ascii")
        done = subprocess.run([sys.executable, TOP / "analysis" / "fct.py", wrong],
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("wrong.csv: has no columns", done.stderr)


if __name__ == "__main__":
    unittest.main()
