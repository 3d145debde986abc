#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How often the model orders two measured plans rightly, by how much it says that they differ."""

import itertools
import json
import os
import pathlib
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[1]
ROWS = [TOP / "tests" / "validation" / "iteration-time" / name
        for name in ("vtrain-18.4b.csv", "vtrain-3.6b.csv")]
# Relative differences at which the table begins a new line.
EDGES = [0.0, 0.05, 0.10, 0.15, 0.20, float("inf")]


def pairs_of(times):
    """[modelled difference, whether the order is as measured] of all pairs; times are measured and
    modelled seconds of plans of one model."""
    return [(max(a[1], b[1]) / min(a[1], b[1]) - 1, (a[0] < b[0]) == (a[1] < b[1]))
            for a, b in itertools.combinations(times, 2)]


def table_of(pairs):
    """The table in Markdown."""
    lines = ["| differ by | pairs | ordered as measured |", "|---|---|---|"]
    for low, high in zip(EDGES, EDGES[1:]):
        right = [order for excess, order in pairs if low <= excess < high]
        span = (f"under {100 * high:.0f} %" if low == 0 else
                f"{100 * low:.0f} to {100 * high:.0f} %" if high < float("inf") else
                f"{100 * low:.0f} % or more")
        share = f"{100 * sum(right) / len(right):.0f} %" if right else "-"
        lines.append(f"| {span} | {len(right)} | {share} |")
    return "\n".join(lines) + "\n"


def modelled(program, rows):
    """Measured and modelled seconds of a file of rows."""
    printed = subprocess.run([program, "iterations", rows, "--json"], capture_output=True, text=True,
                             check=True).stdout
    return [(row["measured_s"], row["iteration_time_s"]) for row in json.loads(printed)]


def main(program):
    pairs = [pair for rows in ROWS for pair in pairs_of(modelled(program, rows))]
    sys.stdout.write(table_of(pairs))


if __name__ == "__main__":
    main(os.environ.get("SCALEACROSS_PROGRAM",
                        str(TOP / "build" / "release" / "bin" / "scaleacross")))
