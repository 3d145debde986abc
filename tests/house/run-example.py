#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs an example program and compares what it prints with what it is expected to print.

usage: run-example.py PROGRAM EXPECTED [--accept]

EXPECTED is a text file. Its first line is the command, "$ name --size=1000"; the rest is stdout to
the letter. Without such a file the program is run without arguments and only has to succeed.
Where ns-3 builds the program, its name is decorated: ns3.37-name-default.
--accept writes what the program prints into the file instead of comparing.
"""

import difflib
import os
import shlex
import subprocess
import sys
import tempfile


def main():
    program, expected_path = map(os.path.abspath, sys.argv[1:3])
    accept = "--accept" in sys.argv[3:]

    name = os.path.splitext(os.path.basename(expected_path))[0]
    command, expected = "$ " + name, None
    if os.path.exists(expected_path):
        with open(expected_path, encoding="utf-8") as file:
            command, _, expected = file.read().partition("\n")
    words = shlex.split(command)
    if words[:2] != ["$", name]:
        sys.exit(f"{expected_path}:1: must be '$ {name} [arguments]'")

    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([program] + words[2:], cwd=folder, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.stdout.write(done.stdout)
        sys.exit(f"{command}: exit code {done.returncode}")
    if accept:
        with open(expected_path, "w", encoding="utf-8") as file:
            file.write(command + "\n" + done.stdout)
    elif expected is not None and done.stdout != expected:
        sys.stdout.writelines(difflib.unified_diff(expected.splitlines(True),
                                                   done.stdout.splitlines(True),
                                                   expected_path, "printed"))
        sys.exit(f"{command}: output differs from what is expected")


if __name__ == "__main__":
    main()
