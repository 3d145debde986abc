#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What compare prints keeps to its schema, and the picture of errors shows what it says."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

import jsonschema

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
SCHEMA = TOP / "contrib" / "scaleacross" / "schemas" / "comparison.json"
STUDY = TOP / "examples" / "small-two-buildings" / "study.yaml"

sys.path.insert(0, str(TOP / "analysis"))
import engine_errors  # noqa: E402


class EngineErrors(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.out = self.folder / "errors.svg"

    def compare(self, *words):
        ended = subprocess.run([PROGRAM, "compare", str(STUDY), "--set", "search={}", "--json",
                                "--db", "a.db", *words],
                               cwd=self.folder, capture_output=True, text=True, check=True)
        report = json.loads(ended.stdout)
        schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
        jsonschema.Draft202012Validator.check_schema(schema)
        jsonschema.Draft202012Validator(schema).validate(report)
        return report

    def draw(self, report):
        """Exit code and what is said on standard error."""
        (self.folder / "report.json").write_text(json.dumps(report), encoding="utf-8")
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            code = engine_errors.main([str(self.folder / "report.json"), "-o", str(self.out)])
        return code, said.getvalue()

    def test_reports_keep_to_the_schema_and_are_drawn(self):
        report = self.compare("--sweep", "network.qps=1,4", "--sweep",
                              "cluster.cross.oversubscription=1,16", "--engines",
                              "analytical,flow")
        self.assertEqual(report["cases"], 4)
        self.assertEqual(self.draw(report), (0, ""))
        root = xml.etree.ElementTree.parse(self.out).getroot()
        said = " ".join("".join(part.itertext()) for part in root.iter() if part.text)
        for words in ("Errors of 4 cases against flow", "network.qps",
                      "cluster.cross.oversubscription"):
            self.assertIn(words, said)

    def test_what_has_not_run_keeps_to_the_schema(self):
        report = self.compare("--engines", "analytical,command:exit 1", "--seeds", "2")
        self.assertEqual(report["reference"], "analytical")
        self.assertEqual(report["errors"], [])
        code, said = self.draw(report)
        self.assertEqual(code, 2)
        self.assertIn("no case has run on two engines", said)
        self.assertFalse(self.out.exists())

    def test_parts_keep_to_the_schema(self):
        # 64 GPUs, a half of which has 4 of 8 replicas.
        report = self.compare("--engines", "analytical,flow", "--scale-down", "--scale-to", "32")
        self.assertEqual([row["scaled"]["part"] for row in report["rows"]], ["1/2", "1/2"])
        self.assertEqual(report["worst"][0]["scaled"]["factor"], 2)

    def test_steps_are_at_the_errors(self):
        errors = engine_errors.errors_by_engine(
            {"reference": "b", "rows": [{"engine": "a", "relative_error": -0.1, "point": {}},
                                        {"engine": "b", "relative_error": 0, "point": {}},
                                        {"engine": "a", "relative_error": None, "point": {}}]})
        self.assertEqual(errors, {"a": [(-0.1, {})]})

    def test_wrong_input_is_refused(self):
        code, said = self.draw({"rows": []})
        self.assertEqual(code, 2)
        self.assertIn("compare STUDY --json", said)
        self.assertFalse(self.out.exists())


if __name__ == "__main__":
    unittest.main()
