#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Files that comments and pages name are there.

Looked at are the comments of sources and all of pages: paths that begin with a folder of the
checkout or of the module ("doc/pfc.md", "tests/in-tree.sh"), headers as scripts include them
("ns3/pfc-headroom.h"), pages named without a folder, and links between pages. NAME, KIND and the
like stand for any name.
"""

import pathlib
import re
import subprocess
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
MODULE = TOP / "contrib" / "scaleacross"
FOLDERS = ("analysis|cli|cmake|contrib|core|data|doc|examples|helper|model|python|schemas|scratch|test"
           "|tests")
PATH = re.compile(rf"(?<![\w./$-])(?:{FOLDERS})/[\w./-]*\w\.(?:md|h|cc|py|sh|cmake|yaml|csv|rst)\b")
HEADER = re.compile(r"(?<![\w./-])ns3/([\w-]+\.h)\b")
PAGE = re.compile(r"(?<![\w./-])[\w-]+\.md\b")
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)\s]*)?\)")
ANY = re.compile(r"\b[A-Z]{3,}\b")

# Others' files, and files that a command of the page writes.
OTHERS = {
    "doc/PERFORMANCE.md",  # nccl-tests
    "scratch/third.cc",  # HPCC's simulator
}
MADE = {"picture.md", "distance.md"}
# Histories and lists of files that tests make up.
LEFT_OUT = re.compile(r"^CHANGES\.md$|^tests/house/.*-test\.py$|^examples/[^/]*/.*\.csv$")
NS3 = pathlib.Path("/usr/include/ns3")


def tracked():
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                            cwd=TOP, capture_output=True, text=True, check=True)
    return [name for name in listed.stdout.split("\0") if name and (TOP / name).is_file()]


TRACKED = tracked()
OWN_HEADERS = {pathlib.PurePath(name).name for name in TRACKED
               if re.match(r"contrib/scaleacross/(model|helper)/.*\.h$", name)}
PAGES = {pathlib.PurePath(name).name for name in TRACKED if name.endswith(".md")} | MADE


def comment(line, suffix):
    """The part of a line that is for people."""
    if suffix in (".md", ".rst"):
        return line
    mark = re.search(r"//|/\*|^\s*\*" if suffix in (".h", ".cc") else r"#|\"\"\"", line)
    return line[mark.start():] if mark else ""


def missing(name, text):
    """Line and name of what a text names and is not there."""
    path = TOP / name
    for number, line in enumerate(text.split("\n"), 1):
        said = comment(line, path.suffix)
        for named in PATH.findall(said):
            if named not in OTHERS and not ANY.search(named) and not any(
                    (folder / named).is_file() for folder in (TOP, MODULE)):
                yield number, named
        for header in HEADER.findall(said):
            there = header in OWN_HEADERS or not NS3.is_dir() or (NS3 / header).is_file()
            if not there and not header.endswith("-module.h") and not ANY.search(header):
                yield number, f"ns3/{header}"
        if path.suffix != ".md":
            for page in PAGE.findall(said):
                if page not in PAGES and not ANY.search(page):
                    yield number, page
        else:
            for link in LINK.findall(said):
                if "://" not in link and not (path.parent / link).exists():
                    yield number, link


class NamedFiles(unittest.TestCase):
    def test_all_are_there(self):
        faults = []
        for name in TRACKED:
            if LEFT_OUT.search(name) or pathlib.PurePath(name).suffix not in (
                    ".h", ".cc", ".py", ".sh", ".cmake", ".md", ".rst", ".yaml"):
                continue
            text = (TOP / name).read_text(encoding="utf-8")
            faults += [f"{name}:{line}: {named} is not there" for line, named in missing(name, text)]
        self.assertEqual(faults, [])

    def test_what_is_looked_at(self):
        text = "/// The page doc/nowhere.md, or nowhere.md; doc/pfc.md. \"ns3/no-such.h\"\n"
        self.assertEqual([named for _, named in missing("contrib/scaleacross/model/x.h", text)],
                         ["doc/nowhere.md", "ns3/no-such.h", "nowhere.md"])
        self.assertEqual(list(missing("contrib/scaleacross/model/x.h", 'Open("doc/nowhere.md");\n')), [])
        self.assertEqual([named for _, named in missing("contrib/scaleacross/doc/x.md",
                                                        "[a](nowhere.md#b) [c](pfc.md) core/NAME.cc\n")],
                         ["nowhere.md"])


if __name__ == "__main__":
    unittest.main()
