#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Keeps the table of examples/your-model equal to what the program finds.

  your_model.py --check    fails where the page says something else
  your_model.py --write    measures, and puts the table into the page
"""

import argparse
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
PAGE = TOP / "examples" / "your-model" / "README.md"
STUDY = TOP / "examples" / "small-two-buildings" / "study.yaml"
MODEL = TOP / "examples" / "your-model" / "mine.py"
SIZES = {"64 KiB": 64 << 10, "1 MiB": 1 << 20, "16 MiB": 16 << 20}
# What is called what, and how it is asked for.
PLACES = {
    "a server of 8": ["--group", "node"],
    "a building of 32": ["--group", "building"],
    "both, 30 km apart": [],
    "both, 300 km apart": ["--set", "cluster.cross.distance=300km",
                           "--set", "network.spine_buffer=4GiB"],
    "both, 30 km, span at 1:32": ["--set", "cluster.cross.oversubscription=32"],
}
BEGIN, END = "<!--=your-model-->\n", "<!--/-->"


class TableError(Exception):
    """A figure that cannot be measured."""


def call(program, *words):
    """The JSON that a command prints."""
    ended = subprocess.run([str(program), *map(str, words), "--json"], capture_output=True,
                           text=True, check=False)
    if ended.returncode != 0:
        raise TableError(f"{' '.join(map(str, words))}: {ended.stderr.strip()}")
    return json.loads(ended.stdout)


def mine():
    return f"mine=command:{shlex.quote(sys.executable)} {shlex.quote(str(MODEL))}"


def percent(time, reference):
    rounded = round(100 * (time / reference - 1))
    return f"{rounded:+d} %" if rounded else "0 %"


def collective_rows(program):
    for place, options in PLACES.items():
        times = {}
        for engine in (mine(), "analytical", "packet"):
            rows = call(program, "collective", STUDY, "--engine", engine, "--op", "all_reduce",
                        "-b", min(SIZES.values()), "-e", max(SIZES.values()), "-f", 16, *options)
            times[engine.split("=")[0]] = [row["time_us"] for row in rows]
        yield [place, *(f"{percent(own, packet)}, {percent(ours, packet)}"
                        for own, ours, packet in zip(times["mine"], times["analytical"],
                                                     times["packet"]))]


def iteration_row(program):
    with tempfile.TemporaryDirectory() as folder:
        rows = call(program, "compare", STUDY, "--set", "search={}", "--engine", mine(),
                    "--db", pathlib.Path(folder) / "a.db")["rows"]
    times = {row["engine"]: row["iteration_time_s"] for row in rows}
    return (f"An iteration of the study's plan takes {1e3 * times['packet']:.1f} ms by packets; mine "
            f"{percent(times['mine'], times['packet'])}, ours "
            f"{percent(times['analytical'], times['packet'])}.")


def table(program):
    rows = [["all-reduce over", *SIZES], ["---"] * (len(SIZES) + 1), *collective_rows(program)]
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, "", iteration_row(program)]) + "\n"


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--write", action="store_true")
    what.add_argument("--check", action="store_true")
    parser.add_argument("--program", type=pathlib.Path,
                        default=os.environ.get("SCALEACROSS_PROGRAM", TOP / "build" / "release" /
                                               "bin" / "scaleacross"))
    options = parser.parse_args(arguments)
    page = PAGE.read_text(encoding="utf-8")
    try:
        found = BEGIN + table(options.program) + END
    except TableError as error:
        print(f"your_model.py: {error}", file=sys.stderr)
        return 2
    said = re.search(re.escape(BEGIN) + ".*?" + re.escape(END), page, re.DOTALL)
    if said is None:
        print(f"your_model.py: {PAGE} has no table between its marks", file=sys.stderr)
        return 2
    if options.write:
        PAGE.write_text(page.replace(said[0], found), encoding="utf-8")
    elif said[0] != found:
        print(f"{PAGE} says\n{said[0]}\nand the program finds\n{found}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
