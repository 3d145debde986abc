#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""The wrapper ./scaleacross in a tree of its own, with stand-ins for the tools that it calls."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

WRAPPER = pathlib.Path(__file__).resolve().parents[2] / "scaleacross"

CMAKE = """mkdir -p build/release
touch build/release/build.ninja
echo "${@: -1}" | sed 's/=/:BOOL=/' >build/release/CMakeCache.txt
echo configured: "$@"
"""

# Builds a program which tells how it was called.
NINJA = """cd "$2"
echo '[1/2] Compiling'
mkdir -p bin
cat >bin/scaleacross <<'END'
#!/bin/sh
pwd
for word in "$@"; do echo "<$word>"; done
END
chmod +x bin/scaleacross
cp bin/scaleacross bin/first
"""


class Wrapper(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.top = pathlib.Path(folder.name) / "a tree"
        self.top.mkdir()
        shutil.copy(WRAPPER, self.top)
        self.put("contrib/scaleacross/cli/commands/run.cc", 'program.Add("run", "runs");\n')
        self.put("contrib/scaleacross/cli/commands/list.cc", 'program.Add(\n    "list",\n    "x");\n')
        self.put("contrib/scaleacross/examples/first.cc", "")
        self.put("scratch/mine.cc", "")
        self.tool("dpkg-query", "echo installed")
        self.tool("cmake", CMAKE)
        self.tool("ninja", NINJA)
        self.tool("ctest", "echo ctest \"$@\"")
        self.tool("sudo", "exit 1")
        self.tool("apt-get", "echo no network; exit 100")

    def put(self, path, text):
        path = self.top / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        return path

    def tool(self, name, script):
        self.put(f"tools/{name}", "#!/bin/bash\n" + script + "\n").chmod(0o755)

    def run_wrapper(self, *arguments, prefix=(), cwd=None):
        environment = dict(os.environ, PATH=f"{self.top}/tools:{os.environ['PATH']}")
        environment.pop("SCALEACROSS_PRESET", None)
        return subprocess.run([*prefix, self.top / "scaleacross", *arguments], env=environment,
                              cwd=cwd or self.top, capture_output=True, text=True)

    def test_stdout_arguments_and_folder_are_the_programs(self):
        elsewhere = self.top / "else where"
        elsewhere.mkdir()
        done = self.run_wrapper("run", "my study.yaml", "--set", "a.b=*", cwd=elsewhere)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout,
                         f"{elsewhere}\n<run>\n<my study.yaml>\n<--set>\n<a.b=*>\n")
        self.assertIn("building (release)", done.stderr)

    def test_nothing_to_do_is_silent(self):
        self.run_wrapper("list")
        self.tool("ninja", "echo '[0/1] Re-checking globbed directories...'")
        self.tool("cmake", "exit 1")
        self.assertEqual(self.run_wrapper("list").stderr, "")

    def test_a_build_configured_by_hand_is_taken_as_it_is(self):
        self.put("build/release/build.ninja", "")
        self.put("build/release/CMakeCache.txt", "SCALEACROSS_TESTS:BOOL=ON\n")
        self.tool("cmake", "exit 1")
        self.assertEqual(self.run_wrapper("list").returncode, 0)

    def test_tests_are_configured_when_they_are_wanted(self):
        self.run_wrapper("list")
        done = self.run_wrapper("test", "-L", "core")
        self.assertIn("configuring", done.stderr)
        self.assertTrue(done.stdout.strip().endswith("-L core"), done.stdout)
        self.assertNotIn("configuring", self.run_wrapper("list").stderr)

    def test_a_changed_preset_reaches_the_build(self):
        self.run_wrapper("test")
        self.put("CMakePresets.json", "{}")
        self.assertIn("configuring", self.run_wrapper("list").stderr)
        cache = self.top / "build/release/CMakeCache.txt"
        self.assertEqual(cache.read_text(), "SCALEACROSS_TESTS:BOOL=ON\n")

    def test_script_runs_the_named_program(self):
        self.assertEqual(self.run_wrapper("script", "first", "--x").stdout, f"{self.top}\n<--x>\n")

    def test_report_is_pythons_with_the_program_that_was_built(self):
        self.put("python/scaleacross/__init__.py", "")
        self.put("python/scaleacross/report.py", "import os, sys\n"
                 "print(os.environ['SCALEACROSS_PROGRAM'], sys.argv[1:], os.getcwd())\n")
        elsewhere = self.top / "else where"
        elsewhere.mkdir()
        (elsewhere / "os.py").write_text("raise RuntimeError('of the folder')")
        done = self.run_wrapper("report", "a b.db", "-o", "x.html", cwd=elsewhere)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, f"{self.top}/build/release/bin/scaleacross "
                         f"['a b.db', '-o', 'x.html'] {elsewhere}\n")
        self.assertFalse(list(self.top.rglob("__pycache__")))

    def test_help_needs_no_build(self):
        for word in ("--help", "-h", "help"):
            done = self.run_wrapper(word)
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("\n  run                        runs\n", done.stdout)
            self.assertFalse((self.top / "build").exists())
        self.assertEqual(self.run_wrapper().stderr, done.stdout)  # but with 2

    def test_help_is_the_programs(self):
        said = subprocess.run([WRAPPER, "--help"], capture_output=True, text=True, check=True)
        ours = " ".join(said.stdout.split())
        theirs = subprocess.run([os.environ["SCALEACROSS_PROGRAM"], "--help"],
                                capture_output=True, text=True, check=True).stdout
        commands = theirs.split("Subcommands:")[1].split("\n\n")[0]
        found = re.findall(r"^  ([a-z-]+) +(.+)$", commands, re.MULTILINE)
        self.assertGreater(len(found), 10)
        for name, text in found:
            self.assertIn(f" {name} {text.split(':')[0]}", ours)
        self.assertTrue(all(len(line) <= 100 for line in said.stdout.splitlines()))

    def test_the_first_build_says_how_long_it_takes(self):
        self.assertIn("the first build takes about", self.run_wrapper("list").stderr)
        self.assertNotIn("the first build", self.run_wrapper("list").stderr)

    def refused(self, done):
        """Refused before anything was installed, configured or built."""
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertFalse((self.top / "build").exists(), done.stderr)
        return done.stderr

    def test_an_unknown_command_is_refused_first(self):
        text = self.refused(self.run_wrapper("lost"))
        self.assertIn("there is no command 'lost'; did you mean list?", text)
        text = self.refused(self.run_wrapper("simulate"))
        self.assertIn("there is no command 'simulate'\n", text)
        self.assertIn("there are: test build script report list run", text)

    def test_an_unknown_script_is_refused_first(self):
        text = self.refused(self.run_wrapper("script", "fist"))
        self.assertIn("there is no script 'fist'; did you mean first?", text)
        self.assertIn("there are: first scratch-mine", text)

    def test_a_checkout_of_somebody_else(self):
        prefix = []
        if os.geteuid() == 0:
            prefix = ["setpriv", "--reuid", "65534", "--clear-groups"]
            self.top.parent.chmod(0o755)
        self.top.chmod(0o555)
        text = self.refused(self.run_wrapper("list", prefix=prefix))
        self.top.chmod(0o755)
        self.assertIn(f"may not write to {self.top}, which belongs to", text)
        self.assertIn("git clone", text)
        self.assertNotIn("Permission denied", text)

    def test_a_failed_build_shows_the_error(self):
        self.tool("ninja", "echo '[1/2] fine'; echo 'FAILED: x.o'; echo 'x.cc:1: error: no'; exit 1")
        done = self.run_wrapper("list")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("x.cc:1: error: no", done.stderr)
        self.assertNotIn("[1/2] fine", done.stderr)
        self.assertIn("build/release/build.log", done.stderr)

    def test_an_unknown_preset_fails(self):
        self.tool("cmake", "echo 'CMake Error: No such preset'; exit 1")
        done = self.run_wrapper("--preset", "fast", "list")
        self.assertEqual(done.returncode, 1)
        self.assertIn("No such preset", done.stderr)

    def test_where_apt_fails_it_says_what_to_run(self):
        self.tool("dpkg-query", "exit 1")
        prefix = []
        if os.geteuid() == 0:
            self.assertEqual(self.run_wrapper("list").returncode, 2)
            # Once more as somebody who may not install anything.
            shutil.rmtree(self.top / "build")
            for path in (self.top.parent, self.top):
                path.chmod(0o777)
            prefix = ["setpriv", "--reuid", "65534", "--clear-groups"]
        done = self.run_wrapper("list", prefix=prefix)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("please run: sudo apt-get install -y", done.stderr)
        self.assertIn("libns3-dev", done.stderr)

    def test_without_a_command_line_program(self):
        shutil.rmtree(self.top / "contrib/scaleacross/cli")
        done = self.run_wrapper("list")
        self.assertEqual(done.returncode, 2)
        self.assertIn("no command line program yet", done.stderr)


if __name__ == "__main__":
    unittest.main()
