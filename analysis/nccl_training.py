#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What `network.collective: nccl` changes in training, beside the default, closed forms in levels.

  nccl_training.py TABLE.csv...   errors of published runs with each, by generation of GPUs, by what
                                  communicates and by source; then rows that change most, and the
                                  parts of these; then which pairs of measured plans are in order
  nccl_training.py --studies      searches the studies of examples/ with each, and runs the best plans
                                  of one under the other; takes minutes

Nothing is fitted: GPUs and stacks are as shipped, which were fitted with the default. Without `nccl` a
study chooses between the algorithms that it lists; a plan has the better of these.
"""

import argparse
import collections
import pathlib
import re
import statistics
import sys
import tempfile

import fit_published
import measured_collectives
import measuring
import model_error
import published_rows

TOP = pathlib.Path(__file__).resolve().parents[1]
DEFAULT, NCCL = "hierarchical", "nccl"
GENERATIONS = {"A": "A100", "H": "H100, H200", "B": "Blackwell", "G": "Blackwell", "M": "AMD"}
# With what they may choose between without `nccl`; nothing: only the plan of its own is looked at.
STUDIES = {"small-two-buildings": [DEFAULT],
           "llama4-maverick-two-buildings": [DEFAULT, "ring"],
           "llama3-405b-two-buildings": [DEFAULT, "ring"],
           "llama3-405b-three-unequal-buildings": [DEFAULT, "ring"],
           "llama3-405b-five-buildings": [],  # to search it takes many minutes
           "gpt3-175b-one-building": [],      # nor is there anything between buildings
           "multipath-two-buildings": []}     # which asks for paths
PARTS = ["compute", "tp", "cp", "ep", "pp", "dp", "bubble"]
MOVED = 10  # rows whose parts are printed


# --- Published runs -------------------------------------------------------------------------------

# What a table says of a run, the keys of its row, and what the program prints.
Row = collections.namedtuple("Row", "name run keys default nccl")


def rows_of(tables, program):
    """Every configuration of tables with what `iterations` prints of it under both."""
    rows, runs, _ = fit_published.newest([run for table in tables
                                          for run in published_rows.read(table)])
    if not rows:
        raise measuring.InputError(f"{tables[0]}: no run of it can be expressed")
    found = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rows.csv"
        published_rows.write(rows, path)
        for word in (DEFAULT, NCCL):
            code, printed, said = measuring.run([str(program), "iterations", str(path), "--json",
                                                 "--set", f"network.collective={word}"])
            if printed is None:
                raise measuring.InputError(f"iterations ended with {code}: {said}")
            found.append({row["name"]: row for row in printed})
    return [Row(row["name"], runs[row["name"]], row, *(of[row["name"]] for of in found))
            for row in rows]


def runs_with_both(row):
    return row.default["error"] is not None and row.nccl["error"] is not None


def traffic_of(row):
    """What of a run's communication is the most in the way of its computing."""
    servers = published_rows.SITE + "gpus_per_node"
    server, tp = int(row.keys[servers]), int(row.keys["plan.tp"])
    if row.keys.get("plan.async_tp") == "true":
        return "TP beside its GEMMs"
    if tp > 1:
        return "TP that blocks, " + ("over servers" if tp > server else "in servers")
    if int(row.keys["plan.ep"]) > 1:
        return "EP by " + ("a dispatcher" if "network.all_to_all" in row.keys else "NCCL")
    if row.keys["plan.sharding"] in ("fsdp", "hsdp"):
        several = int(row.keys[published_rows.SITE + "gpus"]) > server
        return "FSDP over " + ("servers" if several else "one server")
    return "DP, PP and CP only"


def groups_of(rows):
    """Rows by generation of GPUs, by what communicates, by source, and all."""
    found = {}
    for of in (lambda row: GENERATIONS[row.run["gpu"][0]], traffic_of,
               lambda row: published_rows.source_of(row.run).name):
        by = collections.defaultdict(list)
        for row in rows:
            by[of(row)].append(row)
        found.update(sorted(by.items()))
    return {**found, "all": rows}


def errors_table(rows):
    """Of each group the median and the 90th percentile of the errors' size and their mean, as pairs
    of default and `nccl`, and how many rows come nearer to what was measured."""
    lines = ["| rows of | rows | median | with `nccl` | nine in ten | with `nccl` | bias | with `nccl` "
             "| nearer |", "|---|---|---|---|---|---|---|---|---|"]
    for name, group in groups_of([row for row in rows if runs_with_both(row)]).items():
        cells = [name, str(len(group))]
        errors = [[getattr(row, word)["error"] for row in group] for word in ("default", "nccl")]
        for figure, form in ((lambda e: statistics.median(map(abs, e)), ".1f"),
                             (lambda e: measured_collectives.percentile(map(abs, e), 0.9), ".1f"),
                             (statistics.fmean, "+.1f")):
            cells += [f"{100 * figure(of):{form}} %" for of in errors]
        cells.append(str(sum(abs(after) < abs(before) for before, after in zip(*errors))))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def part_of(found, part):
    return found[f"{part}_s"] if f"{part}_s" in found else found["classes"][part]["exposed_s"]


def changes_of(row):
    """By how much the parts of an iteration change, over the default's iteration."""
    return {part: (part_of(row.nccl, part) - part_of(row.default, part)) /
            row.default["iteration_time_s"] for part in PARTS}


def moved(rows):
    """Of every source and model the row that changes most, the largest changes first."""
    def change(row):
        return abs(row.nccl["iteration_time_s"] / row.default["iteration_time_s"] - 1)
    most = {}
    for row in sorted(filter(runs_with_both, rows), key=change, reverse=True):
        most.setdefault((published_rows.source_of(row.run).name, fit_published.model(row.run)),
                        row)
    return list(most.values())[:MOVED]


def parts_table(rows):
    lines = ["| row | error | with `nccl` | " +
             " | ".join(part.upper() if len(part) == 2 else part for part in PARTS) + " |",
             "|---|---|---|" + "---|" * len(PARTS)]
    for row in moved(rows):
        cells = [f"`{row.name}`"]
        cells += [f"{100 * found['error']:+.1f} %" for found in (row.default, row.nccl)]
        cells += [f"{100 * change:+.1f}" if abs(change) >= 0.0005 else ""
                  for change in changes_of(row).values()]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def orders_of(tables, program):
    """Pairs of measured plans of one job, and how many of these are in the measured order: with the
    default, with `nccl`, with both."""
    right = []
    for word in (DEFAULT, NCCL):
        jobs = model_error.jobs_of(tables, program, {"network.collective": word})
        right.append([(measured > 0) == (modelled > 0) for plans in jobs.values()
                      for _, measured, modelled in model_error.pairs_of(plans)])
    return len(right[0]), *map(sum, right), sum(map(all, zip(*right)))


def orders_text(pairs, default, nccl, both):
    return (f"Of {pairs:,} pairs of plans {default:,} are in the order that was measured, with `nccl` "
            f"{nccl:,}, {both:,} of them the same.")


# --- Studies --------------------------------------------------------------------------------------

WORDS = [(r"TP(\d+)", ["tp"]), (r"CP(\d+)", ["cp"]), (r"EP(\d+)", ["ep"]),
         (r"PP(\d+)(?:x(\d+))?", ["pp", "chunks"]), (r"DP\d+", []), (r"([DP]P)-out", ["crossing"]),
         (r"(FSDP|HSDP)", ["sharding"]), (r"(1f1b|interleaved|dorapp|zb-h1)", ["schedule"]),
         (r"b(\d+)", ["microbatch"]), (r"recompute=(\w+)", ["recompute"]),
         (r"(async-tp)", ["async_tp"])]
# What a label does not name.
UNNAMED = {"cp": "1", "ep": "1", "chunks": "1", "reshard": "false", "schedule": "1f1b",
           "recompute": "none", "async_tp": "false"}


def settings_of(label):
    """Settings of a study that make its plan the one of a label."""
    keys = dict(UNNAMED)
    for word in label.split():
        matches = [(found, names) for pattern, names in WORDS
                   if (found := re.fullmatch(pattern, word))]
        if not matches:
            raise measuring.InputError(f"{label!r}: {word!r} is no word of a plan's label that this "
                                       "script knows; add it to WORDS")
        found, names = matches[0]
        for name, value in zip(names, found.groups()):
            if value:
                keys[name] = "true" if name == "async_tp" else value.lower()
    return [f"plan.{key}={value}" for key, value in keys.items()]


def call(command, study, settings, program, *words):
    command = [str(program), command, str(TOP / "examples" / study / "study.yaml"), "--json", *words]
    for setting in settings:
        command += ["--set", setting]
    _, found, said = measuring.run(command)
    if found is None:
        raise measuring.InputError(f"{' '.join(command)}: {said}")
    return found


def times_of(study, label, program):
    """A plan's time by default, the better of what the study lists, and with `nccl`; the study's own
    plan where no label is given."""
    settings = settings_of(label) if label else []

    def time(word):
        return call("run", study, [*settings, f"network.collective={word}"], program,
                    "--no-store")["iteration_time_s"]
    return min(map(time, STUDIES[study] if label else [DEFAULT])), time(NCCL)


def search(study, program, settings):
    """The label and time of the best plan of each placement, the better one first."""
    with tempfile.TemporaryDirectory() as folder:
        found = call("explore", study, ["baselines=[]", "engines=[analytical]", *settings], program,
                     "--db", f"{folder}/study.db")
    plans = [(entry["iteration_time_s"], re.sub(r" collective=\S+", "", entry["plan"]["label"]))
             for entry in found["placements"].values() if entry]
    return [(label, time) for time, label in sorted(plans)]


def studies_table(program):
    lines = ["| study | plan | best of its placement with | default | `nccl` | longer by |",
             "|---|---|---|---|---|---|"]
    for study in STUDIES:
        asked = [[], ["search.network.collective=[nccl]", "network.collective=nccl"]]
        best = [search(study, program, settings) if STUDIES[study] else [] for settings in asked]
        labels = dict.fromkeys(label for of in best for label, _ in of)
        for label in [None, *labels]:
            times = times_of(study, label, program)
            # What a label leaves out would be lost here.
            where = [word for word, of in zip(("default", "`nccl`"), best) if label in dict(of)]
            for word, time, of in zip(("default", "`nccl`"), times, best):
                if word in where and abs(dict(of)[label] / time - 1) > 1e-9:
                    raise measuring.InputError(f"{study}: {label} takes {time} s by itself and "
                                               f"{dict(of)[label]} s in the search; the script's "
                                               "WORDS and UNNAMED lack something of the plan")
            lines.append(study_line(study, label, " and ".join(where), times))
    return "\n".join(lines)


def study_line(study, label, where, times):
    cells = [f"`{study}`", label or "the study's own", where, *map(time_text, times),
             f"{100 * (times[1] / times[0] - 1):+.1f} %"]
    return f"| {' | '.join(cells)} |"


def time_text(seconds):
    return f"{seconds * 1e3:.2f} ms" if seconds < 0.1 else f"{seconds:.4f} s"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", type=pathlib.Path, metavar="TABLE.csv", nargs="*",
                        help="published runs, one a line")
    parser.add_argument("--studies", action="store_true",
                        help="search the studies of examples/, which takes minutes")
    parser.add_argument("--program", type=pathlib.Path,
                        default=TOP / "build" / "release" / "bin" / "scaleacross")
    options = parser.parse_args(argv)
    try:
        if not options.tables and not options.studies:
            raise measuring.InputError("TABLE.csv: there is none; name a table of published runs, or "
                                       "--studies")
        if options.tables:
            measuring.need("numpy")
            rows = rows_of(options.tables, options.program)
            print(f"{errors_table(rows)}\n\n{parts_table(rows)}\n")
            print(orders_text(*orders_of(options.tables, options.program)))
            for row in rows:
                if not runs_with_both(row):
                    reason = row.nccl.get("reason") or row.default.get("reason")
                    print(f"{row.name}: {reason}", file=sys.stderr)
        if options.studies:
            print(studies_table(options.program))
    except measuring.InputError as error:
        print(f"nccl_training.py: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
