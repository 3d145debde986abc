#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws how far engines are from the one that they are held against.

Reads what `scaleacross compare --json` has printed. On the left, for each engine the share of cases
whose iteration it misses by no more than so much; on the right, or below each other, its errors at
the values of each setting that was swept.
"""

import argparse
import math
import pathlib
import sys

import measuring
from measuring import COLOURS, InputError

try:
    import matplotlib
    import matplotlib.figure
    import matplotlib.ticker
except ModuleNotFoundError as missing:
    print(f"engine_errors.py: error: {measuring.lacking(missing)}", file=sys.stderr)
    sys.exit(2)

KEYS = ("reference", "cases", "rows", "errors", "worst")
LEAST = 1e-4  # below that an error is drawn as that
HEIGHT, WIDTH = 3.4, 3.6


def errors_by_engine(report):
    """For each engine but the reference [(error, point)], in the order of the cases."""
    errors = {}
    for row in report["rows"]:
        if row["engine"] != report["reference"] and row["relative_error"] is not None:
            errors.setdefault(row["engine"], []).append((row["relative_error"], row["point"]))
    if not errors:
        raise InputError("no case has run on two engines")
    return errors


def percent(value, _=None):
    return f"{100 * value:g} %"


def draw_shares(axes, errors):
    """The share of cases within an error; its value at 0.5 is the median that tables print."""
    for colour, (engine, cases) in zip(COLOURS, errors.items()):
        sizes = sorted(max(LEAST, abs(error)) for error, _ in cases)
        shares = [(i + 1) / len(sizes) for i in range(len(sizes))]
        axes.step([LEAST, *sizes, max(1.0, sizes[-1])], [0, *shares, 1], where="post",
                  color=colour, label=engine)
    measuring.logarithmic(axes.xaxis)
    axes.xaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(percent))
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(percent))
    axes.set_xlabel("error of the iteration at most")
    axes.set_ylabel("cases")
    axes.set_ylim(0, 1.02)
    axes.legend(frameon=False, loc="lower right")


def draw_setting(axes, key, errors):
    """Every case's error over the values of a setting, engines beside each other."""
    values = list(dict.fromkeys(point[key] for cases in errors.values() for _, point in cases))
    for i, (colour, (engine, cases)) in enumerate(zip(COLOURS, errors.items())):
        shift = (i - (len(errors) - 1) / 2) * 0.6 / len(errors)
        axes.plot([values.index(point[key]) + shift for _, point in cases],
                  [error for error, _ in cases], linestyle="none", marker="o", markersize=3.5,
                  alpha=0.6, color=colour, label=engine)
    axes.axhline(0, color="black", linewidth=0.8)
    axes.set_xticks(range(len(values)), values)
    axes.set_xlim(-0.6, len(values) - 0.4)
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(percent))
    axes.set_xlabel(key)
    axes.set_ylabel("error of the iteration")


def draw(report):
    measuring.prepare(matplotlib)
    errors = errors_by_engine(report)
    if len(errors) > len(COLOURS):
        raise InputError(f"{len(errors)} engines: more than {len(COLOURS)} are not told apart")
    keys = list(report["rows"][0]["point"])
    across = min(3, 1 + len(keys))
    down = math.ceil((1 + len(keys)) / across)
    figure = matplotlib.figure.Figure(figsize=(WIDTH * across, HEIGHT * down + 0.3),
                                      layout="constrained")
    all_axes = figure.subplots(down, across, squeeze=False).flat
    figure.suptitle(f"Errors of {report['cases']} cases against {report['reference']}",
                    fontsize=11, weight="bold")
    draw_shares(all_axes[0], errors)
    for axes, key in zip(all_axes[1:], keys):
        draw_setting(axes, key, errors)
    for axes in all_axes[1 + len(keys):]:
        axes.set_visible(False)
    return figure


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="example: scaleacross compare STUDY --sweep cluster.cross.distance=3km,30km --json "
        "| engine_errors.py - -o errors.svg")
    parser.add_argument("report", metavar="FILE",
                        help="what ./scaleacross compare --json has printed; - for standard input")
    parser.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path, required=True,
                        help="picture to write, .svg or .png; replaced if it exists")
    options = parser.parse_args(arguments)
    if options.output.suffix not in (".svg", ".png"):
        parser.error(f"-o {options.output}: the name has to end in .svg or .png")
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        report = measuring.read_report(options.report, KEYS, "./scaleacross compare STUDY --json")
        measuring.save(draw(report), options.output)
    except InputError as error:
        print(f"engine_errors.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
