#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Times collectives over distance as libraries run them: NCCL's slots, and NCCLX's far settings.

Drives `scaleacross collective --json` at every distance on the analytical engine, and at some points
on packets. Writes one table (Markdown) and one picture.
"""

import argparse
import pathlib
import sys

import measuring
from measuring import COLOURS, InputError, time_text

try:
    import matplotlib
    import matplotlib.figure
    import matplotlib.lines
    import matplotlib.ticker
except ModuleNotFoundError as missing:
    print(f"nccl_distance.py: error: {measuring.lacking(missing)}", file=sys.stderr)
    sys.exit(2)

HERE = pathlib.Path(__file__).resolve().parent
MIB = 2**20
DISTANCES = [0, 0.5, 3, 10, 30, 100, 300, 1000]  # km

# What is set of the network, by the name of a line. NCCLX copies nothing, cuts chunks by its rule
# (channels without a size) and has 16 queue pairs with 128 segments of 512 KiB under way for far
# peers; the others are NCCL's choice, with its default of one queue pair and with two.
LIBRARIES = {
    "NCCL, 1 queue pair": {"collective": "nccl", "qps": 1},
    "NCCL, 2 queue pairs": {"collective": "nccl", "qps": 2, "balance": "round-robin"},
    "NCCL, rings": {"collective": "nccl", "nccl_algorithm": "ring", "nccl_protocol": "simple",
                    "qps": 1},
    "NCCLX, far": {"collective": "hierarchical", "copy": "zero-copy", "channels": 8, "qps": 16,
                   "segment": "512KiB", "outstanding": 128, "balance": "dqplb"}}
# Operation, group, size.
WORK = [("all_reduce", "all", 16 * MIB), ("all_reduce", "all", 256 * MIB),
        ("all_reduce", "all", 4096 * MIB), ("sendrecv", "across", 64 * MIB)]
# Measured on packets too: what a few minutes are enough for.
PACKETS = [(1, "NCCL, rings"), (3, "NCCL, 1 queue pair"), (3, "NCCLX, far")]
PACKET_DISTANCES = [0.5, 30, 300]


def size_text(size):
    return f"{size // 1024 // MIB} GiB" if size % (1024 * MIB) == 0 else f"{size // MIB} MiB"


def name_of(work):
    op, _, size = work
    return f"{op.replace('_', '-')}, {size_text(size)}"


def case_of(program, study, work, library, distance, engine):
    op, group, size = work
    return {"program": program, "study": study, "op": op, "group": group, "bytes": size,
            "library": library, "network": LIBRARIES[library], "distance_km": distance,
            "engine": engine}


def cases_of(program, study, distances, packets):
    cases = [case_of(program, study, work, library, distance, "analytical")
             for work in WORK for library in LIBRARIES for distance in distances]
    if packets:
        cases += [case_of(program, study, WORK[which], library, distance, "packet")
                  for which, library in PACKETS for distance in PACKET_DISTANCES
                  if distance in distances]
    return cases


def measured(path, study, case):
    settings = {"cluster.cross.distance": f"{case['distance_km']:g}km"}
    settings.update({f"network.{key}": value for key, value in case["network"].items()})
    words = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    code, rows, said = measuring.run(
        [path, "collective", study, "--json", "--engine", case["engine"], "--op", case["op"],
         "--group", case["group"], "-b", str(case["bytes"]), "-e", str(case["bytes"]),
         "--warmup", "0", "--iterations", "1", "--time-limit", "600s", *words])
    if code == 2:
        raise InputError(said)
    if code == 1:
        return {"time_us": None, "reason": measuring.problem_of(said)}
    return {"time_us": rows[0]["time_us"], "algorithm": rows[0]["algorithm"]}


def markdown(rows):
    """Times by the analytical engine; in brackets how far it is from packets, where those ran."""
    times = {(row["case"]["op"], row["case"]["bytes"], row["case"]["library"],
              row["case"]["distance_km"], row["case"]["engine"]): row["time_us"] for row in rows}
    distances = sorted({row["case"]["distance_km"] for row in rows})
    lines = ["| collective | library | " + " | ".join(f"{d:g} km" for d in distances) + " |",
             "|---" * (len(distances) + 2) + "|"]
    for work in WORK:
        for library in LIBRARIES:
            cells = []
            for distance in distances:
                key = (work[0], work[2], library, distance)
                model = times[(*key, "analytical")]
                packet = times.get((*key, "packet"))
                cell = "failed" if model is None else time_text(model)
                if model is not None and packet is not None:
                    cell += f" ({100 * (model / packet - 1):+.0f} %)"
                cells.append(cell)
            lines.append(f"| {name_of(work)} | {library} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def tick_text(us):
    return f"{us:g} us" if us < 1e3 else f"{us / 1e3:g} ms" if us < 1e6 else f"{us / 1e6:g} s"


def draw(rows):
    """One panel per collective: time against distance, model as lines and packets as marks."""
    measuring.prepare(matplotlib)
    columns = len(WORK)
    width, height = 2.1 * columns + 0.5, 3.0
    figure = matplotlib.figure.Figure(figsize=(width, height))
    panels = figure.subplots(1, columns, sharex=True, squeeze=False,
                             gridspec_kw={"left": 0.65 / width, "right": 1 - 0.25 / width,
                                          "bottom": 0.75 / height, "top": 1 - 0.55 / height,
                                          "wspace": 0.3})[0]
    for axes, work in zip(panels, WORK):
        for number, library in enumerate(LIBRARIES):
            mine = [row for row in rows if row["case"]["library"] == library and
                    (row["case"]["op"], row["case"]["bytes"]) == (work[0], work[2]) and
                    row["time_us"] is not None]
            for engine, style in (("analytical", {"linewidth": 1.1}),
                                  ("packet", {"linestyle": "none", "marker": "o", "markersize": 4.5,
                                              "markerfacecolor": "none"})):
                points = sorted((row["case"]["distance_km"], row["time_us"]) for row in mine
                                if row["case"]["engine"] == engine)
                if points:
                    axes.plot(*zip(*points), color=COLOURS[number % len(COLOURS)], **style)
        # 0 km have a place of their own, left of the first distance.
        axes.set_xscale("symlog", linthresh=0.5, linscale=0.4)
        axes.set_yscale("log")
        axes.set_xlim(0, 1000)
        axes.set_xticks([0, 0.5, 3, 10, 30, 100, 300, 1000],
                        ["0", "0.5", "3", "10", "30", "100", "300", "1000"])
        axes.minorticks_off()
        axes.yaxis.set_major_locator(matplotlib.ticker.LogLocator(10, (1, 2, 5)))
        axes.yaxis.set_major_formatter(lambda us, _: tick_text(us))
        axes.grid(True, which="major", linewidth=0.3, color="#cccccc")
        axes.tick_params(which="both", length=2)
        axes.tick_params(axis="x", labelsize=6.5)
        axes.spines[["top", "right"]].set_visible(False)
        axes.set_title(name_of(work), weight="bold")
        axes.set_xlabel("distance (km)")
    handles = [matplotlib.lines.Line2D([], [], color=COLOURS[n % len(COLOURS)], label=name,
                                       linewidth=1.1) for n, name in enumerate(LIBRARIES)]
    figure.text(0.1 / width, 1 - 0.22 / height, "Collectives of two sites as libraries run them: "
                "model (lines) and packets (marks)", fontsize=10.5, weight="bold")
    figure.legend(handles=handles, loc="lower center", frameon=False, ncols=len(handles),
                  bbox_to_anchor=(0.5, 0.02 / height))
    return figure


def parse(arguments):
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0] + " What is measured is kept in --rows; the same command "
        "goes on from there.",
        epilog="example: nccl_distance.py -o distance.svg")
    parser.add_argument("-o", "--output", metavar="FILE", type=pathlib.Path, required=True,
                        help="picture to write, .svg or .png")
    parser.add_argument("--rows", metavar="FILE", type=pathlib.Path,
                        default=pathlib.Path("nccl-distance.jsonl"),
                        help="what was measured so far (default: %(default)s)")
    parser.add_argument("--program", type=pathlib.Path,
                        default=HERE.parent / "build" / "release" / "bin" / "scaleacross",
                        help="default: the one of this checkout")
    parser.add_argument("--study", type=pathlib.Path, default=HERE / "nccl-distance.yaml")
    measuring.add_jobs(parser)
    parser.add_argument("--distances", default=",".join(f"{d:g}" for d in DISTANCES),
                        type=measuring.listed(measuring.kilometres),
                        help="km (default: %(default)s)")
    parser.add_argument("--no-packets", action="store_true", help="analytical engine only")
    options = parser.parse_args(arguments)
    if options.output.suffix not in (".svg", ".png"):
        parser.error(f"-o {options.output}: the name has to end in .svg or .png")
    return options


def main(arguments=None):
    options = parse(arguments)
    try:
        cases = cases_of(measuring.program_fingerprint(options.program),
                         measuring.fingerprint(options.study), options.distances,
                         not options.no_packets)
        rows = measuring.measure(cases, options.rows, options.jobs,
                                 lambda case: measured(options.program, options.study, case))
        measuring.save(draw(rows), options.output)
        print(markdown(rows), end="")
    except (InputError, OSError) as error:
        print(f"nccl_distance.py: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("nccl_distance.py: interrupted; the same command goes on from here", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
