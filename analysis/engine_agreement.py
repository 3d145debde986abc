#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How far engines are from packets on studies that nobody chose: drawn ones, by their kind.

Prints a table with a line for each kind and engine: the error of the iteration time that half and
nine in ten of the studies do not exceed, the mean error with its sign, the shares of studies within
5 and 25 %, and the worst. An error is time / time of packets - 1. --keep writes the studies, each
of which runs by itself; --csv has a row for every study and engine. --page puts the rows into
analysis/engine-agreement, the table into the pages that have it, and what the program is to warn of
into its own table. The same seed draws the same studies.
"""

import argparse
import concurrent.futures
import csv
import json
import pathlib
import re
import statistics
import sys
import tempfile

import drawn_studies
import measuring

TOP = pathlib.Path(__file__).resolve().parents[1]
ENGINES = ("analytical", "flow", "flow:expected", "packet:fast-forward")
ROWS = TOP / "analysis" / "engine-agreement"  # KIND.csv
KNOWN = TOP / "contrib" / "scaleacross" / "core" / "engine" / "known-differences.cc"
TOLD = ("controls", "infiniband", "limits", "losses", "schedulers", "trimming")  # with warnings
TOLD_ENGINES = ("analytical", "flow", "flow:expected")
KNOWN_ROWS = re.compile(r"(// Written by [^\n]*\n).*?( *// End\.)", re.DOTALL)
PAGES = [TOP / "README.md", TOP / "contrib" / "scaleacross" / "doc" / "engines.md"]
MARK = re.compile(r"(<!-- agreement ([\w-]+) -->\n\n).*?(\n\n<!-- end -->)", re.DOTALL)
REFERENCE = "packet"
NEAR = 0.05  # of packets' time; less is not worth a word
TRIES = 100  # studies that are drawn until the program takes one
COLUMNS = ("id", "kind", "engine", "iteration_time_s", "packet_s", "error", "warnings")


def run_of(program, study, engine, limit, changes=()):
    """Iteration time in seconds and warnings by an engine; or why there is none."""
    command = [str(program), "run", str(study), "--engine", engine, "--no-store", "--json",
               "--time-limit", f"{limit}s"]
    for change in changes:
        command += ["--set", change]
    code, report, said = measuring.run(command)
    if code != 0:
        problem = measuring.problem_of(said)
        if report:
            problem = (report.get("infeasible") or report.get("failed") or {}).get("reason", problem)
        return None, problem
    return report["iteration_time_s"], report["warnings"]


def drawn_case(number, options, registries, folder):
    """A study that the program takes, and what every engine says of it."""
    path = folder / f"{options.kind}-{options.seed}-{number}.yaml"
    drawn = drawn_studies.studies_of(number, options.seed, options.kind, registries)
    for _, study in zip(range(TRIES), drawn):
        path.write_text(json.dumps(study, indent=1) + "\n")
        time, said = run_of(options.program, path, "analytical", options.limit, options.set)
        if time is not None:
            break
    else:
        raise measuring.InputError(f"{path}: none of {TRIES} studies can run; the last: {said}")
    times = {"analytical": (time, said)}
    for engine in (*ENGINES[1:], REFERENCE):
        times[engine] = run_of(options.program, path, engine, options.limit, options.set)
    return path.stem, times


def rows_of(cases, kind):
    """A row for every study that packets have run, and every other engine that has."""
    for name, times in cases:
        packets = times[REFERENCE][0]
        for engine in ENGINES:
            time, warnings = times[engine]
            if packets is not None and time is not None:
                yield dict(zip(COLUMNS, (name, kind, engine, time, packets, time / packets - 1,
                                         len(warnings))))


def summary_of(errors):
    """Cells of the table: what errors, as shares of packets' time, come to."""
    sizes = sorted(abs(error) for error in errors)
    nine_in_ten = sizes[-(-9 * len(sizes) // 10) - 1]
    cells = [f"{100 * statistics.median(sizes):.1f} %", f"{100 * nine_in_ten:.1f} %",
             f"{100 * statistics.fmean(errors):+.1f} %"]
    # Rounded down, so that 100 % are all of them.
    cells += [f"{100 * sum(size <= most for size in sizes) // len(sizes)} %"
              for most in (0.05, 0.25)]
    worst = max(errors, key=abs)
    return cells + [f"{100 * worst:+.0f} %"]


def table_of(rows, kind):
    """The lines of a kind of studies."""
    lines = ["| studies | engine | half within | nine in ten within | mean | within 5 % "
             "| within 25 % | worst |", "|---|---|---|---|---|---|---|---|"]
    for engine in ENGINES:
        errors = [row["error"] for row in rows if row["engine"] == engine]
        if errors:
            lines.append(f"| {len(errors)} {kind} | `{engine}` | "
                         f"{' | '.join(summary_of(errors))} |")
    return "\n".join(lines)


def read_rows(path):
    """Rows of a --csv; errors are numbers."""
    with path.open(newline="") as file:
        return [{**row, "error": float(row["error"])} for row in csv.DictReader(file)]


def page_with(text, tables):
    """A page with these tables, by kind, where it has them; those of other kinds stay."""
    return MARK.sub(lambda found: found[1] + tables[found[2]] + found[3]
                    if found[2] in tables else found[0], text)


def known_rows(kind, rows):
    """What the program is to know of a kind: the lines of its table."""
    lines = []
    for engine in TOLD_ENGINES:
        errors = sorted(row["error"] for row in rows if row["engine"] == engine)
        if errors:
            tenth = len(errors) // 10
            far = sum(abs(error) > NEAR for error in errors)
            lines.append(f'        {{"{kind}", "{engine}", {len(errors)}, {1 + errors[tenth]:.2f}, '
                         f'{1 + errors[-1 - tenth]:.2f}, {far}, {1 + max(errors, key=abs):.2f}}},\n')
    return lines


def known_text(text, kinds):
    """The program's table with these lines, by kind."""
    lines = "".join(line for kind in sorted(kinds) for line in kinds[kind])
    return KNOWN_ROWS.sub(lambda found: found[1] + lines + found[2], text)


def all_known():
    """The lines of the program's table, by kind, of the rows that are kept."""
    return {kind: known_rows(kind, read_rows(ROWS / f"{kind}.csv")) for kind in TOLD}


def write_page(kind, rows):
    ROWS.mkdir(exist_ok=True)
    write_rows(ROWS / f"{kind}.csv", rows)
    for page in PAGES:
        page.write_text(page_with(page.read_text(encoding="utf-8"), {kind: table_of(rows, kind)}),
                        encoding="utf-8")
    if kind in TOLD:
        KNOWN.write_text(known_text(KNOWN.read_text(encoding="utf-8"), all_known()),
                         encoding="utf-8")


def write_rows(path, rows):
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def agreement(options, folder):
    registries = drawn_studies.Registries(options.program)
    numbers = range(options.first, options.first + options.draws)
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        cases = list(pool.map(lambda number: drawn_case(number, options, registries, folder),
                              numbers))
    rows = list(rows_of(cases, options.kind))
    if not rows:
        raise measuring.InputError("packets have run none of these studies; draw more, or give them "
                                   "more time with --limit")
    if options.csv:
        write_rows(options.csv, rows)
    if options.page:
        write_page(options.kind, rows)
    print(table_of(rows, options.kind))
    for name, times in cases:
        for engine, (time, said) in times.items():
            if time is None:
                print(f"{name}: {engine}: {said}", file=sys.stderr)


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kind", choices=drawn_studies.KINDS, help="what is drawn")
    parser.add_argument("--draws", type=measuring.whole(1, such_as=300), default=60,
                        help="studies; default: 60")
    parser.add_argument("--first", type=measuring.whole(0), default=0,
                        help="number of the first one; default: 0")
    parser.add_argument("--seed", type=measuring.whole(1, measuring.MOST_SEED), default=1,
                        help="of the draw; default: 1")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="a value that all studies have, such as network.qps=1; repeatable")
    parser.add_argument("--limit", type=measuring.whole(1, such_as=120), default=120,
                        help="seconds that a run may take; default: 120")
    parser.add_argument("--csv", type=pathlib.Path, metavar="FILE",
                        help="file for a row of every study and engine")
    parser.add_argument("--page", action="store_true",
                        help="put the table into README.md and the page of engines")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER",
                        help="folder for the studies")
    measuring.add_jobs(parser)
    parser.add_argument("--program", type=pathlib.Path,
                        default=TOP / "build" / "release" / "bin" / "scaleacross")
    options = parser.parse_args(argv)
    try:
        if options.page and (options.set or options.first):
            raise measuring.InputError("--page is for studies as they are drawn, from the first on; "
                                       "leave out --set and --first")
        if options.keep:
            options.keep.mkdir(parents=True, exist_ok=True)
            agreement(options, options.keep)
        else:
            with tempfile.TemporaryDirectory() as folder:
                agreement(options, pathlib.Path(folder))
    except (measuring.InputError, OSError) as error:
        print(f"engine_agreement.py: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
