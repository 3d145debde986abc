#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Errors of collective times, as shipped and as if a setup had not been measured: setup by setup, and by
operation.

Takes a table as measured_collectives.py does. Of what `nccl` knows,
KNOBS are values of machines that are fitted to measured times; each belongs to the plugin or GPUs
that its pattern names. For every setup that a knob belongs to, the knobs are fitted again to the
other setups of theirs, and the setup's error is taken with these: that of a prediction. Where a setup
has no knob, or no other setup has it, the column is empty. Tokens of experts are not here.

A fit goes through the knobs one by one, twice, and takes of STEPS times the value what makes the
mean over setups of the mean |ln(time / measured)| least; it starts from START, not from what is
shipped.
"""

import argparse
import collections
import concurrent.futures
import math
import os
import pathlib
import re
import statistics
import sys
import tempfile

import collective_lines
import measured_collectives as measured
import measuring
import setup_marks

STEPS = [0.35, 0.5, 0.7, 0.85, 1, 1.2, 1.4, 2, 2.8]

# Column, pattern of those that have them, and by key of a study: start and unit.
Knobs = collections.namedtuple("Knobs", "column words values")
KNOBS = [
    Knobs("fabric", r"Slingshot",
          {"network.nccl_net_long": (10, "us"), "network.nccl_net_fill": (400, "Gbps"),
           "network.nccl_net_flags": (30, "Gbps")}),
    Knobs("fabric", r"EFA|SRD",
          {"network.nccl_net_step": (50, "us"), "network.nccl_net_long": (10, "us"),
           "network.nccl_net_fill": (100, "Gbps")}),
    Knobs("fabric", r"TCPX",
          {"network.nccl_net_step": (50, "us"), "network.nccl_net_long": (10, "us"),
           "network.nccl_net_fill": (100, "Gbps")}),
    Knobs("gpu", r"H[12]00",
          {"cluster.buildings.0.gpu.switch_reduction": (0.7, "")}),
    Knobs("gpu", r"G?B[23]00",
          {"cluster.buildings.0.gpu.switch_reduction": (0.7, "")}),
]


class Rows:
    """Lines that become runs, by setup, and their errors under settings."""

    def __init__(self, table, program):
        machines = collective_lines.machines_of(program)
        self.program = program
        self.runs = collections.defaultdict(lambda: collections.defaultdict(list))
        self.lines = collections.defaultdict(list)
        for line in table:
            if line["op"] in collective_lines.TOKEN_OPERATIONS:
                continue
            try:
                run = collective_lines.run_of(line, machines)
                size, time = collective_lines.size_of(line), collective_lines.measured_of(line)
            except collective_lines.Inexpressible:
                continue
            if time is not None and collective_lines.rounded(size, run) > 0:
                self.runs[line["setup"]][run].append((size, time))
                self.lines[line["setup"]].append(line)

    def errors(self, setup, settings):
        """(operation, bytes, time over measured) of a setup's rows."""
        found = []
        with tempfile.TemporaryDirectory() as folder:
            for run, rows in self.runs[setup].items():
                own = run._replace(settings=tuple({**dict(run.settings), **settings}.items()))
                times, _ = measured.times_of(own, [size for size, _ in rows], self.program,
                                             pathlib.Path(folder))
                for size, time in rows:
                    simulated = times.get(collective_lines.rounded(size, run))
                    if simulated is not None:
                        found.append((run.op, size, simulated / time))
        return found


def text_of(values, knobs):
    return {key: f"{value:.6g}{knobs.values[key][1]}" for key, value in values.items()}


def fit(rows, setups, knobs, pool):
    """The knobs' values, from START, by key."""
    values = {key: start for key, (start, _) in knobs.values.items()}

    def loss(candidate):
        settings = text_of(candidate, knobs)
        of_setups = []
        for setup in setups:
            ratios = [ratio for _, _, ratio in rows.errors(setup, settings)]
            if not ratios:
                raise measuring.InputError(f"{setup}: no line of it runs with {settings}")
            of_setups.append(statistics.fmean(abs(math.log(ratio)) for ratio in ratios))
        return statistics.fmean(of_setups)

    for _ in range(2):
        for key in values:
            shares = key.endswith("reduction")
            candidates = [{**values, key: values[key] * step} for step in STEPS
                          if not shares or values[key] * step <= 1]
            losses = list(pool.map(loss, candidates))
            values = candidates[losses.index(min(losses))]
    return values


def classes(errors):
    """Median |error| of large and small sizes, or None."""
    found = []
    for large in (True, False):
        of_class = [abs(ratio - 1) for _, size, ratio in errors
                    if (size >= collective_lines.LARGE) == large]
        found.append((len(of_class), statistics.median(of_class) if of_class else None))
    return found


def by_setup(rows, setups, pool):
    """Setup, errors as shipped, and errors of a prediction or None."""
    result = []
    for setup in setups:
        shipped = rows.errors(setup, {})
        settings = {}
        for knobs in KNOBS:
            have = [other for other in rows.runs
                    if any(re.search(knobs.words, line[knobs.column]) for line in rows.lines[other])]
            others = [other for other in have if other != setup]
            if setup in have and others:
                settings.update(text_of(fit(rows, others, knobs, pool), knobs))
        result.append((setup, shipped, rows.errors(setup, settings) if settings else None))
    return result


def words_of(marks, setup):
    """A setup's marks with the operations that have them."""
    return "; ".join(f"{', '.join(words)}: `{op}`" for (of, op), words in marks.items()
                     if of == setup)


def markdown(found, marks):
    lines = ["| setup | large: n | shipped | predicted | smaller: n | shipped | predicted | marks |",
             "|---|---|---|---|---|---|---|---|"]
    for setup, shipped, predicted in sorted(found):
        cells = []
        for (count, error), (_, alone) in zip(classes(shipped), classes(predicted or [])):
            cells += [str(count or ""), measured.percent(error), measured.percent(alone)]
        lines.append("| " + " | ".join([setup, *cells, words_of(marks, setup)]) + " |")
    return "\n".join(lines)


def by_operation(found):
    """Operation, class of size, lines, setups, and median and 90th percentile of |error| as shipped
    and predicted; a setup without a prediction counts as shipped."""
    rows = []
    for op in dict.fromkeys(op for _, shipped, _ in found for op, _, _ in shipped):
        for label, large in (("16 MiB and more", True), ("less", False)):
            def of_class(errors):
                return [abs(ratio - 1) for of, size, ratio in errors
                        if of == op and (size >= collective_lines.LARGE) == large]
            shipped = [of_class(errors) for _, errors, _ in found]
            predicted = [of_class(alone or errors) for _, errors, alone in found]
            setups = sum(bool(errors) for errors in shipped)
            if setups:
                figures = []
                for errors in (sum(shipped, []), sum(predicted, [])):
                    figures += [statistics.median(errors), measured.percentile(errors, 0.9)]
                rows.append((op, label, len(sum(shipped, [])), setups, *figures))
    return rows


def markdown_by_operation(found):
    lines = ["| operation | size | lines | setups | shipped: median | 90th percentile | "
             "predicted: median | 90th percentile |", "|---|---|---|---|---|---|---|---|"]
    lines += [f"| `{op}` | {label} | {count} | {setups} | " +
              " | ".join(map(measured.percent, figures)) + " |"
              for op, label, count, setups, *figures in by_operation(found)]
    return "\n".join(lines)


def draw(found, path):
    """Every row: time over measured by size, a panel for each operation, predicted where fitted."""
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.figure
    operations = list(dict.fromkeys(op for _, shipped, _ in found for op, _, _ in shipped))
    figure = matplotlib.figure.Figure(figsize=(10, 2.2 * len(operations)), layout="constrained")
    axes = figure.subplots(len(operations), 1, sharex=True, squeeze=False)[:, 0]
    for axis, operation in zip(axes, operations):
        axis.set_title(operation, loc="left", fontsize=9)
        number = 0
        for setup, shipped, predicted in sorted(found):
            of_op = sorted((size, ratio) for op, size, ratio in predicted or shipped
                           if op == operation)
            if not of_op:
                continue
            axis.plot([size for size, _ in of_op], [ratio for _, ratio in of_op],
                      marker=".", linewidth=0.8, markersize=4,
                      linestyle=["-", "--", ":"][number // len(measuring.COLOURS) % 3],
                      color=measuring.COLOURS[number % len(measuring.COLOURS)], label=setup)
            number += 1
        axis.axhspan(1 / 1.3, 1.3, color="#eeeeee", zorder=0)
        axis.set_xscale("log", base=2)
        axis.set_yscale("log", base=2)
        axis.set_ylim(1 / 8, 8)
        axis.set_ylabel("time / measured", fontsize=8)
        axis.tick_params(labelsize=8)
        axis.legend(fontsize=5, ncol=2, loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
    axes[-1].set_xlabel("bytes", fontsize=8)
    figure.savefig(path, metadata={"Date": None})


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=pathlib.Path, metavar="TABLE.csv",
                        help="measured collectives, one size a line")
    parser.add_argument("--setup", action="append", help="of all setups this one, or these")
    parser.add_argument("-o", "--picture", type=pathlib.Path, help="draws every row, as SVG")
    parser.add_argument("--program", type=pathlib.Path,
                        default=measured.TOP / "build" / "release" / "bin" / "scaleacross")
    options = parser.parse_args(argv)
    try:
        if options.picture:
            measuring.need("matplotlib")
        table = measuring.read_table(options.table, collective_lines.COLUMNS)
        rows = Rows(table, options.program)
        for setup in options.setup or []:
            if setup not in rows.runs:
                raise measuring.InputError(f"--setup: no line of {setup!r} becomes a run; those that "
                                           f"do are of {', '.join(sorted(rows.runs))}")
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            found = by_setup(rows, options.setup or list(rows.runs), pool)
    except measuring.InputError as error:
        print(f"fit_collectives.py: error: {error}", file=sys.stderr)
        return 2
    print(markdown(found, setup_marks.marks_of(table, collective_lines.machines_of(options.program))))
    if not options.setup:
        print("\n" + markdown_by_operation(found))
    if options.picture:
        draw(found, options.picture)
    return 0


if __name__ == "__main__":
    sys.exit(main())
