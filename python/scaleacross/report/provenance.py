# SPDX-License-Identifier: GPL-2.0-only
"""Where a report comes from, and what makes it anew."""

from __future__ import annotations

import base64
import json
import shlex
from typing import Any

from scaleacross.database import asked_of, number_text, option_of, settings_of
from scaleacross.report.extras import nominal_name
from scaleacross.report.sections import Section
from scaleacross.report.source import Source, settings_text
from scaleacross.report.tables import Column, table
from scaleacross.report.words import count, missing, seconds


def command_of(source: Source) -> str:
    """What makes this search anew; the study file itself is not in the database."""
    search = source.search
    words = ["./scaleacross", "explore", "STUDY", "--db", source.name]
    for key, value in settings_of(search).items():
        words += ["--set", f"{key}={value}"]
    if not missing(search["seed"]):
        words += ["--seed", number_text(search["seed"])]
    for column, value in asked_of(search).items():
        words += ["--" + option_of(column), number_text(value)]
    if search["method"] == "exhaustive":
        words.append("--exhaustive")
    if not missing(search["shard"]):
        words += ["--shard", f"{number_text(search['shard'])}/{number_text(search['shards'])}"]
    return shlex.join(words)


def provenance_section(source: Source) -> Section:
    runs = source.runs
    if source.search:
        kept = runs[runs["run_id"].isin(source.plans[source.search["id"]]["run_id"])]
        runs = runs if kept.empty else kept

    def all_of(column):
        return ", ".join(number_text(value) for value in runs[column].dropna().unique())

    facts: list[tuple[str, Any]] = [("database", source.name)]
    if source.search:
        search = source.search
        facts += [("study", search["study"]),
                  ("changed by --set or --sweep", settings_text(search) or "nothing"),
                  ("search", f"{search['id']} of {len(source.searches)} in the database"),
                  ("command", command_of(source)),
                  ("engine", f"{search['engine']} ({search['options']})"),
                  ("method", search["method"]), ("objective", search["objective"]),
                  ("space", search["space"]),
                  ("seed", "none: this engine draws nothing" if missing(search["seed"])
                   else number_text(search["seed"])),
                  ("begun (UTC)", search["created_at"]), ("last worked on (UTC)",
                                                          search["updated_at"]),
                  ("computed for", seconds(search["seconds"])),
                  ("fingerprint of the model", search["fingerprint"])]
    else:
        facts += [("engine", all_of("engine")), ("options", all_of("options")),
                  ("seed", all_of("seed") or "none: this engine draws nothing"),
                  ("computed (UTC)", " to ".join(dict.fromkeys([runs["created_at"].min(),
                                                                 runs["created_at"].max()]))),
                  ("fingerprint of the model", all_of("fingerprint"))]
    facts += [("version", all_of("program_version")), ("commit", all_of("git_commit"))]
    rows = [{"what": what, "value": str(value)} for what, value in facts
            if not missing(value) and value != ""]
    scenario = source.scenario
    lead, name = ("The study below is what was computed, presets written out, without a plan.",
                  "scenario.json")
    best = source.shown["ranking"][0] if source.shown and source.shown["ranking"] else {}
    if "study" in best:
        scenario, name = json.dumps(best["study"], ensure_ascii=False), "study.json"
        lead = ("The study below is what was computed, presets written out, with "
                f"{nominal_name(source) or 'the best plan'}: ./scaleacross run study.json --engine "
                f"{best['engine']} finds its time again.")
    searches = table("searches", [
        Column("id", "search"), Column("study", "study"), Column("changes", "changed"),
        Column("engine", "engine"), Column("plans", "combinations", count, True),
        Column("finished", "finished", lambda finished: "yes" if finished else "no"),
        Column("updated_at", "last worked on (UTC)")],
        [{**row, "changes": settings_text(row) or None}
         for row in source.searches.to_dict("records")])
    folded = [("searches in this database", searches)] if len(source.searches) > 1 else []
    link = "data:application/json;base64," + base64.b64encode(scenario.encode()).decode()
    return Section("provenance", "Where this comes from", tables=[table("provenance", [
        Column("what", ""), Column("value", "")], rows)], folded=folded,
        lead=lead, text=json.dumps(json.loads(scenario), indent=1, ensure_ascii=False),
        download=(name, link))
