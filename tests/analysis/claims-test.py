#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What the documents and the picture say of the studies is what the program finds."""

import os
import pathlib
import sys
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
            self.assertGreater(len(claims.MARK.findall((claims.TOP / document).read_text())), 5,
                               document)

    def test_plans_take_what_is_printed(self):
        self.assertEqual(claims.check_plans(PROGRAM, self.facts), [])

    def test_the_study_of_the_readme_finds_what_is_printed(self):
        self.assertEqual(claims.check_search(PROGRAM, self.facts, "maverick"), [])

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
