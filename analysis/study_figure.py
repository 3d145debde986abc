#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Draws where the time of an iteration goes: the best plan of each placement, and the baselines."""

import argparse
import io
import pathlib
import sys
import textwrap

import measuring

try:
    import matplotlib
    import matplotlib.figure
    import pandas

    from scaleacross import database
except ModuleNotFoundError as missing:
    if __name__ != "__main__":
        raise
    print(f"study_figure.py: error: {measuring.lacking(missing)}", file=sys.stderr)
    sys.exit(2)

# Part of the iteration, its name in the legend, colour, and colour of text on it. The hues are
# those of Okabe and Ito, which people with any kind of colour vision tell apart.
PARTS = [
    ("compute", "compute", "#4d4d4d", "white"),
    ("tp", "exposed TP", "#e69f00", "black"),
    ("ep", "exposed EP", "#56b4e9", "black"),
    ("cp", "exposed CP", "#009e73", "white"),
    ("pp", "exposed PP", "#cc79a7", "black"),
    ("dp", "exposed DP", "#0072b2", "white"),
    ("bubble", "bubble", "#d9d9d9", "black"),
]
GREY = "#595959"
# As ordered in the label of a ranked plan.
NETWORK_COLUMNS = ["transport", "multipath", "control", "recovery", "qps", "balance", "collective"]

# Inches.
WIDTH, LEFT, RIGHT, ROW, BOTTOM = 9.0, 1.25, 0.2, 0.68, 0.55
LINE = 0.2


def bars_of(connection, search):
    """One row per bar, fastest first: name, label, time, crossing and the parts, in seconds."""
    ranked = database.ranked_plans(connection, search["id"])
    best = ranked[ranked["best_of_crossing"] == 1].copy()
    if best.empty:
        counts = database.rejections(connection, search["id"])
        why = ", ".join(f"{row.count} {row.reason}" for row in counts.itertuples(index=False)
                        if row.reason != "bound")  # these may run
        raise database.InputError(f"no plan of study '{search['study']}' can run: {why}")
    best["name"] = "best " + best["crossing"].str.upper() + "-out"
    best["baseline"] = False

    # The label of a ranked plan also tells the network settings that were searched; a baseline's
    # label tells none, so that the same ones are added here.
    others = database.baselines(connection, search["id"])
    others = others[others["status"] == "ok"].copy()
    for column in NETWORK_COLUMNS:
        if best["label"].str.contains(f" {column}=", regex=False).any():
            others["label"] += f" {column}=" + others[column].map("{:.0f}".format
                                                                 if column == "qps" else str)
    others["baseline"] = True

    bars = pandas.concat([best, others], ignore_index=True)
    bars = bars.sort_values(["iteration_time_s", "name"], ignore_index=True)
    exposed = database.class_times(connection, bars["run_id"]).reset_index(drop=True)
    parts = pandas.concat([bars["compute_s"].rename("compute"), exposed,
                           bars["bubble_s"].rename("bubble")], axis=1)
    gpus = bars["tp"] * bars["cp"] * bars["pp"] * bars["dp"]
    columns = ["name", "label", "iteration_time_s", "baseline"]
    return pandas.concat([bars[columns], gpus.rename("gpus"), parts], axis=1)


def unit_of(bars):
    """Name and seconds of the unit in which all times of the figure are given."""
    return ("ms", 1e-3) if bars["iteration_time_s"].max() < 10 else ("s", 1.0)


def digits(value, count):
    """So many significant digits, zeros included, and never fewer than a number has before its point:
    22.0, 1045, and of 1158 with three 1158."""
    return f"{value:.0f}" if value >= 10**count - 0.5 else f"{value:#.{count}g}".rstrip(".")


def percent(time, reference):
    """How much longer than the reference a time is, with its sign."""
    excess = 100 * (time / reference - 1)
    return f"{excess:+.{1 if abs(excess) < 100 else 0}f} %"


def comparison(time, reference):
    text = percent(time, reference)
    return f"takes {text[1:]} {'less time' if text[0] == '-' else 'longer'}"


def headline(bars, search):
    """The answer in one sentence."""
    best = bars[~bars["baseline"]]
    names = list(best["name"].str.replace("best ", "", regex=False))
    times = list(best["iteration_time_s"])
    # The explanation is the only place where the database says how far a time can be trusted.
    tie = any(line.startswith("Placement:") and "Placement does not decide here" in line
              for line in (search["explanation"] or "").splitlines())
    if len(best) == 1:
        text = f"The best plan is {names[0]}"
    elif tie:
        text = (f"{names[0]} and {names[1]} differ by {percent(times[1], times[0])[1:]}, "
                "which the model does not tell apart")
    else:
        text = f"{names[0]} is best, {names[1]} {comparison(times[1], times[0])}"
    others = bars[bars["baseline"]]
    if not others.empty:
        first = others.iloc[0]
        text += f"; baseline {first['name']} {comparison(first['iteration_time_s'], times[0])}"
    return text + "."


def caption(bars, search, missing):
    unit, scale = unit_of(bars)
    text = (f"Means over the ranks, {search['engine']} engine. Percentages compare with the best "
            f"of {search['plans']:,} combinations searched")
    if pandas.notna(search["bound_s"]):
        text += f"; none of them can take less than {digits(search['bound_s'] / scale, 4)} {unit}"
    text += "."
    for row in missing.itertuples():
        text += f" Baseline {row.name} has no result: {row.reason}."
    return text


def draw_bars(axes, bars):
    """All that has to do with the axes; returns the patches for the legend by their names."""
    unit, scale = unit_of(bars)
    longest = bars["iteration_time_s"].max() / scale
    reference = bars.loc[~bars["baseline"], "iteration_time_s"].min()
    shown = [part for part in PARTS if bars[part[0]].max() > 0.002 * longest * scale]
    handles = {}
    for row, bar in bars.iterrows():
        begin = 0.0
        for part, name, colour, ink in shown:
            length = bar[part] / scale
            handles[name], = axes.barh(row, length, 0.5, begin, color=colour, edgecolor="white",
                                       linewidth=0.5)
            handles[name].set_gid(f"{bar['name']}: {part}")
            if length > 0.055 * longest:
                axes.text(begin + length / 2, row, digits(length, 3), color=ink, ha="center",
                          va="center_baseline", fontsize=8)
            begin += length
        time = bar["iteration_time_s"]
        text = f"{digits(time / scale, 4)} {unit}"
        if time != reference:
            text += f" ({percent(time, reference)})"
        axes.annotate(text, (time / scale, row), (5, 0), textcoords="offset points",
                      va="center_baseline", weight="bold")
        axes.annotate(bar["label"], (0, row - 0.28), (1, 0), textcoords="offset points",
                      va="bottom", fontsize=8, color=GREY)

    axes.set_xlim(0, 1.24 * longest)
    axes.set_ylim(len(bars) - 0.6, -0.6)
    axes.set_yticks(range(len(bars)), bars["name"].where(~bars["baseline"],
                                                         "baseline\n" + bars["name"]))
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"time of one iteration ({unit})", loc="left")
    axes.set_xticks([tick for tick in axes.get_xticks() if tick <= longest])
    axes.spines[:].set_visible(False)
    return handles


def draw(bars, search, missing):
    """The figure; missing are the baselines without a result."""
    # Text stays text, for a small file that can be searched, and nothing depends on the user.
    matplotlib.rcdefaults()
    matplotlib.rcParams.update({
        "font.family": "sans-serif", "font.size": 9, "text.parse_math": False,
        "axes.unicode_minus": False, "svg.fonttype": "none", "svg.hashsalt": "scaleacross"})
    title = textwrap.wrap(f"{', '.join([search['study'], *search.get('changes', [])])}, {bars['gpus'].iloc[0]:,} GPUs", 75)
    answer = textwrap.wrap(headline(bars, search), 115)
    notes = textwrap.wrap(caption(bars, search, missing), 150)
    top = LINE * (len(title) + len(answer) + 2.4)
    bottom = BOTTOM + LINE * len(notes)
    height = top + ROW * len(bars) + bottom

    figure = matplotlib.figure.Figure(figsize=(WIDTH, height))
    axes = figure.add_axes((LEFT / WIDTH, bottom / height, (WIDTH - LEFT - RIGHT) / WIDTH,
                            ROW * len(bars) / height))
    handles = draw_bars(axes, bars)

    def line(number):
        return 1 - LINE * number / height

    for number, text in enumerate(title):
        figure.text(0.1 / WIDTH, line(number + 1.1), text, fontsize=12, weight="bold")
    for number, text in enumerate(answer, len(title)):
        figure.text(0.1 / WIDTH, line(number + 1.2), text, fontsize=10.5)
    figure.legend(handles.values(), handles.keys(), loc="upper left", frameon=False,
                  bbox_to_anchor=(LEFT / WIDTH, line(len(title) + len(answer) + 0.9)),
                  borderpad=0, borderaxespad=0, ncols=len(handles), handlelength=1.0,
                  handleheight=1.0, columnspacing=1.4)
    for number, text in enumerate(notes):
        figure.text(0.1 / WIDTH, (LINE * (len(notes) - number) - 0.1) / height, text, fontsize=8,
                    color=GREY)
    return figure


def data_of(connection, search):
    """All that the figure of a search shows, as plain values: draw_data() draws it without the
    database."""
    every = database.baselines(connection, search["id"])
    missing = every[every["status"] != "ok"]
    bars = bars_of(connection, search)

    def plain(value):
        return value.item() if hasattr(value, "item") else value

    changes = database.changes_of(search)
    return {
        "bars": [{key: plain(value) for key, value in row.items()}
                 for row in bars.to_dict("records")],
        "search": {key: None if pandas.isna(search[key]) else plain(search[key])
                   for key in ("study", "engine", "plans", "bound_s", "explanation")} |
                  ({"changes": changes} if changes else {}),
        "missing": [{"name": row.name, "reason": row.reason}
                    for row in missing[["name", "reason"]].itertuples(index=False)],
    }


def draw_data(data):
    """The figure of what data_of() gave."""
    return draw(pandas.DataFrame(data["bars"]), data["search"],
                pandas.DataFrame(data["missing"], columns=["name", "reason"]))


def image_of(figure, suffix):
    """The same bytes for the same figure: no dates, no versions."""
    image = io.BytesIO()
    if suffix == ".svg":
        figure.savefig(image, format="svg", metadata={"Date": None, "Creator": None})
    else:
        figure.savefig(image, format="png", dpi=160, metadata={"Software": None})
    return image.getvalue()


def save(figure, path):
    try:
        path.write_bytes(image_of(figure, path.suffix))
    except OSError as error:
        raise database.InputError(f"{path}: cannot be written: {error.strerror}") from error


def parse(arguments):
    parser = argparse.ArgumentParser(
        description="Draws the best plan of each placement (DP-out: data parallelism crosses the "
        "buildings; PP-out: pipeline parallelism does) and the baselines of a finished search as "
        "bars: compute, exposed communication by class, and pipeline bubble.",
        epilog="example: study_figure.py maverick.db -o maverick.svg")
    parser.add_argument("db", metavar="DB", type=pathlib.Path,
                        help="database that ./scaleacross explore has written")
    parser.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path, required=True,
                        help="picture to write, .svg or .png; replaced if it exists")
    parser.add_argument("--study", metavar="NAME",
                        help="study to draw, where the database holds several")
    parser.add_argument("--search", metavar="ID", type=measuring.whole(1),
                        help="search to draw, where a study was searched in several settings")
    options = parser.parse_args(arguments)
    if options.output.suffix not in (".svg", ".png"):
        parser.error(f"-o {options.output}: the name has to end in .svg or .png")
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        with database.open_database(options.db) as connection:
            search = database.choose_search(connection, options.study, options.search)
            if search["finished"] != 1:
                raise database.InputError("the search is not finished; the same ./scaleacross explore "
                                          "goes on")
            data = data_of(connection, search)
        save(draw_data(data), options.output)
    except database.InputError as error:
        print(f"study_figure.py: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
