# SPDX-License-Identifier: GPL-2.0-only
"""Where stages are, what they hold, and how busy links are."""

from __future__ import annotations

import base64
import re
from typing import Any

from scaleacross.report import charts
from scaleacross.report.sections import Section
from scaleacross.report.source import Source
from scaleacross.report.tables import Column, Table, table
from scaleacross.report.words import amount, count, percent, rate, share, some_of, yes_or_no

LINKS_DRAWN = 20
SPANS_SHOWN = 100
ROWS_SHOWN = 400
BUILDINGS_SHOWN = 12  # of more the table is folded


def runs_text(values: list[int]) -> str:
    """0 to 3, 6."""
    groups: list[list[int]] = []
    for value in values:
        if groups and groups[-1][-1] == value - 1:
            groups[-1].append(value)
        else:
            groups.append([value])
    return ", ".join(f"{group[0]} to {group[-1]}" if len(group) > 1 else f"{group[0]}"
                     for group in groups)


def is_wide(source: Source) -> bool:
    """Whether the fabric takes a row of its own. That of two buildings stands beside the stages."""
    return len(source.cluster) > 2 or source.memory.empty


def buildings_of(run: dict[str, Any]) -> list[dict[str, Any]]:
    """What the buildings hold of a plan: stages, layers and, on their own GPUs, the memory of the
    fullest stage. Empty of a plan that the program cannot lay out, of an older release for
    instance."""
    stages = run.get("stages")
    if not stages:
        return []
    rows = []
    for name, held in stages["of_buildings"].items():
        memory = stages["memory_of_buildings"][name]
        fullest = max((sum(use[part] for part in charts.CATEGORIES) for use in memory), default=None)
        usable = memory[0]["usable"] if memory else None  # all GPUs of a building are alike
        rows.append({"building": name, "stages": runs_text(held),
                     "layers": sum(stages["layers"][stage] for stage in held),
                     "fullest": fullest, "usable": usable,
                     "fits": fullest <= usable if fullest is not None and usable else None})
    return rows


BUILDING = [Column("building", "building"), Column("stages", "stages"),
            Column("layers", "layers", str, True), Column("fullest", "fullest stage", amount, True),
            Column("usable", "usable there", amount, True), Column("fits", "fits", yes_or_no)]


def places_section(source: Source, whose: str, best: dict[str, Any] | None, lines: list[str],
                   page_charts: dict[str, Any]) -> Section:
    """best is the run whose stages these are, where more is known of it than its memory."""
    memory = source.memory.to_dict("records")
    section = Section("places", "What sits where", lines=lines, wide=is_wide(source),
                      lead=f"Memory of a GPU by pipeline stage, of {whose}, and what it may fill: "
                           "where a stage is in several buildings, in the one that has the least "
                           "left.")
    stages = (best or {}).get("stages") or {"layers": [], "of_buildings": {}}
    bars = []
    for row in memory:
        stage = row["stage"]
        where = [name for name, held in stages["of_buildings"].items() if stage in held]
        layers = stages["layers"][stage] if stage < len(stages["layers"]) else None
        values = {name: row[name] for name in charts.CATEGORIES}
        used = sum(values.values())
        tips = {}
        for name, value in values.items():
            tips[name] = {charts.CATEGORIES[name][0]: amount(value), "of the stage": amount(used),
                          "usable": amount(row["usable"])}
            if where:
                tips[name]["layers"] = str(layers)
                tips[name]["in"] = some_of(where)
        bars.append({"name": f"stage {stage}", "values": values, "tip": tips,
                     "note": f"{layers} layers · {some_of(where)}" if where else "",
                     "total": f"{amount(used)} of {amount(row['usable'])}",
                     "limit": row["usable"]})
    if bars:
        page_charts["memory"] = charts.stacked("Memory by pipeline stage", bars, charts.CATEGORIES,
                                               "GiB", 2**30, room=150)
        section.chart = "memory"
    rows = buildings_of(best) if best else []
    gpus = {one["name"]: one["gpus"] for one in source.cluster}
    rows = [{**row, "gpus": gpus.get(row["building"])} for row in rows]
    if rows:
        shown = table("places", [BUILDING[0], Column("gpus", "GPUs", count, True), *BUILDING[1:]], rows)
        if len(rows) > BUILDINGS_SHOWN:
            section.folded.append((f"all {len(rows)} buildings", shown))
        else:
            section.tables.append(shown)
    if memory:
        section.folded.append(("memory by stage", table("memory", [
            Column("stage", "stage"), *(Column(name, title, amount, True)
                                        for name, (title, _, _) in charts.CATEGORIES.items()),
            Column("usable", "usable", amount, True)], memory)))
    return section


def places_table(named: list[tuple[str, dict[str, Any]]]) -> Table | None:
    """Stages, layers and memory by building, of several plans."""
    rows = [{"plan": name, **row} for name, run in named for row in buildings_of(run)]
    return table("stages", [Column("plan", "plan"), *BUILDING], rows,
                 most=ROWS_SHOWN) if rows else None


def spans_table(named: list[tuple[str, dict[str, Any]]]) -> Table | None:
    """How busy every span is, by plan, the fullest first."""
    spans: dict[str, dict[str, Any]] = {}
    for name, run in named:
        for link in run.get("resources", []):
            if kind_of(link) == "span":
                row = spans.setdefault(link["name"], {"span": link["name"],
                                                      "capacity": link["capacity_bps"]})
                row[name] = link["busy"]
    plans = [name for name, _ in named if any(name in row for row in spans.values())]
    rows = sorted(spans.values(), key=lambda row: -max(row.get(name, 0.0) for name in plans))
    return table("spans", [Column("span", "span"), Column("capacity", "capacity", rate, True),
                           *(Column(name, f"#{name}" if name.isdigit() else name, share, True)
                             for name in plans)], rows, most=SPANS_SHOWN) if rows else None


def kind_of(link: dict[str, Any]) -> str:
    if not link["shared"]:
        return "port"
    return "span" if link["kind"] == "span" else "building"


def links_section(source: Source, whose: str, best: dict[str, Any] | None, lines: list[str],
                  page_charts: dict[str, Any]) -> Section | None:
    links: list[dict[str, Any]] = [{**link, "kind": kind_of(link)}
                                   for link in (best or {}).get("resources", [])]
    if not links:
        return None
    ordered = sorted(links, key=lambda link: -link["busy"])
    spans = [link for link in ordered if link["kind"] == "span"][:LINKS_DRAWN]
    # Of the many ports the fullest of each kind in each building.
    fullest: dict[str, dict[str, Any]] = {}
    for link in ordered:
        if link["kind"] != "span":
            fullest.setdefault(link["family"], link)
    drawn = sorted(spans + list(fullest.values())[:LINKS_DRAWN], key=lambda link: -link["busy"])
    page_charts["links"] = charts.bars("How busy links are", [
        {"name": link["name"], "kind": link["kind"], "busy": link["busy"],
         "total": percent(link["busy"]),
         "tip": {"title": link["name"], "busy": share(link["busy"]),
                 "bytes": amount(link["bytes"]), "capacity": rate(link["capacity_bps"])}}
        for link in drawn])
    titles = {kind: words[0] for kind, words in charts.KINDS.items()}
    shown = table("links", [
        Column("name", "link"), Column("kind", "kind", lambda kind: titles[kind]),
        Column("busy", "busy", share, True),
        Column("bytes", "bytes of an iteration", amount, True),
        Column("capacity_bps", "capacity", rate, True)], links)
    every = sum(link["kind"] == "span" for link in links)
    which = "the spans between buildings" if every <= LINKS_DRAWN else (
        f"the {LINKS_DRAWN} fullest of {every} spans between buildings")
    return Section("links", "Load of links and spans", lines=lines, chart="links",
                   lead=f"Of {whose}: {which}, the links inside them, and of the "
                        "ports of GPUs the fullest of each kind.",
                   folded=[(f"all {len(links)} links", shown)])


def fabric_section(source: Source) -> Section:
    section = Section("fabric", "The fabric", wide=is_wide(source))
    if source.fabric is None:
        section.lead = f"The program does not draw it: {source.fabric_refused}"
    else:
        section.image = "data:image/svg+xml;base64," + base64.b64encode(
            source.fabric.encode()).decode()
        width = re.search(r'<svg[^>]* width="(\d+)', source.fabric)
        section.image_width = int(width[1]) if width else 0
    return section
