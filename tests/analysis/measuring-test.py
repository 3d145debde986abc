#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Numbers of options are checked before anything is run or written, and complaints stay whole."""

import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
ANALYSIS = TOP / "analysis"
STUDY = TOP / "examples" / "small-two-buildings" / "study.yaml"
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]

sys.path.insert(0, str(ANALYSIS))
import measuring  # noqa: E402

COUNTS = ["0", "-1", "1.5", "many", ""]
SIZES = ["0", "-1", "1025G", "64Q", "1.5M", "", "1M,0", "64K,,1M", "1M,1024K"]
DISTANCES = ["-1", "40001", "nan", "inf", "30km", "", "1,,3", "1,1.0"]
LOSSES = ["-1e-9", "0.51", "nan", "1 %", "", "0,0"]
ONE_SIZE = [text for text in SIZES if "," not in text]
# With what each script would begin, and numbers that its options do not take.
SCRIPTS = {
    "collective_distance.py": (["-o", "a.svg"], {
        "--jobs": [*COUNTS, "4097"], "--seed": [*COUNTS, "4294967296"], "--distances": DISTANCES,
        "--losses": LOSSES, "--sizes": SIZES, "--table-sizes": SIZES, "--bytes": ONE_SIZE}),
    "control_papers.py": ([], {"--jobs": [*COUNTS, "4097"]}),
    "design_points.py": ([], {"--jobs": COUNTS, "--threads": [*COUNTS, "4097"]}),
    "engine_agreement.py": (["plain"], {
        "--jobs": [*COUNTS, "4097"], "--draws": COUNTS, "--seed": [*COUNTS, "4294967296"],
        "--first": [text for text in COUNTS if text != "0"], "--limit": COUNTS}),
    "error_map.py": ([STUDY, "--engines", "analytical"], {
        "--jobs": [*COUNTS, "4097"], "--seeds": [*COUNTS, "1001"], "--iterations": [*COUNTS, "1001"],
        "--distances": DISTANCES, "--losses": LOSSES, "--sizes": SIZES}),
    "fit_curve.py": (["rows.csv", "--fit", "a.b=1"], {"--digits": [*COUNTS, "18"]}),
    "fit_published.py": (["table.csv"], {"--rounds": [*COUNTS, "1001"]}),
    "nccl_distance.py": (["-o", "a.svg"], {"--jobs": COUNTS, "--distances": DISTANCES}),
    "study_figure.py": (["a.db", "-o", "a.svg"], {"--search": COUNTS}),
    "study_picture.py": (["-o", "a.svg"], {
        "--jobs": COUNTS, "--seeds": [*COUNTS, "1001"], "--distances": DISTANCES, "--losses": LOSSES,
        "--bytes": ONE_SIZE}),
    "tornado.py": (["a.json", "-o", "a.svg"], {"--top": COUNTS}),
}


def collective(*words):
    """Exit code of the program's collective with these words."""
    return subprocess.run([PROGRAM, "collective", STUDY, "--json", *words], capture_output=True,
                          check=False).returncode


class Options(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def said(self, script, *words):
        """What a script complains of, which leaves nothing behind and ends with 2."""
        ended = subprocess.run([sys.executable, ANALYSIS / script, *words], capture_output=True,
                               text=True, check=False, cwd=self.folder,
                               env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
        self.assertEqual((ended.returncode, ended.stdout), (2, ""), (script, words, ended.stderr))
        self.assertEqual(list(self.folder.iterdir()), [], (script, words))
        return ended.stderr

    def test_every_option_says_what_it_takes(self):
        for script, (words, options) in SCRIPTS.items():
            for option, values in options.items():
                self.assertRegex(
                    self.said(script, *words, f"{option}={values[0]}").splitlines()[-1],
                    rf"^{script}: error: argument {option}: '{values[0]}' is [a-z ]+; give .*\d")

    def test_no_option_takes_a_number_as_it_comes(self):
        taken = {}
        for path in ANALYSIS.glob("*.py"):
            text = path.read_text()
            self.assertNotRegex(text, r"type=(int|float)\b|listed\((int|float)\)|type=lambda", path)
            own = [re.search('"(--[a-z-]+)"', part)[1] for part in text.split("add_argument(")[1:]
                   if re.search(r"type=(measuring\.)?(listed|whole|size|kilometres|loss)\b(?!\(str\))",
                                part)]
            own += ["--jobs"] if "add_jobs(parser)\n" in text else []
            if own and path.name != "measuring.py":
                taken[path.name] = sorted(own)
        known = {script: sorted(options) for script, (_, options) in SCRIPTS.items()}
        self.assertEqual(taken, known)

    def test_every_wrong_value_is_refused(self):
        kinds = {"--sizes": measuring.listed(measuring.size), "--bytes": measuring.size,
                 "--distances": measuring.listed(measuring.kilometres),
                 "--losses": measuring.listed(measuring.loss),
                 "--seeds": measuring.whole(1, 1000)}
        for script in ("error_map.py", "study_picture.py"):
            for option, values in SCRIPTS[script][1].items():
                for value in values if option in kinds else ():
                    with self.assertRaises(argparse.ArgumentTypeError, msg=(option, value)) as said:
                        kinds[option](value)
                    self.assertRegex(str(said.exception), r"^'.*' (is|has) .*; give ")

    def test_what_is_right_is_taken(self):
        self.assertEqual(measuring.listed(measuring.size)("1,64K,16M,1024G"),
                         [1, 65536, 16777216, 1099511627776])
        self.assertEqual(measuring.listed(measuring.kilometres)("0,0.5,40000"), [0, 0.5, 40000])
        self.assertEqual(measuring.listed(measuring.loss)("0,1e-4,0.5"), [0, 0.0001, 0.5])
        self.assertEqual(f"{measuring.loss('-0'):g}", "0")
        self.assertEqual([measuring.whole(1, 9)(text) for text in "19"], [1, 9])
        self.assertEqual(measuring.whole(1)("10000000000"), 10**10)

    def test_limits_are_the_programs(self):
        """The most is taken by the program, and what is just above it is not."""
        small = ["-b", "1M", "-e", "1M"]
        for most, above, words in (
                (f"{measuring.MOST_LOSS}", "0.5001", lambda n: ["--set", f"cluster.cross.loss={n}"]),
                (measuring.MOST_KM, 40000.1, lambda n: ["--set", f"cluster.cross.distance={n}km"]),
                (measuring.MOST_ITERATIONS, 1001, lambda n: ["--iterations", f"{n}"]),
                (measuring.MOST_SEED, 2**32, lambda n: ["--seed", f"{n}"])):
            self.assertEqual(collective(*small, *words(most)), 0, most)
            self.assertEqual(collective(*small, *words(above)), 2, above)
        for size, code in ((measuring.MOST_BYTES, 0), (measuring.MOST_BYTES + 1, 2)):
            self.assertEqual(collective("-b", f"{size}", "-e", f"{size}"), code, size)
        text = subprocess.run([PROGRAM, "explore", STUDY, "--jobs", str(measuring.MOST_JOBS + 1)],
                              capture_output=True, text=True, check=False).stderr
        self.assertIn(f"allowed: a whole number 1 to {measuring.MOST_JOBS}\n", text)

    def test_a_complaint_of_the_program_is_passed_on_whole(self):
        engine = subprocess.run([PROGRAM, "collective", STUDY, "--json", "--engine", "wrong"],
                                capture_output=True, text=True, check=False).stderr
        self.assertRegex(engine, r"'wrong' is not known\n  allowed: analytical, ")
        rows = tempfile.NamedTemporaryFile()  # of packets, which may run beside it
        self.addCleanup(rows.close)
        self.assertEqual(self.said("error_map.py", STUDY, "--engines", "wrong", "--program", PROGRAM,
                                   "--rows", rows.name),
                         f"error_map.py: error: wrong, 64 KiB: {engine}")
        op = subprocess.run([PROGRAM, "collective", STUDY, "--json", "--op", "all_reduced"],
                            capture_output=True, text=True, check=False).stderr
        self.assertRegex(op, r"\n  allowed: all_reduce, .*\n  remedy: did you mean all_reduce\?\n$")
        self.assertEqual(self.said("collective_distance.py", "-o", "a.svg", "--op", "all_reduced",
                                   "--program", PROGRAM), f"collective_distance.py: {op}")

    def test_a_cell_of_a_table_has_what_is_wrong(self):
        self.assertEqual(measuring.problem_of("scaleacross: warning: slow\nscaleacross: error: a is b\n"
                                              "  allowed: c\n  remedy: d"), "scaleacross: error: a is b")
        self.assertEqual(measuring.problem_of(""), "")

    def test_sizes_and_counts_in_words(self):
        self.assertEqual([measuring.size_text(size) for size in (0, 1, 1024, 1536, 2**20, 3 * 2**30)],
                         ["0 B", "1 B", "1 KiB", "1536 B", "1 MiB", "3 GiB"])
        self.assertEqual([measuring.counted(n, "case") for n in (0, 1, 2)],
                         ["0 cases", "1 case", "2 cases"])

    def test_a_row_that_is_none_is_measured_again(self):
        rows = self.folder / "rows.jsonl"
        rows.write_bytes(b'{"case": 1, "time": 2}\n5\nnull\n[]\n\xff\n{"case": 3, "ti')
        self.assertEqual(measuring.read_rows(rows), {"1": {"case": 1, "time": 2}})

    def test_a_file_of_rows_is_left_only_with_rows(self):
        def fail(case):
            if case == 2:
                raise measuring.InputError("no")
            return {"time": 1}
        rows = self.folder / "rows.jsonl"
        for cases, left in (([2], None), ([1, 2], '{"case": 1, "time": 1}\n')):
            with self.assertRaises(measuring.InputError):
                measuring.measure(cases, rows, 1, fail)
            self.assertEqual(rows.read_text() if rows.exists() else None, left)


if __name__ == "__main__":
    unittest.main()
