#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Where a model of yours breaks: its times of a collective against packets, over size, distance, loss.

Runs `scaleacross collective --json` for every combination, on your engines, on ours and on packets,
keeps every row as it is measured, and goes on from there the next time. One table, one picture.
"""

import argparse
import csv
import math
import os
import pathlib
import shlex
import statistics
import sys

import measuring
from measuring import InputError, size_text

try:
    import matplotlib
    import matplotlib.figure
except ModuleNotFoundError as missing:
    print(f"error_map.py: error: {measuring.lacking(missing)}", file=sys.stderr)
    sys.exit(2)

TOP = pathlib.Path(__file__).resolve().parents[1]
TRUTH = "packet"
COLUMNS = ["op", "bytes", "distance_km", "loss", "engine", "time_us", "packet_us", "error"]
# What a case has of its own, and the option that says its values.
VARIED = {"cluster.cross.distance": "--distances", "cluster.cross.loss": "--losses"}
TWICE = math.log(2)  # the ends of the scale of colours: half and twice the time


def percent(error):
    rounded = round(100 * error)
    return f"{rounded:+d} %" if rounded else "0 %"


def name_of(engine):
    """Short, where the engine has been given a name: NAME=command:..."""
    name, equals, _ = engine.partition("=")
    return name if equals and ":" not in name else engine


def contents_of(engine):
    """Fingerprints of the files that an engine names: edited, it is another one."""
    _, _, command = engine.partition(":")
    return [measuring.fingerprint(pathlib.Path(word)) for word in shlex.split(command)
            if pathlib.Path(word).is_file()]


def cases_of(options):
    study, program = (measuring.fingerprint(options.study),
                      measuring.program_fingerprint(options.program))
    return [{"program": program, "study": study, "engine": engine, "contents": contents_of(engine),
             "op": options.op, "bytes": size, "distance_km": distance, "loss": loss, "seed": seed,
             "iterations": options.iterations, **({"set": options.set} if options.set else {})}
            for size in options.sizes for distance in options.distances for loss in options.losses
            for engine in [*options.engines, TRUTH]
            # Only packets, and fluids of messages, draw the packets that are lost, and with some
            # settings their paths.
            for seed in (range(1, options.seeds + 1)
                         if engine.startswith((TRUTH, "flow")) and (loss or options.set) else [1])]


def measured(case, options):
    code, rows, said = measuring.run(
        [options.program, "collective", options.study, "--json", "--op", case["op"],
         "--engine", case["engine"], "-b", str(case["bytes"]), "-e", str(case["bytes"]),
         "--iterations", str(case["iterations"]), "--seed", str(case["seed"]),
         *(word for setting in case.get("set", []) for word in ("--set", setting)),
         "--set", f"cluster.cross.distance={case['distance_km']:g}km",
         "--set", f"cluster.cross.loss={case['loss']:g}"])
    if code:
        raise InputError(f"{name_of(case['engine'])}, {size_text(case['bytes'])}: {said}")
    return {"time_us": rows[0]["time_us"]}


def table_of(rows):
    """A row for every engine and case, the mean over seeds; error is time / packets - 1."""
    times = {}
    for row in rows:
        case = row["case"]
        key = case["op"], case["bytes"], case["distance_km"], case["loss"]
        times.setdefault(key, {}).setdefault(name_of(case["engine"]), []).append(row["time_us"])
    table = []
    for key, by_engine in times.items():
        packets = statistics.fmean(by_engine.pop(TRUTH))
        for engine, own in by_engine.items():
            time = statistics.fmean(own)
            table.append(dict(zip(COLUMNS, [*key, engine, time, packets, time / packets - 1])))
    return table


def draw(table, options):
    measuring.prepare(matplotlib)
    engines = [name_of(engine) for engine in options.engines]
    figure = matplotlib.figure.Figure(
        figsize=(1.2 + (0.75 * len(options.sizes) + 0.5) * len(options.losses),
                 0.9 + (0.45 * len(options.distances) + 0.5) * len(engines)), layout="constrained")
    panels = figure.subplots(len(engines), len(options.losses), squeeze=False, sharex=True,
                             sharey=True)
    errors = {(row["engine"], row["loss"], row["distance_km"], row["bytes"]): row["error"]
              for row in table}
    for engine, line in zip(engines, panels):
        for loss, axes in zip(options.losses, line):
            cells = [[math.log1p(errors[engine, loss, distance, size]) for size in options.sizes]
                     for distance in options.distances]
            image = axes.imshow(cells, cmap="RdBu_r", vmin=-TWICE, vmax=TWICE, aspect="auto")
            for y, own in enumerate(cells):
                for x, value in enumerate(own):
                    axes.text(x, y, percent(math.expm1(value)), ha="center", va="center",
                              color="white" if abs(value) > 0.6 * TWICE else "black")
            axes.set_title(f"{engine}, " + (f"loss {loss:g}" if loss else "no loss"))
            axes.set_xticks(range(len(options.sizes)), map(size_text, options.sizes))
            axes.set_yticks(range(len(options.distances)),
                            [f"{distance:g} km" for distance in options.distances])
    bar = figure.colorbar(image, ax=panels, ticks=[-TWICE, 0, TWICE], shrink=0.8)
    bar.ax.set_yticklabels(["half", "as packets", "twice"])
    measuring.save(figure, options.output)


def parse(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("study", type=pathlib.Path)
    parser.add_argument("--engines", nargs="+", required=True, metavar="ENGINE",
                        help="such as mine='command:python3 mine.py' analytical flow")
    parser.add_argument("--op", default="all_reduce")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="of the study, in every run: such as network.multipath=e-ecmp; "
                        "repeatable")
    parser.add_argument("--sizes", type=measuring.listed(measuring.size), default="64K,1M,16M",
                        help="default: %(default)s")
    parser.add_argument("--distances", type=measuring.listed(measuring.kilometres),
                        default="1,30,300", help="in km (default: %(default)s)")
    parser.add_argument("--losses", type=measuring.listed(measuring.loss), default="0,1e-4",
                        help="probability that a packet is lost (default: %(default)s)")
    parser.add_argument("--seeds", type=measuring.whole(1, 1000), default=4,
                        help="draws of lost packets (default: %(default)s)")
    parser.add_argument("--iterations", type=measuring.whole(1, measuring.MOST_ITERATIONS),
                        default=4, help="collectives of a run (default: %(default)s)")
    measuring.add_jobs(parser)
    parser.add_argument("--rows", type=pathlib.Path, default=pathlib.Path("error-map.jsonl"))
    parser.add_argument("--csv", type=pathlib.Path, default=pathlib.Path("errors.csv"))
    parser.add_argument("-o", "--output", type=pathlib.Path, default=pathlib.Path("errors.png"))
    parser.add_argument("--program", type=pathlib.Path,
                        default=os.environ.get("SCALEACROSS_PROGRAM", TOP / "build" / "release" /
                                               "bin" / "scaleacross"))
    options = parser.parse_args(arguments)
    if options.output.suffix not in (".svg", ".png"):
        parser.error(f"-o {options.output}: the name has to end in .svg or .png")
    names = [name_of(engine) for engine in options.engines]
    for setting in options.set:
        key, equals, _ = setting.partition("=")
        if not equals:
            parser.error(f"--set {setting}: this is not KEY=VALUE")
        if key in VARIED:
            parser.error(f"--set {key}: the map varies it; say {VARIED[key]}")
    if TRUTH in names or len(set(names)) < len(names):
        parser.error(f"--engines: every name once, and {TRUTH} is what they are held against")
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        table = table_of(measuring.measure(cases_of(options), options.rows, options.jobs,
                                           lambda case: measured(case, options)))
        with options.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
            writer.writeheader()
            writer.writerows(table)
        draw(table, options)
    except (InputError, OSError) as error:
        print(f"error_map.py: error: {error}", file=sys.stderr)
        return 2
    for engine in map(name_of, options.engines):
        errors = sorted((row["error"] for row in table if row["engine"] == engine), key=abs)
        print(f"{engine:16} {measuring.counted(len(errors), 'case')}, half within {100 * abs(errors[len(errors) // 2]):.1f} %, "
              f"worst {100 * errors[-1]:+.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
