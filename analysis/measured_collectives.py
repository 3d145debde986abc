#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Runs `scaleacross collective` for every line of a table of measured collectives.

collective_lines says how a line becomes a run. What no rule expresses is named with the reason. Lines
that differ only in size are one run where their sizes are a series. setup_marks says which lines a
second set of columns leaves out.
"""

import argparse
import collections
import concurrent.futures
import json
import math
import os
import pathlib
import statistics
import sys
import tempfile

import collective_lines as lines
import measuring
import setup_marks

TOP = pathlib.Path(__file__).resolve().parents[1]

# --- Runs -----------------------------------------------------------------------------------------

def series_of(sizes):
    """The sizes, ascending, as (first, factor, last) with a whole factor; factor 2 of one alone."""
    series = []
    for size in sorted(set(sizes)):
        if series:
            first, factor, last = series[-1]
            ratio, rest = divmod(size, last)
            if rest == 0 and ratio > 1 and (first == last or ratio == factor):
                series[-1] = (first, ratio, size)
                continue
        series.append((size, 2, size))
    return series


def times_of(run, sizes, program, folder):
    """By size, as the program rounds it: time in us; and what it said where it ended with an error."""
    machine = run.machine
    if run.nics:
        count, rate = run.nics
        machine = folder / f"{run.machine}-{count}x{rate}.yaml"
        machine.write_text(f"preset: {run.machine}\nnics: {count}\nnic_rate: {rate}Gbps\n")
    command = [str(program), "collective", "--machine", str(machine), "--nodes", str(run.nodes),
               "--gpus-per-node", str(run.used), "--op",
               (lines.OPERATIONS.get(run.op) or lines.TOKEN_OPERATIONS[run.op]).name, "--json"]
    for key, value in run.settings:
        command += ["--set", f"{key}={value}"]
    if run.tokens:
        for option, value in run.tokens:
            command += [f"--{option}", str(value)]
        code, rows, said = measuring.run(command)
        return {None: (row["time_us"], row["bytes"]) for row in rows or []}, (
            measuring.problem_of(said) if code else "")
    times, complaint = {}, ""
    for first, factor, last in series_of(sizes):
        code, rows, said = measuring.run(command + ["-b", str(first), "-e", str(last),
                                                    "-f", str(factor)])
        complaint = complaint or (measuring.problem_of(said) if code else "")
        times.update({row["bytes"]: row["time_us"] for row in rows or []})
    return times, complaint


def take(result, run, time, line):
    """Puts what a run found into a result."""
    if run.tokens:
        time, result["bytes"] = time
        busbw = lines.positive(line["busbw"])
        result["measured_us"] = (lines.positive(line["time_us"]) or
                                 (result["bytes"] / (1e3 * busbw) if busbw else None))
    if result["measured_us"] is None:
        result["reason"] = "time_us: neither time nor bandwidth is published"
        return
    result["time_us"] = time
    result["error"] = time / result["measured_us"] - 1


def results_of(table, program):
    """An object for each line, in their order."""
    machines = lines.machines_of(program)
    marks = setup_marks.marks_of(table, machines)
    results, runs = [], collections.defaultdict(list)
    for line in table:
        result = {"id": line["id"], "op": line["op"], "bytes": None, "time_us": None,
                  "measured_us": None, "error": None, "marks": []}
        results.append(result)
        try:
            run = lines.run_of(line, machines)
            if run.tokens:
                runs[run].append((result, line))
                continue
            result["bytes"] = lines.size_of(line)
            result["measured_us"] = lines.measured_of(line)
            result["marks"] = setup_marks.of_size(marks.get((line["setup"], line["op"]), []),
                                                  result["bytes"])
            if result["measured_us"] is None:
                raise lines.Inexpressible("time_us: neither time nor bandwidth is published")
            if lines.rounded(result["bytes"], run) == 0:
                raise lines.Inexpressible(f"bytes: {result['bytes']} do not give every one of "
                                          f"{run.ranks} ranks an element")
            runs[run].append((result, line))
        except lines.Inexpressible as reason:
            result["reason"] = str(reason)
    with (tempfile.TemporaryDirectory() as folder,
          concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool):
        futures = {run: pool.submit(times_of, run, [result["bytes"] for result, _ in of_run], program,
                                    pathlib.Path(folder))
                   for run, of_run in runs.items()}
        for run, future in futures.items():
            times, complaint = future.result()
            for result, line in runs[run]:
                time = times.get(lines.rounded(result["bytes"], run))
                if time is None:
                    result["reason"] = complaint or "the program has no row of this size"
                else:
                    take(result, run, time, line)
    return results


# --- Tables ---------------------------------------------------------------------------------------

def percentile(values, share):
    """Linear between the values in order."""
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def summary(results):
    """Operation, class of size, number, median and 90th percentile of |error|, and those three again
    of lines without a mark."""
    def figures(errors):
        return (len(errors), statistics.median(errors) if errors else None,
                percentile(errors, 0.9) if errors else None)

    rows = []
    for op in dict.fromkeys(result["op"] for result in results):
        for label, large in (("16 MiB and more", True), ("less", False)):
            of_class = [result for result in results
                        if result["op"] == op and result["error"] is not None and
                        (result["bytes"] >= lines.LARGE) == large]
            if of_class:
                rows.append((op, label, *figures([abs(one["error"]) for one in of_class]),
                             *figures([abs(one["error"]) for one in of_class
                                       if not one["marks"]])))
    return rows


def token_summary(results):
    """Of lines of tokens, by whether costs are fitted to their setup, with which an id begins: number,
    median, 90th percentile and largest of |error|."""
    rows = []
    for label, fitted in (("fitted to", True), ("left out of the fit", False)):
        errors = [abs(result["error"]) for result in results
                  if result["op"] in lines.TOKEN_OPERATIONS and result["error"] is not None and
                  (result["id"].split("|")[0] in lines.TOKEN_FITTED) == fitted]
        if errors:
            rows.append((label, len(errors), statistics.median(errors), percentile(errors, 0.9),
                         max(errors)))
    return rows


def percent(value):
    return "" if value is None else f"{100 * value:.0f} %"


def token_markdown(results):
    written = ["| dispatch and combine | n | median error | 90th percentile | largest |",
               "|---|---|---|---|---|"]
    written += [f"| {label} | {count} | " + " | ".join(map(percent, errors)) + " |"
                for label, count, *errors in token_summary(results)]
    return "\n".join(written)


def markdown(results):
    written = ["| operation | size | n | median error | 90th percentile | without a mark: n | "
               "median error | 90th percentile |", "|---|---|---|---|---|---|---|---|"]
    written += [f"| `{op}` | {label} | {count} | {percent(median)} | {percent(most)} | "
                f"{clean or ''} | {percent(clean_median)} | {percent(clean_most)} |"
                for op, label, count, median, most, clean, clean_median, clean_most
                in summary(results)]
    return "\n".join(written)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=pathlib.Path, metavar="TABLE.csv",
                        help="measured collectives, one size a line")
    parser.add_argument("--json", action="store_true", help="an object for each line")
    parser.add_argument("--program", type=pathlib.Path,
                        default=TOP / "build" / "release" / "bin" / "scaleacross")
    options = parser.parse_args(argv)
    try:
        results = results_of(measuring.read_table(options.table, lines.COLUMNS), options.program)
    except measuring.InputError as error:
        print(f"measured_collectives.py: error: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(json.dumps(results, indent=1))
    else:
        print(markdown(results))
        if token_summary(results):
            print("\n" + token_markdown(results))
        left = collections.Counter(result["reason"] for result in results if "reason" in result)
        for reason, count in left.items():
            print(f"{count} left out: {reason}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
