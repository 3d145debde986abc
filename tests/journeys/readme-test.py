#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The first hour: what README says to type works, in its order, and the page of commands has all."""

import json
import pathlib
import re
import subprocess
import tempfile
import unittest

from pages import PROGRAM, TOP, call, commands_of

PAGE = TOP / "contrib" / "scaleacross" / "doc" / "commands.md"
WRAPPERS = {"test", "build", "script", "report"}


class Readme(unittest.TestCase):
    def test_what_it_says_to_try_works(self):
        text = (TOP / "README.md").read_text(encoding="utf-8")
        tried = text[text.index("## Try it"):text.index("### In an ns-3 tree")]
        commands = commands_of(tried)
        self.assertEqual([words[0] for words in commands],
                         ["explore", "test", "report", "run", "explore"])
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "examples").symlink_to(TOP / "examples")
            for words in commands:
                if words != ["test"]:  # which this is a part of
                    call(words, folder)
            self.assertIn("Llama", (folder / "report.html").read_text(encoding="utf-8").title())
            trace = json.loads((folder / "trace.json").read_text(encoding="utf-8"))
            self.assertGreater(len(trace["traceEvents"]), 1000)

    def test_the_page_of_commands_has_all(self):
        said = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True)
        commands = said.stdout.split("Subcommands:")[1].split("\n\n")[0]
        known = set(re.findall(r"^  ([a-z-]+) ", commands, re.MULTILINE))
        shown = {words[0] for words in commands_of(PAGE.read_text(encoding="utf-8"))}
        self.assertEqual(known - shown, set())
        self.assertEqual(shown - known - WRAPPERS, set())


if __name__ == "__main__":
    unittest.main()
