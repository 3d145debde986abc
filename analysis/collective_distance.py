#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Times a collective between two buildings over distance, size, loss and transport.

Drives `scaleacross collective --json` and knows no more of the program than its arguments and rows.
Writes every row to a file as it is measured and goes on from there the next time; then one table
(Markdown or CSV) and one picture, both engines side by side.
"""

import argparse
import pathlib
import sys

import measuring
from measuring import COLOURS, InputError, listed, size_text, time_text

try:
    import matplotlib
    import matplotlib.figure
    import matplotlib.lines
    import matplotlib.ticker
except ModuleNotFoundError as missing:
    print(f"collective_distance.py: error: {measuring.lacking(missing)}", file=sys.stderr)
    sys.exit(2)

HERE = pathlib.Path(__file__).resolve().parent
ENGINES = ["analytical", "packet"]
MARKERS = ["o", "s", "^", "D", "v", "P"]


class Program:
    """scaleacross, and the study that is varied."""

    def __init__(self, path, study):
        self.path = path
        self.study = study
        self.identity = measuring.program_fingerprint(path)

    def collective(self, case):
        """The program's answer to one case: exit code, row or None, and what it complains of."""
        settings = [f"cluster.cross.distance={case['distance_km']:g}km",
                    f"cluster.cross.loss={case['loss']:g}"]
        settings += [f"network.{key}={value}" for key, value in case["network"].items()]
        words = [word for setting in settings for word in ("--set", setting)]
        code, rows, said = measuring.run(
            [self.path, "collective", self.study, "--json", "--engine", case["engine"],
             "--op", case["op"], "--group", case["group"], "-b", str(case["bytes"]),
             "-e", str(case["bytes"]), "--warmup", "0", "--iterations",
             str(case["iterations"]), "--seed", str(case["seed"]),
             "--time-limit", "300s", *words])
        return code, rows[0] if rows else None, said


def tick_text(us):
    return f"{us:g} us" if us < 1e3 else f"{us / 1e3:g} ms" if us < 1e6 else f"{us / 1e6:g} s"


def transports_of(texts):
    """'ecmp+go-back-n' as the settings of network: multipath, recovery."""
    transports = {}
    for text in texts:
        parts = text.split("+")
        if len(parts) != 2 or not all(parts):
            raise InputError(f"--transports {text}: not MULTIPATH+RECOVERY, such as "
                             "ecmp+go-back-n")
        transports[text] = {"multipath": parts[0], "recovery": parts[1]}
    return transports


def cases_of(options, transports, program):
    """Every combination, quick ones first, so that what is wrong shows early."""
    study = measuring.fingerprint(options.study)
    cases = []
    for size in options.sizes:
        # The mean over more collectives where they are short: losses are rare.
        iterations = max(1, min(16, options.bytes // size))
        for distance in options.distances:
            for loss in options.losses:
                for name, network in transports.items():
                    for engine in ENGINES:
                        cases.append({
                            "program": program.identity, "study": study, "op": options.op,
                            "group": options.group, "distance_km": distance,
                            "loss": loss, "transport": name, "network": network, "bytes": size,
                            "engine": engine, "seed": options.seed,
                            "iterations": 1 if engine == "analytical" else iterations})
    return cases


def offered(program, transports, cases):
    """The transports that the program has; the others are named on standard error."""
    found = {}
    for name in transports:
        case = next(case for case in cases if case["transport"] == name)
        code, _, said = program.collective(case)
        if code == 2 and ("network.multipath" in said or "network.recovery" in said):
            print(f"collective_distance.py: left out {name}: {said}", file=sys.stderr)
        elif code == 2:
            raise InputError(said)
        else:
            found[name] = transports[name]
    if not found:
        raise InputError("the program offers none of the transports")
    return found


def measured(program, case):
    """What one case gives: its time, or why there is none."""
    code, answer, said = program.collective(case)
    if code == 2:
        raise InputError(said)
    if code == 1:
        return {"time_us": None, "reason": measuring.problem_of(said)}
    return {"time_us": answer["time_us"], "busbw_GBps": answer["busbw_GBps"],
            "retransmissions": answer["network"]["retransmissions"]}


class Results:
    """The times by distance, loss, transport, size and engine."""

    def __init__(self, rows, options, transports):
        self.rows = rows
        self.options = options
        self.transports = list(transports)
        self.times = {}
        for row in rows:
            case = row["case"]
            self.times[case["distance_km"], case["loss"], case["transport"], case["bytes"],
                       case["engine"]] = row["time_us"]

    def series(self, distance, loss, transport, engine):
        """Sizes and times that were measured."""
        points = [(size, self.times[distance, loss, transport, size, engine])
                  for size in self.options.sizes]
        return [p for p in points if p[1] is not None]


def csv(results):
    lines = ["distance_km,loss,multipath,recovery,bytes,engine,iterations,time_us,busbw_GBps,"
             "retransmissions"]
    for row in results.rows:
        case = row["case"]
        measured = [f"{row[key]:.6g}" if row["time_us"] is not None else ""
                    for key in ("time_us", "busbw_GBps", "retransmissions") if key in row]
        measured += [""] * (3 - len(measured))
        lines.append(",".join(
            [f"{case['distance_km']:g}", f"{case['loss']:g}", case["network"]["multipath"],
             case["network"]["recovery"], str(case["bytes"]), case["engine"],
             str(case["iterations"]), *measured]))
    return "\n".join(lines) + "\n"


def markdown(results):
    """Packet engine, and in brackets what the analytical engine says of it, in per cent."""
    sizes = results.options.table_sizes
    columns = [(transport, size) for transport in results.transports for size in sizes]
    lines = ["| distance | loss | " +
             " | ".join(f"{transport}, {size_text(size)}" for transport, size in columns) + " |",
             "|---" * (len(columns) + 2) + "|"]
    for distance in results.options.distances:
        for loss in results.options.losses:
            cells = []
            for transport, size in columns:
                packet, model = (results.times[distance, loss, transport, size, engine]
                                 for engine in ("packet", "analytical"))
                if packet is None or model is None:
                    cells.append("failed")
                else:
                    cells.append(f"{time_text(packet)} ({100 * (model / packet - 1):+.0f} %)")
            lines.append(f"| {distance:g} km | {loss:g} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def draw(results):
    """One panel per distance and loss: time against size, packets as marks, model as lines."""
    measuring.prepare(matplotlib)
    options = results.options
    rows, columns = len(options.losses), len(options.distances)
    width, height = 1.95 * columns + 0.5, 1.6 * rows + 1.3
    figure = matplotlib.figure.Figure(figsize=(width, height))
    panels = figure.subplots(rows, columns, sharex=True, sharey="col", squeeze=False,
                             gridspec_kw={"left": 0.75 / width, "right": 1 - 0.1 / width,
                                          "bottom": 0.75 / height, "top": 1 - 0.55 / height,
                                          "wspace": 0.33, "hspace": 0.12})
    for r, loss in enumerate(options.losses):
        for c, distance in enumerate(options.distances):
            axes = panels[r][c]
            for number, transport in enumerate(results.transports):
                colour = COLOURS[number % len(COLOURS)]
                model = results.series(distance, loss, transport, "analytical")
                packet = results.series(distance, loss, transport, "packet")
                axes.plot(*zip(*model), color=colour, linewidth=1.1)
                if packet:
                    axes.plot(*zip(*packet), color=colour, linestyle="none", markersize=4.5,
                              marker=MARKERS[number % len(MARKERS)], markerfacecolor="none")
            axes.set_xscale("log", base=2)
            axes.set_yscale("log")
            axes.set_xticks(options.sizes[::2],
                            [size_text(size).replace("iB", "").replace(" ", "")
                             for size in options.sizes[::2]])
            axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(10, (1, 2, 5)))
            axes.yaxis.set_major_formatter(lambda us, _: tick_text(us))
            axes.yaxis.set_minor_formatter(matplotlib.ticker.NullFormatter())
            axes.grid(True, which="major", linewidth=0.3, color="#cccccc")
            axes.tick_params(which="both", length=2)
            axes.spines[["top", "right"]].set_visible(False)
            if r == 0:
                axes.set_title(f"{distance:g} km", weight="bold")
            if c == 0:
                axes.set_ylabel(f"loss {loss:g}", weight="bold")
            if r == rows - 1:
                axes.set_xlabel("message size (B)")
    handles = [matplotlib.lines.Line2D([], [], color=COLOURS[n % len(COLOURS)], label=name,
                                       marker=MARKERS[n % len(MARKERS)], markerfacecolor="none",
                                       linewidth=1.1)
               for n, name in enumerate(results.transports)]
    what = options.op.replace("_", "-")
    figure.text(0.1 / width, 1 - 0.22 / height, f"{what} between two buildings: packets (marks) "
                "and analytical model (lines)", fontsize=10.5, weight="bold")
    figure.legend(handles=handles, loc="lower center", frameon=False, ncols=len(handles),
                  bbox_to_anchor=(0.5, 0.02 / height))
    return figure


def parse(arguments):
    parser = argparse.ArgumentParser(
        description="Times a collective between two buildings over distance, message size, loss "
        "and transport on both engines, and makes a table and a picture of it. What is measured "
        "is kept in --rows; the same command goes on from there.",
        epilog="example: collective_distance.py -o distance.svg --table distance.md")
    parser.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path, required=True,
                        help="picture to write, .svg or .png")
    parser.add_argument("--table", metavar="FILE", type=pathlib.Path,
                        help="table to write: .md, or .csv with every row; default: Markdown on "
                        "standard output")
    parser.add_argument("--rows", metavar="FILE", type=pathlib.Path,
                        default=pathlib.Path("collective-distance.jsonl"),
                        help="what was measured so far (default: %(default)s)")
    parser.add_argument("--program", type=pathlib.Path,
                        default=HERE.parent / "build" / "release" / "bin" / "scaleacross",
                        help="default: the one of this checkout")
    parser.add_argument("--study", type=pathlib.Path, default=HERE / "collective-distance.yaml")
    measuring.add_jobs(parser)
    parser.add_argument("--op", default="all_reduce")
    parser.add_argument("--group", default="across")
    parser.add_argument("--seed", type=measuring.whole(1, measuring.MOST_SEED), default=1)
    parser.add_argument("--distances", type=listed(measuring.kilometres),
                        default="0.5,3,30,100,1000",
                        help="km (default: %(default)s)")
    parser.add_argument("--losses", type=listed(measuring.loss), default="0,1e-6,1e-5,1e-4",
                        help="probability that a packet is lost (default: %(default)s)")
    parser.add_argument("--sizes", type=listed(measuring.size),
                        default="64K,256K,1M,4M,16M,64M", help="default: %(default)s")
    parser.add_argument("--table-sizes", type=listed(measuring.size), default="1M,64M",
                        help="of them, what the Markdown table shows (default: %(default)s)")
    parser.add_argument("--transports", type=listed(str),
                        default="ecmp+go-back-n,e-ecmp+go-back-n,e-ecmp+selective-repeat,"
                        "spray-adaptive+selective-repeat",
                        help="MULTIPATH+RECOVERY; those that the program has not are left out "
                        "(default: %(default)s)")
    parser.add_argument("--bytes", type=measuring.size, default="64M",
                        help="a size is repeated up to 16 times, until so many bytes are reduced "
                        "(default: %(default)s)")
    options = parser.parse_args(arguments)
    if options.output.suffix not in (".svg", ".png"):
        parser.error(f"-o {options.output}: the name has to end in .svg or .png")
    if options.table and options.table.suffix not in (".md", ".csv"):
        parser.error(f"--table {options.table}: the name has to end in .md or .csv")
    for size in options.table_sizes:
        if size not in options.sizes:
            parser.error(f"--table-sizes: {size_text(size)} is not measured; give some of --sizes, "
                         f"which are {', '.join(map(size_text, options.sizes))}")
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        program = Program(options.program, options.study)
        transports = transports_of(options.transports)
        transports = offered(program, transports, cases_of(options, transports, program))
        cases = cases_of(options, transports, program)
        rows = measuring.measure(cases, options.rows, options.jobs,
                                 lambda case: measured(program, case))
        results = Results(rows, options, transports)
        table = csv(results) if options.table and options.table.suffix == ".csv" else (
            markdown(results))
        measuring.save(draw(results), options.output)
        if options.table:
            options.table.write_text(table)
        else:
            print(table, end="")
    except InputError as error:
        print(f"collective_distance.py: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"collective_distance.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("collective_distance.py: interrupted; the same command goes on from here",
              file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
