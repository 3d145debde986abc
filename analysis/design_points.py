#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Searches the plans of three models at design points: buildings, distance, oversubscription, loss.

  design_points.py                 explores what is missing in the rows; takes hours for all points
  design_points.py --table         puts the rows into the table, and what follows into the page
  design_points.py --summary       prints what follows from the table
  design_points.py --check         fails where the page says something else than the table
  design_points.py --again ID...   fails where the program finds something else at points by now

Points at the ends of their ranges come first: a run that was cut short has the whole range. The
same command goes on from there. --only KEY=VALUE takes the points that have it; may be given again.
"""

import argparse
import collections
import csv
import itertools
import pathlib
import re
import statistics
import sys
import tempfile

import measuring

TOP = pathlib.Path(__file__).resolve().parents[1]
FOLDER = TOP / "examples" / "design-points"
TABLE = FOLDER / "points.csv"
PAGE = TOP / "contrib" / "scaleacross" / "doc" / "design-points.md"
MARK = re.compile(r"<!--=points-->.*?<!--/-->", re.DOTALL)

GPUS = 1280  # 2 x 640, 4 x 320, 5 x 256
MODELS = ["llama3-405b", "llama4-maverick", "moe-512"]
AXES = {"buildings": ["2", "4", "5"], "distance": ["3km", "30km", "100km", "1000km"],
        "oversubscription": ["1", "2.8", "7", "16"], "loss": ["0", "1e-6", "1e-5"]}
PLANNERS = ["megatron", "atlas-like", "crosspipe-like", "fsdp-only", "madmax-like", "sailor-like"]
DIMENSIONS = ["placement-only", "schedule-only", "parallelism-only", "network-only"]
BASELINES = ["production", *PLANNERS, *DIMENSIONS]
# What arXiv:2605.24326 says it gains at most over its production configuration and over the best
# planner, in per cent, of a speedup: baseline time / best time - 1.
PUBLISHED = {"production": 64.62, "planner": 37.59}
PARTS = ["compute", "bubble", "tp", "cp", "ep", "pp", "dp"]
COLUMNS = ["id", "model", *AXES, "best", "best_s", "gap", "plans", "ran", "seconds",
           *(f"{name}{what}" for name in BASELINES for what in ("_s", "_likely")),
           *(f"{kind}_{what}" for kind in ("production", "planner", "dimension")
             for what in ("differs", "because"))]
# Equal but for the last bits, which differ with the compiler.
SAME = 1e-9
LEAST = 1e-3  # of a gain that counts as one
SURE = 0.9


# ---- points ----

def all_points():
    """Every design point, the ends of ranges first."""
    points = [{"model": model, **dict(zip(AXES, values))}
              for values in itertools.product(*AXES.values()) for model in MODELS]
    def inner(point):
        return sum(point[key] not in (values[0], values[-1]) for key, values in AXES.items())
    return sorted(points, key=inner)


def id_of(point):
    return "/".join(point[key] for key in ("model", *AXES))


def chosen_points(only):
    points = all_points()
    for text in only:
        key, _, value = text.partition("=")
        known = MODELS if key == "model" else AXES.get(key)
        if known is None or value not in known:
            allowed = ", ".join(known) if known else ", ".join(("model", *AXES))
            raise measuring.InputError(f"--only {text}: give KEY=VALUE with one of {allowed}")
        points = [point for point in points if point[key] == value]
    return points


def command_of(program, point, database, jobs, names):
    settings = {"cluster.buildings.count": point["buildings"],
                "cluster.buildings.gpus": GPUS // int(point["buildings"]),
                "cluster.cross.distance": point["distance"],
                "cluster.cross.oversubscription": point["oversubscription"],
                "cluster.cross.loss": point["loss"],
                "baselines": f"[{', '.join(names)}]"}
    sets = [word for key, value in settings.items() for word in ("--set", f"{key}={value}")]
    # One plan is asked for: nothing else is run to be ranked.
    return [str(program), "explore", str(FOLDER / f"{point['model']}.yaml"), "--db", str(database),
            "--keep", "1", "--pareto", "none", "--jobs", str(jobs), "--json", *sets]


# ---- what the program finds ----

def fields_of(plan):
    """All that says what a plan is; dp follows."""
    fields = {key: value for key, value in plan.items() if key not in ("label", "dp", "network")}
    fields.update({key: value for key, value in plan["network"].items() if key != "tiers"})
    return fields


def differs(entry, best):
    """Fields in which the plan differs from the best, whose value stands behind."""
    other, first = fields_of(entry["plan"]), fields_of(best["plan"])
    return "; ".join(f"{key} {text_of(other[key])} ({text_of(first.get(key))})"
                     for key in other if other[key] != first.get(key))


def text_of(value):
    return str(value).lower() if isinstance(value, bool) else str(value)


def parts_of(entry):
    parts = {"compute": entry["compute_s"], "bubble": entry["bubble_s"]}
    parts.update({key: entry["classes"][key]["exposed_s"] for key in PARTS[2:]})
    return parts


def because(entry, best):
    """Parts of the time that differ by a tenth of the largest difference or more, in per cent of
    the best time."""
    other, first = parts_of(entry), parts_of(best)
    change = {key: (other[key] - first[key]) / best["iteration_time_s"] for key in PARTS}
    most = max(map(abs, change.values()))
    told = sorted((key for key in PARTS if abs(change[key]) >= 0.1 * most and most > 1e-6),
                  key=lambda key: -abs(change[key]))
    def name(key):
        return key if key in PARTS[:2] else f"exposed {key}"
    return "; ".join(f"{name(key)} {100 * change[key]:+.1f} %" for key in told)


def fastest(times, names):
    """Of these baselines the one that takes the least time, or None where none has a plan."""
    return min((name for name in names if times.get(name) is not None), key=times.get, default=None)


def row_of(point, found):
    best = found["best"]
    entries = {name: entry for name, entry in found["baselines"].items()
               if "iteration_time_s" in entry}
    times = {name: entry["iteration_time_s"] for name, entry in entries.items()}
    row = {"id": id_of(point), **point, "best": best["plan"]["label"],
           "best_s": f"{best['iteration_time_s']:.12g}", "gap": f"{found['gap']:.3g}",
           "plans": found["space"], "ran": found["ran"], "seconds": f"{found['seconds']:.1f}"}
    for name in BASELINES:
        likely = entries.get(name, {}).get("probability_slower")
        row[f"{name}_s"] = f"{times[name]:.12g}" if name in times else ""
        row[f"{name}_likely"] = "" if likely is None else f"{likely:.3f}"
    for kind, names in (("production", ["production"]), ("planner", PLANNERS),
                        ("dimension", DIMENSIONS)):
        name = fastest(times, names)
        row[f"{kind}_differs"] = differs(entries[name], best) if name else ""
        row[f"{kind}_because"] = because(entries[name], best) if name else ""
    return row


def explore(program, point, jobs, names=BASELINES):
    with tempfile.TemporaryDirectory() as scratch:
        code, found, said = measuring.run(
            command_of(program, point, pathlib.Path(scratch) / "point.db", jobs, names))
    if found is None or not found.get("best"):
        raise measuring.InputError(f"{id_of(point)}: {said or 'no plan can run'} ({code})")
    return row_of(point, found)


# ---- what follows ----

def read_table(path):
    return measuring.read_table(path, COLUMNS)


def times_of(row):
    return {name: float(row[f"{name}_s"]) for name in BASELINES if row[f"{name}_s"]}


def gain(row, name):
    """How much longer a baseline takes than the best plan."""
    return float(row[f"{name}_s"]) / float(row["best_s"]) - 1


def percent(value):
    return f"{100 * value:.2f} %"


def place(row):
    return (f"{row['model']}, {row['buildings']} buildings, {row['distance']}, "
            f"1:{row['oversubscription']}, loss {row['loss']}")


def likely(row, name):
    value = row[f"{name}_likely"]
    return f"{100 * float(value):.0f} %" if value else "-"


def gains_table(rows):
    """Per baseline the gain of the search over it."""
    lines = ["| baseline | points | median | greatest | likely | where |",
             "|---|---|---|---|---|---|"]
    for name in BASELINES:
        having = [row for row in rows if row[f"{name}_s"]]
        if not having:
            lines.append(f"| `{name}` | 0 | - | - | - | no plan of it can run |")
            continue
        most = max(having, key=lambda row, name=name: gain(row, name))
        lines.append(f"| `{name}` | {len(having)} | "
                     f"{percent(statistics.median(gain(row, name) for row in having))} | "
                     f"{percent(gain(most, name))} | {likely(most, name)} | {place(most)} |")
    return lines


def against(rows, names):
    """(row, name, gain) of the fastest of these baselines at every point that has one."""
    found = []
    for row in rows:
        name = fastest(times_of(row), names)
        if name:
            found.append((row, name, gain(row, name)))
    return found


def story(kind, found):
    """The greatest gain with what made it."""
    row, name, value = max(found, key=lambda one: one[2])
    return (f"{percent(value)} over `{name}` ({place(row)}; {likely(row, name)} likely). It "
            f"differs in {row[kind + '_differs'] or 'nothing'}; that makes "
            f"{row[kind + '_because'] or 'nothing'}.")


def fields_that_differ(rows):
    """From the best single dimension, the most frequent first, with the number of points."""
    count = collections.Counter(part.split()[0] for row in rows
                                for part in row["dimension_differs"].split("; ") if part)
    return ", ".join(f"{field} ({number})" for field, number in count.most_common()) or "nothing"


def summary(rows):
    """What the page says, as lines of Markdown."""
    proven = sum(float(row["gap"]) == 0 for row in rows)
    seconds = statistics.median(float(row["seconds"]) for row in rows)
    lines = [f"{len(rows)} of {len(all_points())} points, {proven} of them proven optimal in their "
             f"space; {seconds:.1f} s a point in the median.",
             "", *gains_table(rows), ""]
    production = against(rows, ["production"])
    planner = against(rows, PLANNERS)
    alone = against(rows, DIMENSIONS)
    published = "The study publishes up to {} %."
    lines += [f"- **Over production** at most {story('production', production)} "
              + published.format(PUBLISHED["production"]),
              "- **Over the fastest planner of the point** at most "
              f"{story('planner', planner)} " + published.format(PUBLISHED["planner"]),
              f"- **Over the best single dimension** at most {story('dimension', alone)}"]
    joint = [row for row, _, value in alone if value > LEAST]
    firsts = ", ".join(f"`{name}` at {sum(one[1] == name for one in alone)}" for name in DIMENSIONS)
    median = percent(statistics.median(one[2] for one in alone))
    lines.append(f"- The joint search is faster than every single dimension by more than "
                 f"{100 * LEAST:.1f} % at {len(joint)} of {len(alone)} points, in the median by "
                 f"{median}. The best single dimension is {firsts}. Where the joint search is "
                 f"faster, the two differ in {fields_that_differ(joint)}.")
    for kind, found in (("Production", production), ("The fastest planner", planner),
                        ("The best single dimension", alone)):
        sure = sum(float(row[f"{name}_likely"] or 0) >= SURE for row, name, _ in found)
        lines.append(f"- {kind} is slower with a probability of {100 * SURE:.0f} % or more at "
                     f"{sure} of {len(found)} points.")
    compared = [(row, name) for row in rows for name in times_of(row)]
    slower = sum(gain(row, name) < -SAME for row, name in compared)
    lines.append(f"- A baseline whose plan lies outside of the space is faster than the best plan "
                 f"of it in {slower} of {len(compared)} comparisons.")
    lines += ["", "The greatest and the median gain, in per cent; - where nothing was explored:"]
    for key, values in (("model", MODELS), *AXES.items()):
        lines += ["", f"| {key} | points | production | planner | single dimension |",
                  "|---|---|---|---|---|"]
        for value in values:
            cells = []
            for found in (production, planner, alone):
                of = [100 * one[2] for one in found if one[0][key] == value]
                cells.append(f"{max(of):.1f}, {statistics.median(of):.1f}" if of else "-")
            count = sum(row[key] == value for row in rows)
            lines.append(f"| {value} | {count} | {' | '.join(cells)} |")
    return lines


def page_with(text, rows):
    said = "<!--=points-->\n\n" + "\n".join(summary(rows)) + "\n\n<!--/-->"
    if len(MARK.findall(text)) != 1:
        raise measuring.InputError(f"{PAGE}: it needs <!--=points--> and <!--/--> once")
    return MARK.sub(lambda _: said, text)


# ---- commands ----

def write_table(rows, path):
    order = {id_of(point): number for number, point in enumerate(all_points())}
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(sorted(rows, key=lambda row: order[row["id"]]))


def again(program, rows, ids, jobs, names=BASELINES):
    """Lines that say where a point is another one by now."""
    known = {row["id"]: row for row in rows}
    points = {id_of(point): point for point in all_points()}
    wrong = []
    for name in ids:
        if name not in known:
            raise measuring.InputError(f"--again {name}: the table has no such point; its first is "
                                       f"{rows[0]['id']}")
        now, row = explore(program, points[name], jobs, names), known[name]
        for key in ("best_s", *(f"{baseline}_s" for baseline in names)):
            was, found = row[key], str(now[key])
            if bool(was) != bool(found) or (was and abs(float(found) / float(was) - 1) > SAME):
                wrong.append(f"{name}: {key} is {found or 'none'} now, {was or 'none'} in the "
                             "table")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", type=pathlib.Path, metavar="FILE",
                        default=TOP / "build" / "release" / "bin" / "scaleacross")
    parser.add_argument("--rows", type=pathlib.Path, default=pathlib.Path("design-points.jsonl"),
                        help="what was explored so far; default: %(default)s")
    parser.add_argument("--csv", type=pathlib.Path, default=TABLE, help="the table")
    parser.add_argument("--jobs", type=measuring.whole(1, measuring.MOST_JOBS), default=1,
                        help="points at a time")
    parser.add_argument("--threads", type=measuring.whole(1, measuring.MOST_JOBS), default=2,
                        help="of each point")
    parser.add_argument("--only", action="append", default=[], metavar="KEY=VALUE")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--table", action="store_true")
    what.add_argument("--summary", action="store_true")
    what.add_argument("--check", action="store_true")
    what.add_argument("--again", nargs="+", metavar="ID")
    options = parser.parse_args()
    options.program = options.program.resolve()
    if options.table:
        rows = [line["row"] for line in measuring.read_rows(options.rows).values()]
        if not rows:
            raise measuring.InputError(f"{options.rows}: there are no rows; design_points.py "
                                       "without options makes them")
        write_table(rows, options.csv)
        PAGE.write_text(page_with(PAGE.read_text(), read_table(options.csv)))
    elif options.summary:
        print("\n".join(summary(read_table(options.csv))))
    elif options.check:
        if page_with(PAGE.read_text(), read_table(options.csv)) != PAGE.read_text():
            print(f"{PAGE}: says something else than {options.csv}; design_points.py --table mends "
                  "it", file=sys.stderr)
            return 1
    elif options.again:
        wrong = again(options.program, read_table(options.csv), options.again, options.threads)
        print("\n".join(wrong), end="\n" if wrong else "")
        return 1 if wrong else 0
    else:
        measuring.measure(chosen_points(options.only), options.rows, options.jobs,
                          lambda case: {"row": explore(options.program, case, options.threads)})
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except measuring.InputError as error:
        print(f"design_points.py: error: {error}", file=sys.stderr)
        sys.exit(2)
    except KeyboardInterrupt:
        sys.exit(130)
