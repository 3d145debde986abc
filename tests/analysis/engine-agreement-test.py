#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Drawn studies have all that can be said, are the same for a seed, and are compared as printed."""

import contextlib
import csv
import io
import itertools
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]

sys.path.insert(0, str(TOP / "analysis"))
import drawn_studies  # noqa: E402
import engine_agreement  # noqa: E402
import measuring  # noqa: E402


class DrawnStudies(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.registries = drawn_studies.Registries(PROGRAM)

    def first(self, number, seed, kind):
        return next(drawn_studies.studies_of(number, seed, kind, self.registries))

    def said(self, kind, count):
        """Every pair of a field and what studies of a kind say in it."""
        found = set()

        def look(at, name):
            for key, value in at.items():
                if isinstance(value, dict):
                    look(value, f"{name}.{key}")
                else:
                    found.add((f"{name}.{key}", value))
        for number in range(count):
            study = self.first(number, 7, kind)
            look(study["plan"], "plan")
            look(study.get("network", {}), "network")
        return found

    def test_every_field_is_drawn_or_says_why_not(self):
        fields = set(self.registries.fields)
        for name in self.registries.drawn("plan") + self.registries.drawn("network"):
            self.assertTrue(self.registries.values_of(name), name)
        self.assertEqual(set(drawn_studies.AMOUNTS) - fields, set(), "fields that are gone")
        self.assertEqual(set(drawn_studies.OTHERWISE) - fields, set(), "fields that are gone")
        self.registries.fields.append("network.new")
        self.addCleanup(self.registries.fields.remove, "network.new")
        self.assertIn("network.new", self.registries.drawn("network"))
        with self.assertRaisesRegex(measuring.InputError, "network.new: nothing says what to draw"):
            self.registries.values_of("network.new")

    def test_every_word_occurs(self):
        found = self.said("any", 4000)
        names = [*self.registries.drawn("plan"), *self.registries.drawn("network"),
                 "plan.schedule", "plan.sharding"]
        self.assertIn("network.nccl_protocol", names)
        self.assertIn(("plan.etp", 2), found)
        for name in names:
            there = {value for field, value in found if field == name}
            self.assertTrue(there, name)
            if not drawn_studies.TIERS.fullmatch(name):  # some hundred values, rarely drawn
                self.assertGreaterEqual(there, set(self.registries.values_of(name)), name)
        controls = {word for name, word in self.said("controls", 100) if name == "network.control"}
        self.assertEqual(controls, set(self.registries.values_of("network.control")))

    def test_plain_studies_leave_the_network_alone(self):
        for number in range(50):
            study = self.first(number, 7, "plain")
            self.assertNotIn("network", study)
            self.assertNotIn("loss", study["cluster"]["cross"])
            gpus = sum(building["gpus"] for building in study["cluster"]["buildings"])
            self.assertLessEqual(gpus, 64)

    def test_a_seed_gives_the_same_studies(self):
        ten = [list(itertools.islice(drawn_studies.studies_of(4, seed, "any", self.registries), 10))
               for seed in (1, 1, 2)]
        self.assertEqual(ten[0], ten[1])
        self.assertNotEqual(ten[0], ten[2])
        self.assertNotEqual(self.first(4, 1, "any"), self.first(5, 1, "any"))


class EngineAgreement(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, *words):
        """Exit code, and what is said on standard output and error."""
        out, error = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            try:
                code = engine_agreement.main([*words, "--program", PROGRAM])
            except SystemExit as left:
                code = left.code
        return code, out.getvalue(), error.getvalue()

    def test_what_errors_come_to(self):
        # Of the sizes 1, 2, ..., 8, 30 and 40 % nine are up to 30 %, half up to (5 + 6) / 2 %; five
        # are within 5 %, eight within 25 %.
        errors = [0.01, -0.02, 0.03, -0.04, 0.05, -0.06, 0.07, -0.08, 0.3, -0.4]
        self.assertEqual(engine_agreement.summary_of(errors),
                         ["5.5 %", "30.0 %", "-1.4 %", "50 %", "80 %", "-40 %"])

    def test_studies_are_run_as_they_are_kept(self):
        table = self.folder / "rows.csv"
        code, out, error = self.call("plain", "--draws", "2", "--seed", "3", "--csv", str(table),
                                     "--keep", str(self.folder / "kept"), "--set",
                                     "network.qps=1")
        self.assertEqual((code, error), (0, ""))
        with table.open(newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 2 * len(engine_agreement.ENGINES))
        for row in rows:
            study = self.folder / "kept" / f"{row['id']}.yaml"
            ended = subprocess.run([PROGRAM, "run", str(study), "--set", "network.qps=1",
                                    "--engine", row["engine"], "--no-store", "--json"],
                                   capture_output=True, text=True, check=True)
            time = json.loads(ended.stdout)["iteration_time_s"]
            self.assertEqual(float(row["iteration_time_s"]), time)
            self.assertAlmostEqual(float(row["error"]), time / float(row["packet_s"]) - 1)
            self.assertIn(f"| 2 plain | `{row['engine']}` |", out)

    def test_pages_have_the_tables_of_the_rows(self):
        tables = {path.stem: engine_agreement.table_of(engine_agreement.read_rows(path), path.stem)
                  for path in engine_agreement.ROWS.glob("*.csv")}
        self.assertEqual(set(tables), set(drawn_studies.KINDS))
        shown = set()
        for page in engine_agreement.PAGES:
            text = page.read_text(encoding="utf-8")
            shown |= {found[1] for found in engine_agreement.MARK.findall(text)}
            self.assertEqual(engine_agreement.page_with(text, tables), text)
            emptied = engine_agreement.MARK.sub(r"\1\3", text)
            self.assertNotEqual(emptied, text)
            self.assertEqual(engine_agreement.page_with(emptied, tables), text)
        self.assertEqual(shown, set(tables))

    def test_the_program_warns_of_what_the_rows_say(self):
        # Of ten the one in ten that took less than the others, and the one that took more; how many
        # are off by more than 5 %, and the one that is farthest off.
        rows = [{"engine": "flow", "error": number / 100} for number in range(-3, 7)]
        self.assertEqual(engine_agreement.known_rows("losses", rows),
                         ['        {"losses", "flow", 10, 0.98, 1.05, 1, 1.06},\n'])
        text = engine_agreement.KNOWN.read_text(encoding="utf-8")
        known = engine_agreement.all_known()
        self.assertEqual(engine_agreement.known_text(text, known), text)
        self.assertNotEqual(engine_agreement.known_text(text, {}), text)

    def test_the_first_rows_are_found_again(self):
        for kind, count in (("plain", 6), ("any", 2), ("infiniband", 1), ("trimming", 1),
                            ("controls", 1), ("losses", 1), ("limits", 1)):
            rows = engine_agreement.read_rows(engine_agreement.ROWS / f"{kind}.csv")
            seed = rows[0]["id"].split("-")[1]
            table = self.folder / f"{kind}.csv"
            code, _, _ = self.call(kind, "--draws", str(count), "--seed", seed, "--csv", str(table))
            self.assertEqual(code, 0, kind)
            first = {f"{kind}-{seed}-{number}" for number in range(count)}
            self.assertEqual(engine_agreement.read_rows(table),
                             [row for row in rows if row["id"] in first], kind)

    def test_wrong_use_ends_with_2_and_writes_nothing(self):
        for words, what in ((("plane",), "invalid choice: 'plane'"),
                            (("plain", "--draws", "0"), "out of range"),
                            (("plain", "--seed", "x"), "not a whole number"),
                            (("plain", "--draws", "1", "--set", "network.qp=1"), "none of 100"),
                            (("plain", "--draws", "1", "--page", "--set", "network.qps=1"),
                             "leave out --set"),
                            (("plain", "--draws", "1", "--keep", __file__), "File exists")):
            table = self.folder / "rows.csv"
            code, out, error = self.call(*words, "--csv", str(table))
            self.assertEqual((code, out), (2, ""), words)
            self.assertIn(what, error)
            self.assertFalse(table.exists())


if __name__ == "__main__":
    unittest.main()
