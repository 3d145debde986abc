#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Every script that needs a package says which one is missing and how to get it."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
ANALYSIS = TOP / "analysis"
TABLE = TOP / "tests" / "validation" / "iteration-time" / "published.csv"
ROWS = TOP / "tests" / "validation" / "iteration-time" / "sc21.csv"
CURVE = TOP / "contrib" / "scaleacross" / "data" / "curves" / "a100.yaml"
PACKAGES = ["matplotlib", "numpy", "pandas", "scipy"]
# What each script needs first, and arguments with which it would begin to work.
SCRIPTS = {
    "break_even.py": (["matplotlib"], ["map.json", "-o", "figure.svg"]),
    "claims.py": (["pandas", "matplotlib"], ["--check"]),
    "collective_distance.py": (["matplotlib"], []),
    "engine_errors.py": (["matplotlib"], ["report.json", "-o", "figure.svg"]),
    "error_map.py": (["matplotlib"], ["study.yaml", "--engines", "analytical"]),
    "fct.py": (["matplotlib"], ["fct.csv", "-o", "figure.svg"]),
    "fit_collectives.py": (["matplotlib"], [TABLE, "-o", "figure.svg"]),
    "fit_curve.py": (["numpy", "scipy"],
                     [ROWS, "--curve", CURVE, "--fit", "gemm_efficiency"]),
    "fit_published.py": (["numpy"], [TABLE]),
    "model_error.py": (["numpy", "scipy"], [TABLE]),
    "multipath_grid.py": (["matplotlib"], ["grid.csv", "-o", "figure.svg"]),
    "nccl_distance.py": (["matplotlib"], ["-o", "figure.svg"]),
    "study_figure.py": (["matplotlib", "pandas"], ["results.db", "-o", "figure.svg"]),
    "study_picture.py": (["matplotlib"], []),
    "tornado.py": (["matplotlib"], ["report.json", "-o", "figure.svg"]),
}


class MissingPackages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def call(self, script, arguments, without):
        """Runs a script where a package cannot be imported: Python takes a module of this name that
        says what it says of one that is not there."""
        hidden = self.folder / without
        hidden.mkdir(exist_ok=True)
        (hidden / f"{without}.py").write_text(
            f"raise ModuleNotFoundError(\"No module named '{without}'\", name='{without}')\n")
        environment = {**os.environ, "PYTHONPATH": str(hidden), "PYTHONDONTWRITEBYTECODE": "1"}
        return subprocess.run([sys.executable, str(ANALYSIS / script), *map(str, arguments)],
                              capture_output=True, text=True, check=False, env=environment,
                              cwd=self.folder)

    def test_is_one_message(self):
        for script, (needs, arguments) in SCRIPTS.items():
            for package in needs:
                ended = self.call(script, arguments, package)
                self.assertEqual(ended.returncode, 2, (script, package, ended.stderr))
                self.assertEqual(
                    ended.stderr,
                    f"{script}: error: No module named '{package}' for {sys.executable}; on Debian: "
                    f"sudo apt-get install python3-{package}, then /usr/bin/python3; elsewhere: "
                    f"{sys.executable} -m pip install {package}\n")
                self.assertEqual(ended.stdout, "")

    def test_of_every_script_that_needs_one(self):
        scripts = {path.name for path in ANALYSIS.glob("*.py")
                   if "__main__" in path.read_text() and
                   re.search(rf"^ *(from|import) (scaleacross|study_figure|{'|'.join(PACKAGES)})\b",
                             path.read_text(), re.MULTILINE)}
        self.assertEqual(scripts, set(SCRIPTS))

    def test_help_needs_none_of_those_that_calculate(self):
        for script in ("fit_curve.py", "fit_published.py", "model_error.py"):
            ended = self.call(script, ["--help"], "numpy")
            self.assertEqual(ended.returncode, 0, ended.stderr)


if __name__ == "__main__":
    unittest.main()
