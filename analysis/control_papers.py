#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Puts congestion controls into the set-ups of their papers, and their figures beside the papers'.

Drives `scaleacross fairness --json` and knows no more of the program than its arguments and keys.
What the papers say, where, and how it was set up is in control-papers.json.
"""

import argparse
import concurrent.futures
import json
import pathlib
import sys

import measuring
from measuring import InputError

HERE = pathlib.Path(__file__).resolve().parent
OVERHEAD = 82  # bytes of a packet besides its payload


def rate_of(run):
    return sum(run["rates_gbps"])


def round_trip_us(run):
    """The mean round trip: the one without waiting, and the mean wait at the shared port."""
    return run["base_rtt_us"] + run["queue_mean_bytes"] * 8e-3 / run["rate_gbps"]


def packets(key):
    return lambda run: run[key] / (run["payload"] + OVERHEAD)


# What can be compared: unit and digits after the point, and how it is taken from a run.
QUANTITIES = {
    "Jain's index": ("{:.3f}", lambda run: run["jain"]),
    "line used": ("{:.1f} %", lambda run: 100 * run["share"]),
    "throughput": ("{:.1f} Gb/s", rate_of),
    "mean round trip": ("{:.1f} us", round_trip_us),
    "mean queue": ("{:.1f} packets", packets("queue_mean_bytes")),
    "median queue": ("{:.1f} packets", packets("queue_p50_bytes")),
    "99 % of the queue": ("{:.1f} packets", packets("queue_p99_bytes")),
    "mean queue, kB": ("{:.1f} kB", lambda run: run["queue_mean_bytes"] * 1e-3),
    "90 % of the queue, kB": ("{:.1f} kB", lambda run: run["queue_p90_bytes"] * 1e-3),
    "99 % of the queue, kB": ("{:.1f} kB", lambda run: run["queue_p99_bytes"] * 1e-3),
    "time until fair": ("{:.1f} ms", lambda run: None if run["convergence_us"] is None
                        else run["convergence_us"] * 1e-3),
    "marked": ("{:.4f}", lambda run: run["marked"]),
    "drops": ("{:.0f}", lambda run: run["dropped"]),
}


def read_points(path):
    try:
        points = json.loads(path.read_text())["points"]
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except (json.JSONDecodeError, KeyError, TypeError) as error:
        raise InputError(f"{path}: not a file of points: {error}") from error
    for point in points:
        for figure in point["figures"]:
            if figure["quantity"] not in QUANTITIES:
                raise InputError(f"{path}: {point['name']}: no quantity '{figure['quantity']}'; "
                                 f"there are {', '.join(QUANTITIES)}")
    return points


def run_point(program, point):
    code, answer, said = measuring.run(
        [program, "fairness", "--json", "--control", point["control"], *point["arguments"]])
    if code != 0:
        raise InputError(f"{point['name']}: {said}")
    return answer


def verdict(figure, value, runs):
    """'met' or 'missed': a value or an end of a range is met within so many per cent."""
    paper = figure["paper"]
    if value is None:
        return "missed"
    if "above" in paper:
        _, take = QUANTITIES[figure["quantity"]]
        return "met" if value > take(runs[paper["above"]]) else "missed"
    if "value" in paper:
        low = high = paper["value"]
    else:
        low, high = paper.get("from", float("-inf")), paper.get("to", float("inf"))
    slack = paper.get("within", 0) / 100
    return "met" if low * (1 - slack) <= value <= high * (1 + slack) else "missed"


def paper_text(figure):
    form, _ = QUANTITIES[figure["quantity"]]
    paper = figure["paper"]
    if "text" in paper:
        return paper["text"]
    if "value" in paper:
        return form.format(paper["value"])
    if "to" not in paper:
        return "at least " + form.format(paper["from"])
    if "from" not in paper:
        return "at most " + form.format(paper["to"])
    return form.format(paper["from"]).split(" ")[0] + " to " + form.format(paper["to"])


def rows_of(points, runs):
    rows = []
    for point in points:
        for figure in point["figures"]:
            form, take = QUANTITIES[figure["quantity"]]
            value = take(runs[point["name"]])
            rows.append({"point": point, "figure": figure, "value": value,
                         "here": "never" if value is None else form.format(value),
                         "verdict": verdict(figure, value, runs)})
    return rows


def markdown(rows):
    """The table, and below it why what is missed is missed."""
    lines = ["| control | set-up | source | figure | paper | here | |",
             "|---|---|---|---|---|---|---|"]
    notes = []
    before = None
    for row in rows:
        point, figure = row["point"], row["figure"]
        same = before is point
        before = point
        mark = row["verdict"]
        if figure.get("note"):
            if figure["note"] not in notes:
                notes.append(figure["note"])
            mark += f" ({notes.index(figure['note']) + 1})"
        quantity = figure["quantity"].removesuffix(", kB")
        lines.append("| " + " | ".join(
            ["" if same else point["control"], "" if same else point["setup"], figure["source"],
             quantity, paper_text(figure) + (" *" if figure.get("secondhand") else ""),
             row["here"], mark]) + " |")
    if any(row["figure"].get("secondhand") for row in rows):
        lines += ["", "\\* as others quote the paper."]
    if notes:
        lines.append("")
        lines += [f"{number}. {note}" for number, note in enumerate(notes, 1)]
    return "\n".join(lines) + "\n"


def parse(arguments):
    parser = argparse.ArgumentParser(
        description="Puts congestion controls into the set-ups of their papers and prints their "
        "figures beside the papers' as a Markdown table.",
        epilog="example: control_papers.py --check --table control-papers.md")
    parser.add_argument("--points", type=pathlib.Path, default=HERE / "control-papers.json",
                        help="what the papers say (default: the file beside this script)")
    parser.add_argument("--program", type=pathlib.Path,
                        default=HERE.parent / "build" / "release" / "bin" / "scaleacross",
                        help="default: the one of this checkout")
    parser.add_argument("--only", metavar="NAMES", help="points to run, separated by commas")
    parser.add_argument("--table", metavar="FILE", type=pathlib.Path,
                        help="file for the table; default: standard output")
    parser.add_argument("--check", action="store_true",
                        help="exit with 1 if a figure is met or missed that the points say is not")
    measuring.add_jobs(parser)
    options = parser.parse_args(arguments)
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        points = read_points(options.points)
        if options.only:
            names = options.only.split(",")
            known = [point["name"] for point in points]
            for name in names:
                if name not in known:
                    raise InputError(f"--only {name}: there are {', '.join(known)}")
            chosen = [point for point in points if point["name"] in names]
        else:
            chosen = points
        needed = {point["name"] for point in chosen} | {
            figure["paper"]["above"] for point in chosen for figure in point["figures"]
            if "above" in figure["paper"]}
        todo = [point for point in points if point["name"] in needed]
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            answers = pool.map(lambda point: run_point(options.program, point), todo)
            runs = {point["name"]: run for point, run in zip(todo, answers)}
        rows = rows_of(chosen, runs)
        if options.table:
            options.table.write_text(markdown(rows))
        else:
            print(markdown(rows), end="")
    except (InputError, OSError) as error:
        print(f"control_papers.py: {error}", file=sys.stderr)
        return 2
    if options.check:
        changed = [row for row in rows if row["verdict"] != row["figure"]["expected"]]
        for row in changed:
            print(f"control_papers.py: {row['point']['name']}: {row['figure']['quantity']} "
                  f"{row['here']} is {row['verdict']} beside {paper_text(row['figure'])}, expected "
                  f"{row['figure']['expected']}", file=sys.stderr)
        return 1 if changed else 0
    return 0


if __name__ == "__main__":
    sys.exit(main())
