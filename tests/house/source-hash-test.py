# SPDX-License-Identifier: GPL-2.0-only
"""The hash of the sources that stored results are found by: what changes it and what does not."""

import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

PROGRAM = os.environ["SCALEACROSS_SOURCE_HASH"]
MODULE = Path(__file__).resolve().parents[2] / "contrib" / "scaleacross"

TEXT = """// A comment.
int f(int a)
{
    const char* address = "http://a  b"; /* another */
    return a * 1'000 + 'x';
}
"""


class SourceHash(unittest.TestCase):
    def setUp(self):
        self.folder = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("core/engine", "core/store", "core/io", "data/models", "model", "helper"):
            (self.folder / name).mkdir(parents=True)
        self.write("core/engine/a.cc", TEXT)
        self.write("model/a.cc", TEXT)
        self.write("data/models/a.yaml", "a: 1\n")

    def write(self, name, text):
        (self.folder / name).write_text(text)

    def hashes(self, folder=None, ns3="3.37"):
        """Those of core and of the module."""
        out = self.folder / "out.txt"
        subprocess.run([PROGRAM, out, folder or self.folder, ns3], check=True)
        found = re.findall(r'"([0-9a-f-]{36})"', out.read_text())
        out.unlink()
        self.assertEqual(len(found), 2)
        return found

    def test_words_count_comments_and_layout_do_not(self):
        before = self.hashes()
        for same in (
            TEXT.replace("// A comment.", "// Another, with a \" and a '."),
            TEXT.replace("/* another */", ""),
            TEXT.replace("\n    ", "\n\t"),
            TEXT.replace("{\n", "{\n\n\n"),
        ):
            self.write("core/engine/a.cc", same)
            self.assertEqual(self.hashes(), before, same)
        for other in (
            TEXT.replace("1'000", "1'001"),
            TEXT.replace("a  b", "a b"),
            TEXT.replace("http://a", "http://b"),
            TEXT.replace("'x'", "'y'"),
            TEXT.replace("return a", "returna"),
            TEXT + "int g;\n",
        ):
            self.write("core/engine/a.cc", other)
            core, module = self.hashes()
            self.assertNotEqual(core, before[0], other)
            self.assertNotEqual(module, before[1], other)

    def test_new_files_count_and_names_do_not(self):
        before = self.hashes()
        (self.folder / "core/engine/a.cc").rename(self.folder / "core/b.cc")
        self.assertEqual(self.hashes(), before)
        (self.folder / "core/new").mkdir()
        self.write("core/new/rule.h", "constexpr int rule = 1;\n")
        self.assertNotEqual(self.hashes()[0], before[0])

    def test_each_engine_has_its_own(self):
        core, module = self.hashes()
        self.write("helper/h.h", "int h;\n")
        self.assertEqual(self.hashes()[0], core)
        self.assertNotEqual(self.hashes()[1], module)
        self.assertNotEqual(self.hashes(ns3="3.38")[1], self.hashes()[1])
        for name in ("core/store/s.cc", "core/io/s.cc"):
            self.write(name, "int s;\n")
        self.assertEqual(self.hashes()[0], core)
        self.write("data/models/a.yaml", "a: 2\n")
        self.assertNotEqual(self.hashes()[0], core)

    def test_the_rules_of_memory_and_the_bounds_are_part(self):
        """Of the real sources: one figure more, anywhere that a result depends on."""
        copy = self.folder / "copy"
        for name in ("core", "data", "model", "helper"):
            shutil.copytree(MODULE / name, copy / name)
        before = self.hashes(copy)
        for name, module_only in (
            ("core/work/memory/memory.cc", False),
            ("core/engine/closed-form.cc", False),
            ("core/explore/search-space.cc", False),
            ("model/rdma/rdma-nic.cc", True),
            ("helper/engine/packet-engine.cc", True),
        ):
            path = copy / name
            text = path.read_text()
            path.write_text(text + "constexpr int g_one = 1;\n")
            core, module = self.hashes(copy)
            self.assertEqual(core == before[0], module_only, name)
            self.assertNotEqual(module, before[1], name)
            path.write_text("// Other words.\n" + text)
            self.assertEqual(self.hashes(copy), before, name)
            path.write_text(text)


if __name__ == "__main__":
    unittest.main()
