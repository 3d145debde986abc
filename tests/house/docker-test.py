#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What can be said of the Dockerfile without Docker: its paths, its user, and that CMake and the
wrapper find all they look for in what it copies."""

import fnmatch
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
# Stand-ins: what the wrapper calls is written down, and done.
STUBS = {
    "dpkg-query": "echo no",
    "apt-get": 'echo "$@" >>"$CALLS"',
    "cmake": "mkdir -p build/release; touch build/release/build.ninja build/release/CMakeCache.txt",
    "ninja": 'mkdir -p "$2/bin"; printf "#!/bin/sh\\n" >"$2/bin/scaleacross"; '
             'chmod +x "$2/bin/scaleacross"',
    "env": 'shift; exec "$@"',
}


def instructions():
    """Words of every line of the Dockerfile, joined where it goes on."""
    text = re.sub(r"^#.*\n", "", (TOP / "Dockerfile").read_text(encoding="utf-8"), flags=re.MULTILINE)
    return [line.split(maxsplit=1) for line in text.replace("\\\n", " ").splitlines() if line.strip()]


def sources():
    """What is copied, and where to below the folder of the checkout."""
    for name, words in instructions():
        if name == "COPY":
            *paths, target = words.split()
            for path in paths:
                yield path, (path if target.endswith("/") else target)


class Docker(unittest.TestCase):
    def values(self, wanted):
        return [words for name, words in instructions() if name == wanted]

    def copied(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        top = pathlib.Path(folder.name) / "scaleacross"
        top.mkdir()
        for path, target in sources():
            source = TOP / path
            if source.is_dir():
                shutil.copytree(source, top / target, symlinks=True,
                                ignore=shutil.ignore_patterns("__pycache__", "build", "*.egg-info"))
            else:
                shutil.copy(source, top / target)
        return top

    def test_what_is_copied_is_there(self):
        ignored = [line.removeprefix("**/") for line in
                   (TOP / ".dockerignore").read_text(encoding="utf-8").splitlines()
                   if line and not line.startswith("#")]
        paths = [path for path, _ in sources()]
        self.assertGreater(len(paths), 5)
        for path in paths:
            self.assertTrue((TOP / path).exists(), path)
            self.assertFalse(any(fnmatch.fnmatch(path, pattern) for pattern in ignored), path)
        self.assertIn(".git", ignored)
        self.assertIn("build", ignored)

    def test_who_runs_it_and_where_results_are(self):
        self.assertEqual(self.values("FROM"), ["debian:bookworm"])
        (entry,) = map(json.loads, self.values("ENTRYPOINT"))
        home, results = self.values("WORKDIR")
        self.assertEqual(entry, [f"{home}/scaleacross"])
        self.assertEqual(self.values("VOLUME"), [results])
        (user,) = self.values("USER")
        self.assertTrue(any(run.startswith("useradd") and run.endswith(f" {user}")
                            for run in self.values("RUN")))
        names = [name for name, _ in instructions()]
        self.assertGreater(names.index("USER"), max(i for i, name in enumerate(names)
                                                    if name == "RUN"))
        self.assertTrue(any(f"chown -R {user}:" in run for run in self.values("RUN")))
        self.assertTrue(os.access(TOP / "scaleacross", os.X_OK))

    def test_packages_are_the_wrappers(self):
        text = (TOP / "Dockerfile").read_text(encoding="utf-8")
        self.assertNotIn("apt-get", text)
        (build,) = [run for run in self.values("RUN") if "./scaleacross" in run]
        call = re.search(r"\./scaleacross ([^&]*?) *&&", build)[1].split()
        top = self.copied()
        calls = top.parent / "calls"
        for name, script in STUBS.items():
            tool = top.parent / "tools" / name
            tool.parent.mkdir(exist_ok=True)
            tool.write_text(f"#!/bin/bash\n{script}\n")
            tool.chmod(0o755)
        if os.geteuid() != 0:  # the wrapper asks sudo then
            sudo = top.parent / "tools" / "sudo"
            sudo.write_text('#!/bin/bash\nshift; [[ $1 == true ]] || exec "$@"\n')
            sudo.chmod(0o755)
        environment = {**os.environ, "CALLS": str(calls), "SCALEACROSS_PRESET": "release",
                       "PATH": f"{top.parent / 'tools'}:{os.environ['PATH']}"}
        done = subprocess.run([top / "scaleacross", *call], env=environment, capture_output=True,
                              text=True, check=False, cwd=top.parent)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("usage: scaleacross report", done.stdout)
        # The lists as the wrapper's own shell reads them.
        lists = re.findall(r"^(?:tool|report)Packages=\(.*?\)$",
                           (TOP / "scaleacross").read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        wanted = subprocess.run(["bash", "-c", "\n".join([*lists, (
            'echo "${toolPackages[@]}" "${reportPackages[@]}"')])], capture_output=True, text=True,
            check=True).stdout.split()
        self.assertGreater(len(wanted), 15)
        installed = next(line for line in calls.read_text().splitlines()
                         if line.startswith("install")).split()
        self.assertEqual([word for word in installed if word in wanted], wanted)

    def test_cmake_finds_all_it_looks_for(self):
        top = self.copied()
        done = subprocess.run(["cmake", "--preset", "release", "-D", "SCALEACROSS_TESTS=OFF"], cwd=top,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr[-2000:])
        self.assertTrue((top / "build" / "release" / "build.ninja").exists())
        # Every source that is compiled is in the copy, and nothing of the checkout is named.
        rules = (top / "build" / "release" / "build.ninja").read_text(encoding="utf-8")
        self.assertNotIn(f"{TOP}/", rules)


if __name__ == "__main__":
    unittest.main()
