# SPDX-License-Identifier: GPL-2.0-only
"""What the page says: texts, tables and charts of a source. Figures are the database's; sentences
are those that the search has stored, word for word."""

from __future__ import annotations

import re
from typing import Any

from scaleacross.report.extras import (front_section, nominal_name, robust_answer,
                                       robust_choices, robust_section)
from scaleacross.report.places import (fabric_section, links_section, places_section, places_table,
                                       spans_table)
from scaleacross.report.plans import (bar_of, baselines_table, gpu_hours, ranking_table, time_chart,
                                      time_table)
from scaleacross.report.provenance import command_of, provenance_section
from scaleacross.report.sections import Page, Section, statements_of
from scaleacross.report.source import Source, best_of, effects_of, is_answered, said_of
from scaleacross.report.sweep import is_told, sweep_sections
from scaleacross.report.training import asked_of, figures_of_training
from scaleacross.report.tables import Column, Table, table
from scaleacross.report.words import (amount, count, crossing, missing, percent, probability,
                                      seconds, share)

CROSSES = {"dp": "data", "pp": "pipeline", "tp": "tensor", "cp": "context", "ep": "expert"}
RUNS_DRAWN = 30
RUNS_SHOWN = 200
OTHERS_SHOWN = 20  # scenarios, of runs without a search


def subtitle_of(source: Source) -> str:
    changed = effects_of(source.search) if source.search else {}
    return said_of(source.scenario) + "".join(f" · {key}={value}" for key, value in changed.items())


def shard_of(search: dict[str, Any]) -> str:
    """2 of 4; "" of a search that was made as a whole."""
    return "" if missing(search["shard"]) else f"{search['shard']:g} of {search['shards']:g}"


def progress_of(source: Source) -> str:
    """How far a search is, and what goes on with it."""
    said = source.shown["progress_text"]
    text = (f"{said[0].upper()}{said[1:]}; {seconds(source.search['seconds'])} so far." if said else
            "Every plan is decided, but the answer is not concluded: baselines and sentences are "
            "missing.")
    return f"{text} The same command goes on from here: {command_of(source)}"


def figures_of(run: dict[str, Any]) -> list[tuple[str, str]]:
    figures = [("iteration", seconds(run["iteration_time_s"]))]
    for name, key, say in (("MFU", "mfu", percent),
                           ("exposed communication", "exposed_comm_s", seconds),
                           ("pipeline bubble", "bubble_fraction", percent),
                           ("memory, fullest rank", "memory_bytes_max", amount),
                           ("across buildings", "cross_building_bytes", amount),
                           ("GPU-hours", "gpu_hours", gpu_hours)):
        if not missing(run.get(key)):
            figures.append((name, say(run[key])))
    return figures


def sure_of(source: Source) -> list[tuple[str, str, str]]:
    search, shard = source.search, shard_of(source.search)
    tiles = []
    crosses = source.shown["ranking"][0]["cross_building_bytes"] > 0
    if crosses and not missing(search["placement_probability"]):
        told = is_told(search)
        tiles.append((probability(search["placement_probability"]),
                      "sure that the placement is the faster one" if told else
                      "sure of the placement: it does not decide here", "good" if told else "weak"))
    best = source.shown["ranking"][0]
    if not missing(best["probability_best"]):
        value = best["probability_best"]
        tiles.append((probability(value), "sure that this plan is the fastest of all that are kept",
                      "good" if not missing(search["sure"]) and value >= search["sure"] else "weak"))
    if error := source.shown["time_error"]:
        behind = f"{error['runs']} published runs of {error['families']} model families ({error['kind']})"
        figures_of = "; ".join(error["figures_of"])
        largest = f", each figure the largest of {figures_of}" if len(error["figures_of"]) > 1 else ""
        tiles.append((share(error["mean"]),
                      f"mean error of times, {share(error['within'])} for eight in ten and "
                      f"{share(abs(error['worst']))} at most, "
                      + (f"on {behind}{largest}" if error["validated"] else
                         f"of the kind that errs most ({figures_of}): not validated for this one, with "
                         f"{behind}: {error['unvalidated']}")
                      + ", all in one building: no published run spans buildings",
                      "plain" if error["validated"] else "weak"))
    elif is_answered(search) or not missing(search["sure"]):
        tiles.append(("unknown", "how far times are off: no published runs of this kind", "weak"))
    if shard:
        tiles.append((f"shard {shard}", "the best of a part of the plans: that of another shard may be "
                                        "better", "weak"))
    if search["finished"] != 1:
        tiles.append(("not finished", "the best so far; the same ./scaleacross explore goes on",
                      "weak"))
    elif not shard and not is_answered(search):
        tiles.append(("not concluded", "baselines and how sure this is are missing; the same "
                                       "./scaleacross explore goes on", "weak"))
    if not missing(search["gap"]):
        proven = search["gap"] == 0
        tiles.append(("proven" if proven else f"within {share(search['gap'])}",
                      f"{'optimal' if proven else 'of optimal'} for the {search['engine']} engine",
                      "good" if proven else "weak"))
    return tiles


def placement_text(search: dict[str, Any], run: dict[str, Any], across: str) -> str:
    """What to let cross, as the beginning of a headline, or that the search had no other; "" where
    the plan sends nothing between buildings."""
    if not run["cross_building_bytes"]:
        return ""
    searched = re.search(r"plan\.crossing ([^;]*)", search["space"])
    if searched is None or len(searched[1].split()) < 2:
        return f"With {crossing(across)}, the only placement that is searched: "
    return f"Let {CROSSES.get(across, across)} parallelism cross the buildings ({crossing(across)}): "


def headline_of(source: Source) -> str:
    """Begins with what to do, and goes on with the search's own figures."""
    best, search, shard = source.shown["ranking"][0], source.search, shard_of(source.search)
    said = f"{seconds(best['iteration_time_s'])} per iteration, MFU {share(best['mfu'])}."
    if search["objective"] not in (None, "time") and "objective_text" in best:
        said = f"{best['objective_text']}, {said}"
    if shard:
        return f"The best of shard {shard}{'' if search['finished'] == 1 else ' so far'}: {said}"
    robust = robust_answer(source)
    if robust:
        kept, across = robust["best"], robust["best"]["plan"]["crossing"]
        return (f"{placement_text(search, best, across)}{seconds(kept['quantile_s'])} per iteration or less, with a "
                f"probability of {100 * robust['quantile']:g} %; {seconds(kept['nominal_s'])} as the "
                "study is.")
    start = "" if is_answered(search) else "So far: "
    across = best_of(source.plans[search["id"]], source.shown).iloc[0]["crossing"]
    return f"{start}{placement_text(search, best, across) or 'Nothing crosses buildings: '}{said}" \
        if len(source.cluster) > 1 else f"{start}{said}"


def caveats_of(source: Source, said: dict[str, list[str]]) -> Section | None:
    shown, search = source.shown, source.search
    ranking = shown["ranking"]
    section = Section("caveats", "Caveats", lines=[*said.get("sure", []), *said.get("proof", [])])
    if shown["held_text"]:
        section.lines.append(shown["held_text"])
    section.lines += [f"{warning}." for warning in shown["warnings"]] + shown["checked"]
    short = [str(run["rank"]) for run in ranking if run["fits"] is False]
    if short:
        section.lines.append(f"Of the plans below #{', #'.join(short)} lack memory on a GPU: the study "
                             "runs such plans as well.")
    if not missing(search["shard"]):
        section.lines.append(
            f"A shard: ./scaleacross merge puts all {search['shards']:g} together, and explore then "
            "finds baselines and the answer.")
    return section if section.lines else None


def failures_section(source: Source) -> Section | None:
    """The plans that have no place in the ranking, by reason."""
    rejected = source.rejections.to_dict("records")
    if not rejected:
        return None
    return Section("failures", "Plans that could not run", tables=[table("not-ranked", [
        Column("outcome", "outcome"), Column("reason", "reason"),
        Column("count", "combinations", count, True), Column("example", "for example")], rejected)],
        lead="Plans that are not ranked, by what refused them: rejected ones cannot run, failed ones "
             "were begun and have no result.")


def note_of(source: Source) -> str:
    """Of which search the page is, where the database holds several."""
    if len(source.searches) < 2:
        return ""
    studies = len(set(source.searches["study"]))
    return (f"This page is of search {source.search['id']} alone, of {len(source.searches)} "
            f"{'' if studies == 1 else f'of {studies} studies '}in {source.name}; --search N shows "
            "another. They are listed at the end.")


def plan_sections(source: Source, said: dict[str, list[str]],
                  page_charts: dict[str, Any]) -> list[Section]:
    """Of the plans that have a result."""
    shown = source.shown
    ranking = shown["ranking"]
    best = ranking[0] if ranking else None
    named = [(str(run["rank"]), run) for run in ranking]
    others = [(name, run) for name, run in shown["baselines"].items() if "iteration_time_s" in run]
    if shown["one_site"] and "iteration_time_s" in shown["one_site"]:
        others.append(("one-site", shown["one_site"]))
    checks = [(f"by {run['engine']}", run) for run in shown["checks"] if "iteration_time_s" in run]
    everything = named + others + checks
    whose = f"the best plan of shard {shard_of(source.search)}" if shard_of(source.search) else \
        "the best plan" if is_answered(source.search) else "the best plan so far"
    whose = nominal_name(source) or whose
    sections: list[Section | None] = [robust_section(source)]
    if best:
        places = places_section(source, whose, best, said.get("stages", []), page_charts)
        of_all = places_table(named)
        if of_all and len(named) > 1:
            places.folded.append(("stages, layers and memory by building, of every plan", of_all))
        sections.append(places)
    if everything:
        page_charts["times"] = time_chart([bar_of(f"#{name}" if name.isdigit() else name, run)
                                           for name, run in everything])
        sections.append(Section(
            "times", "Where the time goes", chart="times", lines=said.get("time", []),
            lead="The best plans, the baselines and checks by other engines. Parts are means over "
                 "the ranks; communication that is hidden behind compute is not drawn.",
            folded=[("times of all of these", time_table(everything))]))
    sections += sweep_sections(source, page_charts)
    if best:
        of_shard = f" of shard {shard_of(source.search)}" if shard_of(source.search) else ""
        sections.append(Section("plans", "The best plans", tables=[ranking_table(source)],
                                lead=f"The best {len(ranking)} of {count(shown['space'])} distinct "
                                     f"plans{of_shard}, and what makes the others slower."
                                if len(ranking) > 1 else ""))
    sections.append(front_section(source, page_charts))
    if shown["baselines"] or shown["one_site"]:
        sections.append(Section("baselines", "Baselines", lines=said.get("baselines", []),
                                tables=[baselines_table(source)],
                                lead="Schools of planning, each tuned as well as the search itself."))
    links = links_section(source, whose, best, said.get("links", []), page_charts)
    of_all = spans_table(named + others)
    if links and of_all and len(named + others) > 1:
        links.folded.insert(0, ("load of every span, of every plan", of_all))
    sections.append(links)
    return [section for section in sections if section]


def search_page(source: Source) -> Page:
    search, shown = source.search, source.shown
    said = statements_of(shown)
    page_charts: dict[str, Any] = {}
    caveats = caveats_of(source, said)
    sections = [fabric_section(source), *plan_sections(source, said, page_charts),
                *(section for section in (failures_section(source), caveats) if section),
                provenance_section(source)]
    page = Page(search["study"], subtitle_of(source), "", "", [], [], [], sections, page_charts)
    page.note = note_of(source)
    page.asked = asked_of(source.job, source.cluster)
    if shown["ranking"]:
        page.headline = headline_of(source)
        page.plan = shown["ranking"][0]["plan"]["label"]
        page.sure = sure_of(source)
        page.figures = figures_of(shown["ranking"][0]) + figures_of_training(
            source.job, shown["ranking"][0])
        more = {section.id: section.lines for section in sections}
        robust = robust_answer(source)
        if robust:
            page.choices = robust_choices(robust)
            page.of_whom = nominal_name(source)
        page.answer = (more.get("robust", []) + said.get("placement", []) + said.get("best", [])[1:] +
                       [line for name, lines in more.items() if name.startswith("sweep")
                        for line in lines])
    else:
        page.headline = ("Nothing has run yet." if search["finished"] != 1 else
                         "No plan has a result." if shown["failed"] else
                         f"No plan of shard {shard_of(search)} can run." if shard_of(search) else
                         "No plan can run.")
        page.answer = said.get("best", [])
    if search["finished"] != 1 or not (shard_of(search) or is_answered(search)):
        page.answer.append(progress_of(source))
    return page


def run_of(source: Source, row: dict[str, Any]) -> dict[str, Any]:
    """A stored run as `show --json` has those of a search."""
    own = source.classes[source.classes["run_id"] == row["run_id"]].set_index("class")
    return {**row, "plan": {"label": row["label"]}, "classes": own.to_dict("index")}


def runs_table(name: str, rows: list[dict[str, Any]]) -> Table:
    return table(name, [
        Column("label", "plan"), Column("engine", "engine"), Column("status", "status"),
        Column("iteration_time_s", "iteration", seconds, True), Column("mfu", "MFU", percent, True),
        Column("bubble_fraction", "bubble", percent, True),
        Column("memory_bytes_max", "memory", amount, True),
        Column("cross_building_bytes", "across buildings", amount, True),
        Column("reason", "reason"), Column("detail", "detail")], rows,
        also=["run_id", "scenario_id", "seed", "options", "compute_s", "bubble_s",
              "exposed_comm_s"], most=RUNS_SHOWN)


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
        mfu = "" if missing(best["mfu"]) else f", MFU {percent(best['mfu'])}"
        page.headline = (f"{seconds(best['iteration_time_s'])} per iteration{mfu}, by the "
                         f"{best['engine']} engine.")
        page.plan = best["label"]
        page.figures = figures_of(best)
        page.sure = [("not searched", "a run of a given plan: it says nothing of other plans",
                      "plain")]
        run = source.shown["ranking"][0]
        sections.append(places_section(source, "the fastest run", run, [], page_charts))
        named = [(row["engine"], run_of(source, row)) for row in good[:RUNS_DRAWN]]
        page_charts["times"] = time_chart([bar_of(name, run) for name, run in named])
        sections.append(Section("times", "Where the time goes", chart="times",
                                lead="Parts are means over the ranks; communication that is hidden "
                                     "behind compute is not drawn.",
                                folded=[("times of all of these", time_table(named))]))
        links = links_section(source, "the fastest run", run, [], page_charts)
        sections += [links] if links else []
    else:
        page.headline = f"No run has a result: {bad[0]['detail'] or bad[0]['reason']}"
        page.plan = bad[0]["label"]
    sections.append(Section("runs", "All runs", tables=[runs_table("runs", good + bad)]))
    for n, (what, rows) in enumerate(list(source.other_runs.items())[-OTHERS_SHOWN:], 1):
        sections.append(Section(f"others-{n}", what, tables=[runs_table(
            f"others-{n}", rows.sort_values(["status", "iteration_time_s"]).to_dict("records"))]))
    if source.other_runs:
        page.note = (f"{source.name} has runs of {len(source.other_runs) + 1} scenarios, which their "
                     "times do not compare: what is drawn is of the one that was run last; the "
                     "others have a table each.")
    sections.append(provenance_section(source))
    return page


def page_of(source: Source) -> Page:
    return search_page(source) if source.search else runs_page(source)
