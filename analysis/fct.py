#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws the slowdowns in files of ns3::FabricFctHelper: how many messages have at most which."""

import argparse
import csv
import itertools
import os
import pathlib
import sys

import measuring
from measuring import COLOURS, InputError

try:
    import matplotlib
    import matplotlib.figure
except ModuleNotFoundError as missing:
    print(f"fct.py: error: {measuring.lacking(missing)}", file=sys.stderr)
    sys.exit(2)

COLUMNS = {"bytes", "slowdown", "label"}


def read(path):
    """The slowdowns of a file by their label, ascending."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    # Comments come first; a label in quotation marks may have lines that look like one.
    rows = csv.DictReader(itertools.dropwhile(lambda line: line.startswith("#"), lines))
    if not COLUMNS <= set(rows.fieldnames or []):
        raise InputError(f"{path}: has no columns {', '.join(sorted(COLUMNS))}: not a file of "
                         "ns3::FabricFctHelper")
    found = {}
    for number, row in enumerate(rows, 1):
        if row["slowdown"] == "":
            continue  # of a message that was posted when there was no route
        try:
            found.setdefault(row["label"], []).append(float(row["slowdown"]))
        except (TypeError, ValueError) as error:
            raise InputError(f"{path}: row {number}: slowdown is {row['slowdown']!r}, and should be "
                             "a number") from error
    if not found:
        raise InputError(f"{path}: has no message, so that there is nothing to draw")
    return {label: sorted(values) for label, values in found.items()}


def percentile(values, share):
    """The least value that at least this share of all does not exceed."""
    rank = max(1, -(-len(values) * share // 100))
    return values[int(rank) - 1]


def draw(files, output):
    measuring.prepare(matplotlib)
    figure = matplotlib.figure.Figure(figsize=(7.0, 4.2), layout="constrained")
    axes = figure.add_subplot()
    number = 0
    for path, by_label in files.items():
        for label, values in by_label.items():
            shares = [100 * (i + 1) / len(values) for i in range(len(values))]
            name = f"{path.stem}: {label or 'all'} ({len(values)})"
            axes.step(values, shares, where="post", label=name,
                      color=COLOURS[number % len(COLOURS)],
                      linestyle="-" if number < len(COLOURS) else "--")
            number += 1
    measuring.logarithmic(axes.xaxis)
    axes.set_xlabel("slowdown: time over that in an empty network")
    axes.set_ylabel("messages (%)")
    axes.set_ylim(0, 100)
    axes.legend(frameon=False, loc="lower right")
    measuring.save(figure, output)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE.csv")
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("fct.svg"))
    arguments = parser.parse_args()
    try:
        files = {path: read(path) for path in arguments.files}
        draw(files, arguments.output)
        for path, by_label in files.items():
            for label, values in by_label.items():
                print(f"{path.stem:24} {label or 'all':16} {len(values):8} messages  slowdown "
                      f"{percentile(values, 50):8.3f} median  {percentile(values, 99):8.3f} p99  "
                      f"{values[-1]:8.3f} worst")
        sys.stdout.flush()  # where a full disk can be told of
    except (InputError, OSError) as error:
        print(f"fct.py: error: {error}", file=sys.stderr)
        # What standard output did not take, Python would try to write once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
