#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws what each figure of a study does to its best time, from what `sensitivity --json` prints."""

import argparse
import pathlib
import sys
import textwrap

import measuring
from measuring import COLOURS, InputError

try:
    import matplotlib
    import matplotlib.figure
    import matplotlib.lines
    import matplotlib.patches
except ModuleNotFoundError as missing:
    print(f"tornado.py: error: {measuring.lacking(missing)}", file=sys.stderr)
    sys.exit(2)

ENDS = {"low": COLOURS[1], "high": COLOURS[0]}
LEAST = 0.05  # per cent; a bar of less is no bar
# Inches.
WIDTH, LEFT, RIGHT, ROW, TOP, BOTTOM = 9.0, 3.3, 0.5, 0.27, 0.95, 0.75


def change(seconds, base):
    """Per cent, or None."""
    return None if seconds is None else 100 * (seconds / base - 1)


def bars_of(report, top):
    """The inputs that change something, the largest effect first, as the report has them."""
    base = report["base"]["iteration_time_s"]
    bars = []
    for one in report["inputs"]:
        ends = {name: {"value": one[name]["value"], "changes": one[name]["changes"],
                       "stops": one[name]["best_s"] is None and not one[name]["refused"],
                       "kept": change(one[name]["kept_s"], base),
                       "best": change(one[name]["best_s"], base)} for name in ENDS}
        if any(end["stops"] or max(abs(end["best"] or 0), abs(end["kept"] or 0)) >= LEAST
               for end in ends.values()):
            bars.append({"key": one["key"], "value": one["value"], **ends})
    if not bars:
        raise InputError(f"none of the inputs changes the time by {LEAST} %, so that there is "
                         "nothing to draw")
    return bars[:top]


def draw_bars(axes, bars):
    for place, bar in enumerate(bars):
        # Ends on one side of zero would hide each other.
        shares = [bar[name]["best"] or 0 for name in ENDS]
        aside = shares[0] * shares[1] > 0
        for name, colour in ENDS.items():
            end = bar[name]
            row = place + (0 if not aside else -0.2 if name == "low" else 0.2)
            if end["stops"]:
                axes.annotate(f"{end['value']}: no plan can run", (0, row),
                              (-3 if name == "low" else 3, 0), textcoords="offset points",
                              color=colour, va="center_baseline", fontsize=6.5,
                              ha="right" if name == "low" else "left")
                continue
            if end["best"] is None:
                continue
            drawn, = axes.barh(row, end["best"], 0.35 if aside else 0.62, color=colour)
            drawn.set_gid(f"{bar['key']}: {name}")
            side = 1 if end["best"] >= 0 else -1
            axes.annotate(end["value"], (end["best"], row), (3 * side, 0),
                          textcoords="offset points", va="center_baseline", fontsize=6.5,
                          ha="left" if side > 0 else "right")
            if end["changes"]:
                axes.plot([end["best"]], [row], marker="D", color="black", markersize=3.5,
                          gid=f"{bar['key']}: {name}: changes")
            if end["changes"] and end["kept"] is not None:
                axes.plot([end["kept"]] * 2, [row - 0.4, row + 0.4], color="black", linewidth=1)
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_ylim(len(bars) - 0.4, -0.6)
    axes.set_yticks(range(len(bars)), [f"{bar['key']} = {bar['value']}" for bar in bars],
                    fontsize=7)
    axes.margins(x=0.16)
    axes.tick_params(axis="y", length=0)
    axes.grid(True, axis="x", linewidth=0.3, color="#cccccc")
    axes.set_axisbelow(True)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.set_xlabel("change of the iteration time of the best plan (%)")


def draw(report, top):
    measuring.prepare(matplotlib)
    bars = bars_of(report, top)
    height = TOP + ROW * len(bars) + BOTTOM
    figure = matplotlib.figure.Figure(figsize=(WIDTH, height))
    axes = figure.add_axes((LEFT / WIDTH, BOTTOM / height, (WIDTH - LEFT - RIGHT) / WIDTH,
                            ROW * len(bars) / height))
    draw_bars(axes, bars)
    by = f"{100 * report['by']:g} %"
    figure.text(0.1 / WIDTH, 1 - 0.25 / height, f"{report['study']}: every figure lowered and "
                f"raised by {by}", fontsize=11, weight="bold")
    base = report["base"]
    plan = textwrap.shorten(base["plan"]["label"], 90)
    figure.text(0.1 / WIDTH, 1 - 0.47 / height,
                f"best plan {plan}: {1e3 * base['iteration_time_s']:.4g} ms", fontsize=8.5)
    handles = [matplotlib.patches.Patch(color=ENDS["low"], label=f"lowered by {by}"),
               matplotlib.patches.Patch(color=ENDS["high"], label=f"raised by {by}"),
               matplotlib.lines.Line2D([], [], color="black", marker="D", linestyle="none",
                                       markersize=3.5, label="another plan is best"),
               matplotlib.lines.Line2D([], [], color="black", marker="|", linestyle="none",
                                       label="the plan before, kept")]
    figure.legend(handles=handles, loc="upper left", frameon=False, ncols=4, borderaxespad=0,
                  bbox_to_anchor=(0.1 / WIDTH, 1 - 0.6 / height))
    return figure


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="example: scaleacross sensitivity STUDY --json | tornado.py - -o tornado.svg")
    parser.add_argument("report", metavar="FILE",
                        help="what ./scaleacross sensitivity --json has printed; - for standard "
                        "input")
    parser.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path, required=True,
                        help="picture to write, .svg or .png; replaced if it exists")
    parser.add_argument("--top", metavar="N", type=measuring.whole(1), default=25,
                        help="bars to draw (default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.output.suffix not in (".svg", ".png"):
        parser.error(f"-o {options.output}: the name has to end in .svg or .png")
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        report = measuring.read_report(options.report, ("study", "by", "base", "inputs"),
                                       "./scaleacross sensitivity STUDY --json")
        measuring.save(draw(report, options.top), options.output)
    except InputError as error:
        print(f"tornado.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
