#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws which placement wins over two settings, from what `explore --sweep --sweep --json` prints."""

import argparse
import math
import pathlib
import sys

import measuring
from measuring import COLOURS, InputError

try:
    import matplotlib
    import matplotlib.colors
    import matplotlib.figure
    import matplotlib.lines
    import matplotlib.patches
except ModuleNotFoundError as missing:
    print(f"break_even.py: error: {measuring.lacking(missing)}", file=sys.stderr)
    sys.exit(2)

# Inches of a cell, and around all of them.
CELL, LOW, LEFT, RIGHT, TOP, BOTTOM = 0.85, 0.46, 1.1, 0.2, 0.75, 0.6
COMMAND = "./scaleacross explore STUDY --sweep A=... --sweep B=... --json"
LEVELS = [-100, -50, -20, -10, -5, 5, 10, 20, 50, 100]  # per cent


def name_of(crossing):
    return f"{crossing.upper()}-out"


def unplaced(point):
    """What a point without a winner says: no plan runs there, or its best plan crosses nothing."""
    return "nothing crosses" if times_of(point) else "none"


def times_of(point):
    """Seconds by crossing, of those of which a plan can run."""
    return {crossing: best["iteration_time_s"] for crossing, best in point["placements"].items()
            if best is not None}


def names_of(sweeps):
    """The keys of these sweeps in words."""
    return ", ".join(sweep["key"] for sweep in sweeps) or "none"


def leave_out(at, surplus):
    """What to do where --at holds so many settings too many."""
    held = ", ".join(f"--at {key}={value}" for key, value in at.items())
    if surplus == len(at):
        return f"leave out {held}"
    return f"leave out {'one' if surplus == 1 else surplus} of {held}"


def grid_of(report, at):
    """Key and values of the two axes, down and to the right, and the points in rows."""
    sweeps = report["sweeps"]
    free = [sweep for sweep in sweeps if sweep["key"] not in at]
    for key, value in at.items():
        known = {sweep["key"]: sweep["values"] for sweep in sweeps}
        if key not in known:
            raise InputError(f"--at {key}: swept are {', '.join(known)}")
        if value not in known[key]:
            raise InputError(f"--at {key}={value}: its values are {', '.join(known[key])}")
    if len(sweeps) < 2:
        raise InputError(f"a picture has two settings that vary, and swept are: {names_of(sweeps)}; "
                         f"{COMMAND} has two")
    if len(free) < 2:
        raise InputError(f"a picture has two settings that vary, and of {names_of(sweeps)} --at "
                         f"leaves {names_of(free)}; {leave_out(at, 2 - len(free))}")
    if len(free) > 2:
        raise InputError(f"a picture has two settings that vary, and there are {len(free)}: "
                         f"{names_of(free)}; hold {'one' if len(free) == 3 else len(free) - 2} of "
                         "them by --at KEY=VALUE")
    points = [point for point in report["points"]
              if all(point["at"][key] == value for key, value in at.items())]
    width = len(free[1]["values"])
    if len(points) != width * len(free[0]["values"]):
        raise InputError(f"the sweep was interrupted: {len(points)} of "
                         f"{width * len(free[0]['values'])} points are there; the same explore "
                         "goes on from there")
    return free, [points[i:i + width] for i in range(0, len(points), width)]


def signed_margins(rows, first, second):
    """By how much `second` takes longer than `first`, in per cent of the faster one; negative where
    it takes less. Not a number where one of the two cannot run, or nothing crosses."""
    def of(point):
        times = times_of(point)
        if not point["winner"] or first not in times or second not in times:
            return math.nan
        ratio = times[second] / times[first]
        return 100 * (ratio - 1 if ratio >= 1 else 1 - 1 / ratio)
    return [[of(point) for point in row] for row in rows]


def light(colour):
    """A colour on which black text is read: 55 % of it, the rest white."""
    return tuple(1 - 0.55 * (1 - part) for part in matplotlib.colors.to_rgb(colour))


def hatched(**where):
    """The mark of a cell whose winner is in doubt, over the colour of the winner."""
    return {"facecolor": "none", "edgecolor": "white", "hatch": "////", "linewidth": 0, **where}


def draw_cells(axes, rows, colours, sure):
    for y, row in enumerate(rows):
        for x, point in enumerate(row):
            winner = point["winner"]
            colour = colours.get(winner, "#ffffff")
            corner = (x - 0.5, y - 0.5)
            axes.add_patch(matplotlib.patches.Rectangle(
                corner, 1, 1, facecolor=colour, edgecolor="white", linewidth=0.5,
                gid=f"cell {y} {x}"))
            if point["probability"] is not None and point["probability"] < sure:
                axes.add_patch(matplotlib.patches.Rectangle(corner, 1, 1,
                                                            **hatched(gid=f"doubt {y} {x}")))
            text = unplaced(point) if not winner else name_of(winner) + (
                "\nalone" if point["margin"] is None else f"\n{100 * point['margin']:.1f} %")
            # Lines between the cells pass behind what is written in them.
            axes.text(x, y, text, ha="center", va="center", fontsize=6.5, zorder=4,
                      bbox={"facecolor": colour, "edgecolor": "none", "pad": 1.2})


def draw_contours(axes, margins):
    """The line where both take as long, and lines of equal margins. Whether there are any."""
    if len(margins) < 2 or len(margins[0]) < 2:
        return False
    finite = [value for row in margins for value in row if not math.isnan(value)]
    inside = [level for level in LEVELS if finite and min(finite) < level < max(finite)]
    if inside:
        axes.contour(margins, levels=inside, colors="#595959", linewidths=0.6, linestyles="solid")
    if finite and min(finite) < 0 < max(finite):
        axes.contour(margins, levels=[0], colors="black", linewidths=1.8)
    return bool(finite)


def draw(report, at):
    measuring.prepare(matplotlib)
    matplotlib.rcParams["hatch.linewidth"] = 0.6
    (down, right), rows = grid_of(report, at)
    crossings = sorted({crossing for row in rows for point in row for crossing in times_of(point)})
    colours = {crossing: light(COLOURS[(n + 1) % len(COLOURS)])
               for n, crossing in enumerate(crossings)}
    columns = len(right["values"])
    wide, high = CELL * columns, LOW * len(rows)
    width, height = max(LEFT + wide + RIGHT, 7.2), TOP + high + BOTTOM
    figure = matplotlib.figure.Figure(figsize=(width, height))
    axes = figure.add_axes((LEFT / width, BOTTOM / height, wide / width, high / height))
    sure = next((point["sure"] for row in rows for point in row if point["sure"] is not None), 0)
    draw_cells(axes, rows, colours, sure)
    # Lines of equal margins are between two placements; of a third one cells tell.
    contours = len(crossings) == 2 and draw_contours(axes, signed_margins(rows, *crossings))
    axes.set_xlim(-0.5, columns - 0.5)
    axes.set_ylim(-0.5, len(rows) - 0.5)
    axes.set_xticks(range(columns), right["values"])
    axes.set_yticks(range(len(rows)), down["values"])
    axes.set_xlabel(right["key"])
    axes.set_ylabel(down["key"])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    study = report["points"][0]["study"]
    held = "".join(f", {key} = {value}" for key, value in at.items())
    figure.text(0.1 / width, 1 - 0.25 / height, f"{study}{held}: which placement wins, and by how "
                "much", fontsize=10, weight="bold")
    handles = [matplotlib.patches.Patch(facecolor=colours[one]) for one in crossings]
    labels = list(map(name_of, crossings))
    if any(point["probability"] is not None for row in rows for point in row):
        grey = matplotlib.patches.Patch(facecolor="#bfbfbf")
        handles.append((grey, matplotlib.patches.Patch(**hatched())))
        labels.append(f"less than {100 * sure:g} % sure")
    if contours:
        levels = ", ".join(f"{level}" for level in LEVELS if level > 0)
        handles += [matplotlib.lines.Line2D([], [], color="black", linewidth=1.8),
                    matplotlib.lines.Line2D([], [], color="#595959", linewidth=0.6)]
        labels += ["equally fast", f"apart by {levels} %"]
    figure.legend(handles, labels, loc="upper left", frameon=False, ncols=len(handles),
                  borderaxespad=0, columnspacing=1.5, bbox_to_anchor=(0.1 / width, 1 - 0.45 / height))
    return figure


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] + " A thick line is where both placements take as "
        "long; thin ones are lines of equal margins, interpolated between the cells.",
        epilog="example: scaleacross explore STUDY --sweep cluster.cross.distance=1km,30km,300km "
        "--sweep cluster.cross.oversubscription=1,4,16 --json | break_even.py - -o map.svg")
    parser.add_argument("report", metavar="FILE",
                        help="what ./scaleacross explore --json has printed of two sweeps or more; "
                        "- for standard input")
    parser.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path, required=True,
                        help="picture to write, .svg or .png; replaced if it exists")
    parser.add_argument("--at", metavar="KEY=VALUE", action="append", default=[],
                        help="of more than two sweeps, the value to hold one at; repeatable")
    options = parser.parse_args(arguments)
    if options.output.suffix not in (".svg", ".png"):
        parser.error(f"-o {options.output}: the name has to end in .svg or .png")
    for text in options.at:
        if "=" not in text:
            parser.error(f"--at {text}: this is not KEY=VALUE")
    pairs = [text.split("=", 1) for text in options.at]
    options.at = dict(pairs)
    if len(options.at) < len(pairs):
        parser.error(f"--at {' --at '.join('='.join(pair) for pair in pairs)}: one key is held "
                     "twice; give it once")
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        report = measuring.read_report(
            options.report, ("sweeps", "points"),
            COMMAND)
        measuring.save(draw(report, options.at), options.output)
    except InputError as error:
        print(f"break_even.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
