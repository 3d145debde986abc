# SPDX-License-Identifier: GPL-2.0-only
"""Where stages are, what they hold, and how busy links are."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

from scaleacross.report import charts
from scaleacross.report.sections import Section
from scaleacross.report.source import Source
from scaleacross.report.tables import Column, table
from scaleacross.report.words import amount, count, missing, percent, rate, share

LINKS_DRAWN = 20


def places_of(source: Source, lines: list[str]) -> dict[str, tuple[list[int], list[int], int]]:
    """Stages, their layers and the sum of these by building, from the sentence that says so. Empty
    where names are such that it cannot be read."""
    found = {}
    for part in (lines[0].removeprefix("Stages: ").removesuffix(".").split("; ") if lines else []):
        match = re.fullmatch(r"(.+?)(?: each have| has) stages? (.+?) with (\d+) layers?"
                             r"(?: \((.+)\))?", part)
        if not match:
            return {}
        stages = [stage for first, last in re.findall(r"(\d+)(?: to (\d+))?", match[2])
                  for stage in range(int(first), int(last or first) + 1)]
        layers = [int(one) for times, one in re.findall(r"(?:(\d+) x )?(\d+)", match[4] or match[3])
                  for _ in range(int(times or 1))]
        if len(layers) != len(stages):
            return {}
        for name in source.buildings:
            if re.search(rf"(^|, | and ){re.escape(name)}(, | and |$)", match[1]):
                found[name] = (stages, layers, int(match[3]))
    return found if len(found) == len(source.buildings) else {}


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
    return len(source.buildings) > 2 or source.memory.empty


def places_section(source: Source, whose: str, lines: list[str],
                   page_charts: dict[str, Any]) -> Section:
    places = places_of(source, lines)
    memory = source.memory.to_dict("records")
    section = Section("places", "What sits where", lines=lines, wide=is_wide(source),
                      lead=f"Memory of a GPU by pipeline stage, of {whose}, and what the stage may "
                           "fill.")
    bars = []
    layers_of = {stage: layers for stages, all_layers, _ in places.values()
                 for stage, layers in zip(stages, all_layers)}
    for row in memory:
        stage = row["stage"]
        where = [name for name, (stages, _, _) in places.items() if stage in stages]
        values = {name: row[name] for name in charts.CATEGORIES}
        used = sum(values.values())
        tips = {}
        for name, value in values.items():
            tips[name] = {charts.CATEGORIES[name][0]: amount(value), "of the stage": amount(used)}
            if not missing(row["usable"]):
                tips[name]["usable"] = amount(row["usable"])
            if where:
                tips[name]["layers"] = str(layers_of[stage])
                tips[name]["in"] = ", ".join(where)
        note = f"{layers_of[stage]} layers · {', '.join(where)}" if where else ""
        bars.append({"name": f"stage {stage}", "note": note, "values": values, "tip": tips,
                     "total": amount(used) + ("" if missing(row["usable"])
                                              else f" of {amount(row['usable'])}"),
                     "limit": None if missing(row["usable"]) else row["usable"]})
    if bars:
        page_charts["memory"] = charts.stacked("Memory by pipeline stage", bars, charts.CATEGORIES,
                                               "GiB", 2**30, room=150)
        section.chart = "memory"
    if places:
        used = {row["stage"]: sum(row[name] for name in charts.CATEGORIES) for row in memory}
        gpus = [building["gpus"] for building in json.loads(source.scenario)["cluster"]["buildings"]]
        rows = [{"building": name, "gpus": gpus[n], "stages": runs_text(places[name][0]),
                 "layers": places[name][2],
                 "fullest": max((used.get(stage, 0) for stage in places[name][0]), default=None)}
                for n, name in enumerate(source.buildings)]
        section.tables.append(table("places", [
            Column("building", "building"), Column("gpus", "GPUs", count, True),
            Column("stages", "stages"), Column("layers", "layers", str, True),
            Column("fullest", "fullest stage", amount, True)], rows))
    if memory:
        section.folded.append(("memory by stage", table("memory", [
            Column("stage", "stage"), *(Column(name, title, amount, True)
                                        for name, (title, _, _) in charts.CATEGORIES.items()),
            Column("usable", "usable", amount, True)], memory)))
    return section


def kind_of(link: dict[str, Any]) -> str:
    if not link["shared"]:
        return "port"
    inside = re.search(r" (leaf|zone|NIC|scale-up) (out|in|up|down|link)$", link["name"])
    return "building" if inside else "span"


def links_section(source: Source, whose: str, lines: list[str],
                  page_charts: dict[str, Any]) -> Section | None:
    links: list[dict[str, Any]] = [{**link, "kind": kind_of(link)}
                                   for link in source.links.to_dict("records")]
    if not links:
        return None
    spans = [link for link in links if link["kind"] == "span"][:LINKS_DRAWN]
    # Of the many ports the fullest of each kind in each building.
    fullest: dict[str, dict[str, Any]] = {}
    for link in sorted((one for one in links if one["kind"] != "span"),
                       key=lambda link: -link["busy"]):
        fullest.setdefault(re.sub(r"^stage \d+ (in )?", "", link["name"]), link)
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
    return Section("links", "Load of links and spans", lines=lines, chart="links",
                   lead=f"Of {whose}: the spans between buildings, the links inside them, and of the "
                        "ports of GPUs the fullest of each kind.", folded=[(f"all {len(links)} links", shown)])


def fabric_section(source: Source) -> Section:
    section = Section("fabric", "The fabric", wide=is_wide(source))
    if source.fabric is None:
        section.lead = f"The program does not draw it: {source.fabric_refused}"
    else:
        section.image = "data:image/svg+xml;base64," + base64.b64encode(
            source.fabric.encode()).decode()
    return section
