#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the documents and the picture say of the studies is what the program finds."""

import math
import os
import pathlib
import re
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
sys.path.insert(0, str(TOP / "analysis"))
import claims  # noqa: E402


class Claims(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.facts = claims.read_facts()

    def test_documents_and_picture_say_what_was_found(self):
        self.assertEqual(claims.check_documents(self.facts), [])

    def test_every_document_has_claims(self):
        for document in claims.DOCUMENTS:
            self.assertTrue(claims.MARK.findall((claims.TOP / document).read_text()), document)

    def test_plans_take_what_is_printed(self):
        self.assertEqual(claims.check_plans(PROGRAM, self.facts), [])

    def test_the_study_of_the_readme_finds_what_is_printed(self):
        self.assertEqual(claims.check_search(PROGRAM, self.facts, "maverick"), [])

    def test_engines_agree_on_the_small_study_as_its_page_says(self):
        page = (TOP / "examples" / "small-two-buildings" / "README.md").read_text()
        agreed, closely, plans, best_ms, exposed = re.search(
            r"times agree\s+within ([\d.]+) %, those of (\d+) of the (\d+) plans within 0.1 %.*"
            r" best plan's ([\d.]+) ms\s+([\d.]+) % are exposed", page, re.DOTALL).groups()
        with tempfile.TemporaryDirectory() as folder:
            runs = [run for run in claims.call(PROGRAM, "compare",
                                               claims.study_file("small-two-buildings"),
                                               "--db", pathlib.Path(folder) / "small.db")["rows"]
                    if run["engine"] == "analytical" and run["iteration_time_s"]]
        errors = [abs(run["relative_error"]) for run in runs]
        self.assertEqual(len(errors), int(plans))
        self.assertEqual(sum(error <= 0.001 for error in errors), int(closely))
        # Stated to half a per cent, upwards.
        self.assertEqual(math.ceil(200 * max(errors)) / 2, float(agreed))
        best = min(runs, key=lambda run: run["iteration_time_s"])
        time = best["iteration_time_s"]
        self.assertEqual(f"{1e3 * time:#.3g}", best_ms)
        parts = sum(part["exposed_s"] for part in best["classes"].values())
        self.assertEqual(f"{100 * parts / time:.0f}", exposed)

    def test_a_wrong_figure_is_found(self):
        document = claims.DOCUMENTS[1]
        texts = claims.texts_of(self.facts)
        texts["maverick.time"] = "1 ms"
        self.assertIn("<!--=maverick.time-->1 ms<!--/-->", claims.rendered(document, texts))
        self.assertEqual(claims.differences({"a": {"b": 1.0, "c": 2}}, {"a": {"b": 1.1, "c": 2}},
                                            "facts"),
                         ["facts.a.b is 1.0 in claims.json, now 1.1"])


if __name__ == "__main__":
    unittest.main()
