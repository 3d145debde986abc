#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws the slowdowns in files of ns3::FabricFctHelper: how many messages have at most which."""

import argparse
import csv
import itertools
import math
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


def slowdown_of(row):
    """The slowdown of a row; None of a message that was posted when there was no route."""
    if None in row or None in row.values():
        raise InputError("not as many cells as columns; where it is the last line, the file was cut "
                         "short: run its script again, or delete the line")
    if row["slowdown"] == "":
        return None
    try:
        value = float(row["slowdown"])
    except ValueError:
        value = math.nan
    if not 0 < value < math.inf:
        raise InputError(f"slowdown is {row['slowdown']!r}, and should be a number above 0, or empty "
                         "where there was no route")
    return value


def read(path):
    """The slowdowns of a file by their label, ascending, and how many of its messages have none."""
    found, without = {}, 0
    try:
        with path.open(newline="", encoding="utf-8") as file:
            lines = list(file)
            # Comments come first; a label in quotation marks may have lines that look like one.
            comments = len(list(itertools.takewhile(lambda line: line.startswith("#"), lines)))
            rows = csv.DictReader(lines[comments:], strict=True)
            if not COLUMNS <= set(rows.fieldnames or []):
                raise InputError(f"{path}: has no columns {', '.join(sorted(COLUMNS))}: not a file "
                                 "of ns3::FabricFctHelper")
            try:
                for row in rows:
                    slowdown = slowdown_of(row)
                    if slowdown is None:
                        without += 1
                    else:
                        found.setdefault(row["label"], []).append(slowdown)
            except (InputError, csv.Error) as error:
                raise InputError(f"{path}:{comments + rows.reader.line_num}: {error}") from error
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: {error}: not a file of ns3::FabricFctHelper") from error
    if not found:
        raise InputError(f"{path}: has no message" + (f" with a slowdown ({without} without)"
                                                      if without else "") +
                         ", so that there is nothing to draw")
    return {label: sorted(values) for label, values in found.items()}, without


def name_of(label, by_label):
    """What a label is called; messages without one are all only where no other has one."""
    return label or ("all" if len(by_label) == 1 else "no label")


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
            # From none at the least slowdown, without which a single message had no line.
            shares = [100 * i / len(values) for i in range(len(values) + 1)]
            name = f"{path.stem}: {name_of(label, by_label)} ({len(values)})"
            axes.step([values[0], *values], shares, where="post", label=name,
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
        read_files = {path: read(path) for path in arguments.files}
        files = {path: by_label for path, (by_label, _) in read_files.items()}
        draw(files, arguments.output)
        for path, by_label in files.items():
            for label, values in by_label.items():
                print(f"{path.stem:24} {name_of(label, by_label):16} {len(values):8} "
                      f"{'message ' if len(values) == 1 else 'messages'}  slowdown "
                      f"{percentile(values, 50):8.3f} median  {percentile(values, 99):8.3f} p99  "
                      f"{values[-1]:8.3f} worst")
        for path, (by_label, without) in read_files.items():
            if without:
                every = without + sum(map(len, by_label.values()))
                print(f"fct.py: {path}: {without} of {measuring.counted(every, 'message')} left out: "
                      "without a slowdown, as there was no route when they were posted",
                      file=sys.stderr)
        sys.stdout.flush()  # where a full disk can be told of
    except (InputError, OSError) as error:
        print(f"fct.py: error: {error}", file=sys.stderr)
        # What standard output did not take, Python would try to write once more at its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
