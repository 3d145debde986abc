#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Suites against the bases that newer releases of ns-3 give them.

A suite that is right over the installed ns-3 may be wrong in a tree of a newer one: a name that the
newer TestCase declares hides ours of the same name. Here all suites are read by the compiler over
copies of the installed headers in which those names are as the newer releases have them.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
MODULE = TOP / "contrib" / "scaleacross"
COMPILER = os.environ.get("CXX", "g++")

# Header, release that has the change first, and what stands there before and after.
CHANGES = [
    ("test.h", "3.42", [
        ("enum TestDuration\n    {", "enum class Duration\n    {"),
        ("TestDuration duration = QUICK", "Duration duration = Duration::QUICK"),
        ("enum TestDuration m_duration", "Duration m_duration"),
        ("    enum Type\n", "    enum class Type\n"),
        ("Type type = UNIT", "Type type = Type::UNIT"),
    ]),
    ("event-id.h", "3.42", [("bool IsRunning() const;", "bool IsPending() const;")]),
]

COLLISION = """
#include "core/base/units.h"
#include "ns3/test.h"
using namespace ns3;
using namespace scaleacross;
class AnyTest : public TestCase
{
  public:
    AnyTest() : TestCase("any") {}
  private:
    void DoRun() override
    {
        const %s sum = scaleacross::Duration::Microseconds(1);
        (void)sum;
    }
};
"""


def installed(header):
    """The folder of the installed ns-3's headers."""
    made = subprocess.run([COMPILER, "-M", "-x", "c++", "-"], input=f"#include <ns3/{header}>\n",
                          capture_output=True, text=True, check=False)
    found = re.search(rf"(\S+/ns3)/{re.escape(header)}\b", made.stdout)
    return pathlib.Path(found[1]) if found else None


def all_suites():
    """One source file of all suites, each in a namespace of its own, since they name things alike."""
    includes = set()
    body = []
    for source in sorted((MODULE / "test").glob("*.cc")):
        includes.update(re.findall(r"^#include .*$", source.read_text(encoding="utf-8"), re.MULTILINE))
        line = f'#include "{source}"'
        if source.stem.endswith("-test"):
            line = f"namespace {re.sub(r'[^a-z0-9]', '_', source.stem)} {{\n{line}\n}}"
        body.append(line)
    return "\n".join(sorted(includes) + body) + "\n"


class NewerNs3(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        headers = installed("test.h")
        if headers is None and not os.environ.get("CI"):
            raise unittest.SkipTest("no installed ns-3")
        (cls.folder / "ns3").mkdir()
        for part in ("model", "helper"):
            for header in (MODULE / part).rglob("*.h"):
                (cls.folder / "ns3" / header.name).symlink_to(header)
        cls.stale = []
        for name, release, changes in CHANGES:
            text = (headers / name).read_text(encoding="utf-8")
            for before, after in changes:
                if before not in text and after not in text:
                    cls.stale.append(f"{name} of {release}: {before}")
                text = text.replace(before, after)
            # What the header includes beside itself stands in the folder of the installed ones.
            text = re.sub(r'#include "(?!ns3/)([\w-]+\.h)"', r'#include "ns3/\1"', text)
            (cls.folder / "ns3" / name).write_text(text, encoding="utf-8")

    def read(self, text):
        """What the compiler says about a source file."""
        source = self.folder / "source.cc"
        source.write_text(text, encoding="utf-8")
        made = subprocess.run(
            [COMPILER, "-std=c++17", "-fsyntax-only", "-DNS3_LOG_ENABLE", '-DNS_TEST_SOURCEDIR="test"',
             f"-I{self.folder}", f"-I{MODULE}", f"-I{MODULE / 'test'}", str(source)],
            capture_output=True, text=True, check=False)
        return made.stderr if made.returncode else ""

    def test_changes_are_made(self):
        self.assertEqual(self.stale, [])

    def test_a_collision_is_seen(self):
        self.assertEqual(self.read(COLLISION % "scaleacross::Duration"), "")
        self.assertIn("Duration", self.read(COLLISION % "Duration"))

    def test_all_suites(self):
        said = self.read(all_suites())
        self.assertEqual([line for line in said.splitlines() if "error:" in line], [], said[:4000])


if __name__ == "__main__":
    unittest.main()
