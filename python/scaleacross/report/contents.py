# SPDX-License-Identifier: GPL-2.0-only
"""What the page says: texts, tables and charts of a source. Figures are the database's; sentences
are those that the search has stored, word for word."""

from __future__ import annotations

import json
import re
from typing import Any

from scaleacross.report.places import fabric_section, links_section, places_section
from scaleacross.report.plans import (bar_of, baselines_table, gpu_hours, ranking_table, time_chart,
                                      time_table)
from scaleacross.report.provenance import provenance_section
from scaleacross.report.sections import UNDECIDED, Page, Section, sections_of
from scaleacross.report.source import Source, best_of, effects_of, is_answered
from scaleacross.report.sweep import sweep_section
from scaleacross.report.tables import Column, table
from scaleacross.report.words import (amount, count, crossing, missing, percent, probability,
                                      seconds, share)

CROSSES = {"dp": "data", "pp": "pipeline", "tp": "tensor", "cp": "context", "ep": "expert"}
RUNS_DRAWN = 30


def subtitle_of(source: Source) -> str:
    buildings = json.loads(source.scenario)["cluster"]["buildings"]
    gpus = [building["gpus"] for building in buildings]
    text = f"{count(sum(gpus))} GPUs in {len(gpus)} building{'s' if len(gpus) > 1 else ''}"
    if len(gpus) > 1:
        text += f": {', '.join(f'{name} {count(n)}' for name, n in zip(source.buildings, gpus))}"
    changed = effects_of(source.search) if source.search else {}
    return text + "".join(f" · {key}={value}" for key, value in changed.items())


def figures_of(run: dict[str, Any]) -> list[tuple[str, str]]:
    figures = [("iteration", seconds(run["iteration_time_s"])), ("MFU", percent(run["mfu"])),
               ("exposed communication", seconds(run["exposed_comm_s"])),
               ("pipeline bubble", percent(run["bubble_fraction"])),
               ("memory, fullest stage", amount(run["memory_bytes_max"])),
               ("across buildings", amount(run["cross_building_bytes"]))]
    if not missing(run.get("gpu_hours")):
        figures.append(("GPU-hours", gpu_hours(run["gpu_hours"])))
    return figures


def sure_of(source: Source, lines: list[str]) -> list[tuple[str, str, str]]:
    search = source.search
    tiles = []
    placement = next((line for line in lines if line.startswith("Placement:")), "")
    likely = re.search(r", ((?:over |under )?\d+ %) likely", placement)
    if likely:
        told = UNDECIDED not in placement
        tiles.append((likely[1], "sure that the placement is the faster one" if told else
                      "sure of the placement: it does not decide here", "good" if told else "weak"))
    best = source.shown["ranking"][0]
    if not missing(best["probability_best"]):
        value = best["probability_best"]
        tiles.append((probability(value), "sure that this plan is the fastest of all that are kept",
                      "good" if not missing(search["sure"]) and value >= search["sure"] else "weak"))
    if not missing(search["time_error_mean"]):
        tiles.append((share(search["time_error_mean"]),
                      f"mean error of times, {share(abs(search['time_error_worst']))} at most, on "
                      f"{search['time_error_runs']:g} published runs "
                      f"({search['time_error_kind']})", "plain"))
    elif is_answered(search):
        tiles.append(("unknown", "how far times are off: no published runs of this kind", "weak"))
    if not is_answered(search):
        tiles.append(("not finished", "the best so far; the same ./scaleacross explore goes on",
                      "weak"))
    elif not missing(search["gap"]):
        proven = search["gap"] == 0
        tiles.append(("proven" if proven else f"within {share(search['gap'])}",
                      f"{'optimal' if proven else 'of optimal'} for the {search['engine']} engine",
                      "good" if proven else "weak"))
    return tiles


def headline_of(source: Source, best_line: str) -> str:
    """Begins with what to do, and goes on with the search's own figures."""
    best = source.shown["ranking"][0]
    label = best["plan"]["label"]
    told = re.match(rf"Best(?: by [^:]+)?: {re.escape(label)}: ", best_line)
    said = best_line[told.end():] if told else \
        f"{seconds(best['iteration_time_s'])} per iteration, MFU {percent(best['mfu'])}."
    across = best_of(source.plans[source.search["id"]], source.shown).iloc[0]["crossing"]
    start = "" if is_answered(source.search) else "So far: "
    if len(source.buildings) == 1:
        return f"{start}{said[0].upper()}{said[1:]}"
    return (f"{start}Let {CROSSES.get(across, across)} parallelism cross the buildings "
            f"({crossing(across)}): {said}")


def search_page(source: Source) -> Page:
    search, shown = source.search, source.shown
    said = sections_of("" if missing(search["explanation"]) else search["explanation"])
    page_charts: dict[str, Any] = {}
    sweep = sweep_section(source, page_charts)
    ranking = shown["ranking"]
    sections = [fabric_section(source)]
    rejected = [row for row in source.rejections.to_dict("records")]
    # What is said of the placement is part of the answer.
    caveats = Section("caveats", "Caveats", lines=[line for line in said["sure"]
                                                   if not line.startswith("Placement:")])
    caveats.lines += [line for line in (ranking[0]["warnings"] if ranking else [])]
    if not missing(search["shard"]):
        caveats.lines.append("A shard: merge puts it together with the others, and explore answers.")
    if rejected:
        caveats.folded.append(("plans that were not ranked", table("not-ranked", [
            Column("outcome", "outcome"), Column("reason", "reason"),
            Column("count", "plans", count, True), Column("example", "for example")], rejected)))
    named = [(str(run["rank"]), run) for run in ranking]
    others = [(name, run) for name, run in shown["baselines"].items() if "iteration_time_s" in run]
    if shown["one_site"] and "iteration_time_s" in shown["one_site"]:
        others.append(("one-site", shown["one_site"]))
    checks = [(f"by {run['engine']}", run) for run in shown["checks"] if "iteration_time_s" in run]
    everything = named + others + checks
    if everything:
        page_charts["times"] = time_chart([bar_of(f"#{name}" if name.isdigit() else name, run)
                                           for name, run in everything])
        sections.append(Section(
            "times", "Where the time goes", chart="times", lines=said["time"],
            lead="The best plans, the baselines and checks by other engines. Parts are means over "
                 "the ranks; communication that is hidden behind compute is not drawn.",
            folded=[("times of all of these", time_table(everything))]))
    if sweep:
        sections.append(sweep)
    if ranking:
        sections.insert(1, places_section(source, "the best plan", said["places"],
                                            page_charts))
        sections.append(Section("plans", "The best plans", tables=[ranking_table(source)],
                                lead=f"The best {len(ranking)} of {count(shown['plans'])} distinct "
                                     "plans, and what makes the others slower."
                                if len(ranking) > 1 else ""))
    if shown["baselines"] or shown["one_site"]:
        sections.append(Section("baselines", "Baselines", lines=said["baselines"],
                                tables=[baselines_table(source)],
                                lead="Schools of planning, each tuned as well as the search itself."))
    links = links_section(source, "the best plan", said["links"], page_charts)
    sections += [one for one in (links, caveats if caveats.lines or caveats.folded else None,
                                 provenance_section(source)) if one]
    page = Page(search["study"], subtitle_of(source), "", "", [], [], [], sections, page_charts)
    if ranking:
        best_line = said["best"][0] if said["best"] else ""
        page.headline = headline_of(source, best_line)
        page.plan = ranking[0]["plan"]["label"]
        page.sure = sure_of(source, said["sure"])
        page.figures = figures_of(ranking[0])
        page.answer = [line for line in said["sure"] if line.startswith("Placement:")]
        page.answer += [line for line in said["baselines"] if ": the best takes " in line]
        if sweep:
            page.answer += sweep.lines
        if len(source.searches) > 1:
            page.note = (f"This is search {search['id']} of {len(source.searches)} in "
                         f"{source.name}; --search N shows another. They are listed below.")
    else:
        page.headline = "No plan can run." if search["finished"] == 1 else "Nothing has run yet."
        page.answer = list(said["sure"])
    return page


def run_of(source: Source, row: dict[str, Any]) -> dict[str, Any]:
    """A stored run as `show --json` has those of a search."""
    own = source.classes[source.classes["run_id"] == row["run_id"]].set_index("class")
    return {**row, "plan": {"label": row["label"]}, "classes": own.to_dict("index")}


def runs_page(source: Source) -> Page:
    """Of a database that holds runs and no search."""
    rows = source.runs.to_dict("records")
    good = sorted((row for row in rows if row["status"] == "ok"),
                  key=lambda row: row["iteration_time_s"])
    bad = [row for row in rows if row["status"] != "ok"]
    page_charts: dict[str, Any] = {}
    sections = [fabric_section(source)]
    page = Page(source.name.removesuffix(".db"), subtitle_of(source), "", "", [], [], [], sections,
                page_charts)
    if good:
        best = good[0]
        page.headline = (f"{seconds(best['iteration_time_s'])} per iteration, MFU "
                         f"{percent(best['mfu'])}, by the {best['engine']} engine.")
        page.plan = best["label"]
        page.figures = figures_of(best)
        page.sure = [("not searched", "a run of a given plan: it says nothing of other plans",
                      "plain")]
        sections.append(places_section(source, "the fastest run", [], page_charts))
        named = [(row["engine"], run_of(source, row)) for row in good[:RUNS_DRAWN]]
        page_charts["times"] = time_chart([bar_of(name, run) for name, run in named])
        sections.append(Section("times", "Where the time goes", chart="times",
                                lead="Parts are means over the ranks; communication that is hidden "
                                     "behind compute is not drawn.",
                                folded=[("times of all of these", time_table(named))]))
        sections += [one for one in [links_section(source, "the fastest run", [], page_charts)] if one]
    else:
        page.headline = f"No run has a result: {bad[0]['detail'] or bad[0]['reason']}"
        page.plan = bad[0]["label"]
    sections.append(Section("runs", "All runs", tables=[table("runs", [
        Column("label", "plan"), Column("engine", "engine"), Column("status", "status"),
        Column("iteration_time_s", "iteration", seconds, True), Column("mfu", "MFU", percent, True),
        Column("bubble_fraction", "bubble", percent, True),
        Column("memory_bytes_max", "memory", amount, True),
        Column("cross_building_bytes", "across buildings", amount, True),
        Column("reason", "reason"), Column("detail", "detail")], good + bad,
        also=["run_id", "scenario_id", "seed", "options", "compute_s", "bubble_s",
              "exposed_comm_s"])]))
    if source.runs["scenario_id"].nunique() > 1:
        sections[-1].lead = ("These runs are of several scenarios, which their times do not "
                             "compare; what is drawn above is of the fastest.")
    sections.append(provenance_section(source))
    return page


def page_of(source: Source) -> Page:
    return search_page(source) if source.search else runs_page(source)
