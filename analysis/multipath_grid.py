#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws how long an iteration takes by the path that packets take, what crosses, distance and loss.

Reads what `scaleacross compare --csv` has written for plans that differ in crossing and multipath,
or sweeps of these, at several losses and distances: a panel for each crossing and loss. --page puts
figures of that table and of tolerance.csv beside it where a page names them.
"""

import argparse
import csv
import itertools
import math
import pathlib
import re
import statistics
import sys

import measuring
from measuring import COLOURS, InputError

try:
    import matplotlib
    import matplotlib.figure
    import matplotlib.lines
    import matplotlib.ticker
except ModuleNotFoundError as missing:
    print(f"multipath_grid.py: error: {measuring.lacking(missing)}", file=sys.stderr)
    sys.exit(2)

CROSSING, MULTIPATH = "plan.crossing", "plan.network.multipath"
LOSS, DISTANCE = "point.cluster.cross.loss", "point.cluster.cross.distance"
GRID = (CROSSING, LOSS, DISTANCE, MULTIPATH)
TOLERANCE = (CROSSING, MULTIPATH, "plan.network.qps", LOSS, "plan.network.reorder_tolerance")
COMMAND = "./scaleacross compare STUDY --sweep ... --csv FILE"
ROUND_TRIP = 0.01  # ms per km
TITLES = {"dp": "DP crosses", "pp": "PP crosses", "ep": "EP crosses (all-to-all)"}
TICKS = (1, 1.2, 1.5, 2, 3, 4, 5, 7, 10, 15, 20, 50, 100)
MARKERS = ["o", "s", "^", "D", "v", "P"]
MARK = re.compile(r"<!--=(\S+?)-->(.*?)<!--/-->", re.DOTALL)


class Cell:
    """One engine's iteration times at one point, a time for each seed, in ms."""

    def __init__(self):
        self.times = []

    @property
    def mean(self):
        return statistics.fmean(self.times)


def time_of(row, path, number):
    """Seconds of the iteration of a row."""
    try:
        time = float(row["iteration_time_s"])
    except ValueError:
        time = math.nan
    if not 0 < time < math.inf:
        raise InputError(f"{path}:{number}: iteration_time_s is {row['iteration_time_s']!r}, and "
                         f"should be seconds above 0; the same {COMMAND} writes the file anew")
    return time


class Grid:
    """Cells by engine and by the values of the settings that were swept."""

    def __init__(self, path, keys):
        self.keys = keys
        self.cells = {}
        try:
            with path.open(newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        except (OSError, UnicodeDecodeError, csv.Error) as error:
            raise InputError(f"{path}: {getattr(error, 'strerror', error)}") from error
        columns = rows[0] if rows else {}
        for name in (*keys, "engine", "iteration_time_s"):
            if name not in columns:
                raise InputError(f"{path}: there is no column {name}; {COMMAND} writes it")
        for number, row in enumerate(rows, 2):
            if None in row or None in row.values():
                raise InputError(f"{path}:{number}: not as many cells as columns; the same "
                                 f"{COMMAND} writes the file anew")
            if not row["iteration_time_s"]:
                why = row.get("infeasible.reason") or row.get("failed.reason") or "not run"
                raise InputError(f"{path}:{number}: {why}, which has no time")
            key = (row["engine"], *(row[name] for name in keys))
            self.cells.setdefault(key, Cell()).times.append(1e3 * time_of(row, path, number))
        # In the order in which they were swept.
        self.values = {name: list(dict.fromkeys(row[name] for row in rows)) for name in keys}
        self.path = path

    def at(self, *point, engine="packet"):
        if (engine, *point) not in self.cells:
            raise InputError(f"{self.path}: nothing of {engine} at {', '.join(point)}")
        return self.cells[(engine, *point)]


def km_of(distance):
    return float(distance.removesuffix("km"))


def loss_text(loss):
    return "no loss" if float(loss) == 0 else f"loss {loss}"


def number_text(milliseconds):
    """Three significant digits."""
    return f"{milliseconds:#.3g}".rstrip(".")


def time_text(milliseconds):
    return f"{number_text(milliseconds)} ms"


# ---- tables ----

def table(grid):
    """Means over seeds in ms, a line for each crossing and multipath."""
    columns = [(loss, distance) for loss in grid.values[LOSS] for distance in grid.values[DISTANCE]]
    lines = ["| crosses | multipath | " + " | ".join(
        f"{distance.replace('km', ' km')}, {loss_text(loss)}" for loss, distance in columns) + " |",
             "|---|---|" + "---:|" * len(columns)]
    for crossing in grid.values[CROSSING]:
        for multipath in grid.values[MULTIPATH]:
            texts = [number_text(grid.at(crossing, *column, multipath).mean) for column in columns]
            lines.append(f"| {crossing} | {multipath} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def tolerance_table(grid):
    """The same, a column for each tolerance."""
    *keys, last = TOLERANCE
    lines = ["| crosses | multipath | queue pairs | loss | " +
             " | ".join(f"tolerance {word}" for word in grid.values[last]) + " |",
             "|---|---|---:|---|" + "---:|" * len(grid.values[last])]
    for point in itertools.product(*(grid.values[key] for key in keys)):
        texts = [number_text(grid.at(*point, word).mean) for word in grid.values[last]]
        lines.append(f"| {' | '.join(point)} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


def errors_table(grid):
    """Errors of the means over seeds, against packets: half are within the first figure."""
    families = {"ecmp": ["ecmp"], "e-ecmp": ["e-ecmp"],
                "spraying": [word for word in grid.values[MULTIPATH] if word.startswith("spray-")]}
    engines = sorted({engine for engine, *_ in grid.cells} - {"packet"})
    lines = ["| engine | multipath | " + " | ".join(map(loss_text, grid.values[LOSS])) + " |",
             "|---|---|" + "---|" * len(grid.values[LOSS])]
    for engine in engines:
        for family, words in families.items():
            texts = []
            for loss in grid.values[LOSS]:
                errors = [grid.at(crossing, loss, distance, word, engine=engine).mean /
                          grid.at(crossing, loss, distance, word).mean - 1
                          for crossing in grid.values[CROSSING]
                          for distance in grid.values[DISTANCE] for word in words]
                texts.append(f"{100 * statistics.median(map(abs, errors)):.1f} %, "
                             f"{100 * max(errors, key=abs):+.0f} %")
            lines.append(f"| {engine} | {family} | " + " | ".join(texts) + " |")
    return "\n".join(lines)


# ---- figures of the page ----

def figures(grid, tolerance):
    """What stands between the marks of a page, by name."""
    crossings, losses, distances, multipaths = (grid.values[key] for key in GRID)
    texts = {"grid": "\n\n" + table(grid) + "\n\n",
             "tolerance": "\n\n" + tolerance_table(tolerance) + "\n\n",
             "errors": "\n\n" + errors_table(grid) + "\n\n",
             "runs": str(sum(len(cell.times) for (engine, *_), cell in grid.cells.items()
                             if engine == "packet"))}
    for point in itertools.product(*(tolerance.values[key] for key in TOLERANCE)):
        texts[f"tolerance.{'.'.join(point)}"] = time_text(tolerance.at(*point).mean)
    for crossing in crossings:
        sprayed = {distance: grid.at(crossing, losses[0], distance, "spray-adaptive").mean
                   for distance in distances}
        far, near = distances[-1], distances[-2]
        trips = (sprayed[far] - sprayed[near]) / (ROUND_TRIP * (km_of(far) - km_of(near)))
        texts[f"{crossing}.trips"] = f"{trips:.2f}".rstrip("0").rstrip(".")
        for distance in distances:
            for multipath in multipaths:
                name = f"{crossing}.{multipath}.{distance}"
                lossless = grid.at(crossing, losses[0], distance, multipath).mean
                texts[name] = f"{100 * (lossless / sprayed[distance] - 1):.1f} %"
                for loss in losses:
                    mean = grid.at(crossing, loss, distance, multipath).mean
                    texts[f"{name}.{loss}"] = time_text(mean)
                    texts[f"{name}.{loss}.more"] = f"{mean - lossless:.1f} ms"
    return texts


def page_with(text, texts):
    """The page with what the tables say between its marks."""
    def said(mark):
        if mark[1] not in texts:
            raise InputError(f"nothing is called {mark[1]}; known: {', '.join(sorted(texts))}")
        return f"<!--={mark[1]}-->{texts[mark[1]]}<!--/-->"
    return MARK.sub(said, text)


# ---- the picture ----

def least_of(grid, crossing, distance):
    """The shortest mean of all multipaths at the least loss: times are drawn as its multiples."""
    loss = min(grid.values[LOSS], key=float)
    return min(grid.at(crossing, loss, distance, word).mean for word in grid.values[MULTIPATH])


def draw_panel(axes, grid, crossing, loss):
    """Means over seeds, and the range of the seeds, multipaths beside each other."""
    distances, multipaths = grid.values[DISTANCE], grid.values[MULTIPATH]
    least = [least_of(grid, crossing, distance) for distance in distances]
    axes.axhline(1, color="black", linewidth=0.6)
    for n, multipath in enumerate(multipaths):
        shift = (n - (len(multipaths) - 1) / 2) * 0.7 / len(multipaths)
        times = [[time / shortest for time in grid.at(crossing, loss, distance, multipath).times]
                 for distance, shortest in zip(distances, least)]
        means = list(map(statistics.fmean, times))
        axes.errorbar([place + shift for place in range(len(distances))], means,
                      yerr=[[mean - min(cell) for mean, cell in zip(means, times)],
                            [max(cell) - mean for mean, cell in zip(means, times)]],
                      color=COLOURS[n], marker=MARKERS[n], markersize=4, linestyle="none",
                      elinewidth=1.3, clip_on=False)
    axes.set_yscale("log")
    axes.yaxis.set_major_locator(matplotlib.ticker.FixedLocator(TICKS))
    axes.yaxis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axes.yaxis.set_minor_locator(matplotlib.ticker.NullLocator())
    axes.set_xticks(range(len(distances)),
                    [f"{distance.replace('km', ' km')}\n{time_text(shortest)}"
                     for distance, shortest in zip(distances, least)])
    axes.set_xlim(-0.5, len(distances) - 0.5)
    axes.grid(True, axis="y", which="major", linewidth=0.3, color="#cccccc")
    axes.tick_params(which="both", length=2)
    axes.spines[["top", "right"]].set_visible(False)


def draw(grid):
    measuring.prepare(matplotlib)
    crossings, losses, _, multipaths = (grid.values[key] for key in GRID)
    if len(multipaths) > len(COLOURS):
        raise InputError(f"{len(multipaths)} multipaths: more than {len(COLOURS)} are not told "
                         "apart")
    width, height = 3.05 * len(losses) + 0.75, 2.1 * len(crossings) + 1.15
    figure = matplotlib.figure.Figure(figsize=(width, height))
    panels = figure.subplots(len(crossings), len(losses), sharey="row", squeeze=False,
                             gridspec_kw={"left": 0.7 / width, "right": 1 - 0.1 / width,
                                          "bottom": 0.75 / height, "top": 1 - 0.75 / height,
                                          "wspace": 0.06, "hspace": 0.32})
    for r, crossing in enumerate(crossings):
        for c, loss in enumerate(losses):
            draw_panel(panels[r][c], grid, crossing, loss)
            if r == 0:
                panels[r][c].set_title(loss_text(loss), weight="bold")
        panels[r][0].set_ylabel(f"{TITLES.get(crossing, crossing)}\ntime, log scale")
    seeds = max(len(cell.times) for cell in grid.cells.values())
    figure.text(0.1 / width, 1 - 0.2 / height, "An iteration over two buildings: packet engine, "
                f"means and range of {seeds} seeds", fontsize=10, weight="bold", va="center")
    figure.text(0.1 / width, 1 - 0.4 / height, "Multiples of the shortest mean without loss at the "
                "same distance, which stands below the distance", va="center")
    handles = [matplotlib.lines.Line2D([], [], color=COLOURS[n], marker=MARKERS[n], markersize=4,
                                       linewidth=1.3, label=word)
               for n, word in enumerate(multipaths)]
    figure.legend(handles=handles, loc="lower center", frameon=False, ncols=len(handles),
                  bbox_to_anchor=(0.5, 0.02 / height))
    return figure


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog="example: scaleacross compare STUDY --sweep cluster.cross.loss=0,1e-5 --sweep "
        "cluster.cross.distance=2km,300km --csv grid.csv; multipath_grid.py grid.csv -o grid.svg")
    parser.add_argument("grid", metavar="FILE", type=pathlib.Path,
                        help="what ./scaleacross compare --csv has written")
    parser.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path,
                        help="picture to write, .svg or .png; replaced if it exists")
    parser.add_argument("--page", metavar="FILE", type=pathlib.Path,
                        help="page whose figures are put between their marks; without it the "
                        "table is printed")
    options = parser.parse_args(arguments)
    if options.output and options.output.suffix not in (".svg", ".png"):
        parser.error(f"-o {options.output}: the name has to end in .svg or .png")
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        grid = Grid(options.grid, GRID)
        if options.page:
            tolerance = Grid(options.grid.with_name("tolerance.csv"), TOLERANCE)
            options.page.write_text(page_with(options.page.read_text(encoding="utf-8"),
                                              figures(grid, tolerance)), encoding="utf-8")
        else:
            print(table(grid))
        if options.output:
            measuring.save(draw(grid), options.output)
    except (InputError, OSError) as error:
        print(f"multipath_grid.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
