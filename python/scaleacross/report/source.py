# SPDX-License-Identifier: GPL-2.0-only
"""What a report is made of: one state of a database, and what the program says of it."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import sqlite3
import tempfile
from typing import Any

import pandas

from scaleacross import database
from scaleacross.database import InputError
from scaleacross.program import ProgramError, call
from scaleacross.report.words import missing


@dataclasses.dataclass(frozen=True)
class Source:
    """search and shown (what `show --json` prints of it) are empty where runs stand alone."""

    name: str
    searches: pandas.DataFrame
    search: dict[str, Any]
    shown: dict[str, Any]
    plans: dict[int, pandas.DataFrame]  # kept plans by search, of those that belong to a sweep
    runs: pandas.DataFrame
    classes: pandas.DataFrame
    memory: pandas.DataFrame
    links: pandas.DataFrame
    rejections: pandas.DataFrame
    baseline_rules: list[dict[str, str]]
    scenario: str
    buildings: list[str]
    fabric: str | None
    fabric_refused: str


# Keys of a study that leave its plans and their times as they are.
WITHOUT_EFFECT = {"study", "engines", "baselines"}


def changes_of(search: dict[str, Any]) -> dict[str, str]:
    """What was set of a study: {"cluster.cross.distance": "30km"}."""
    text = search["changes"]
    parts = [] if missing(text) else re.split(r", (?=[\w.:-]+=)", text)
    return dict(part.split("=", 1) for part in parts)


def effects_of(search: dict[str, Any]) -> dict[str, str]:
    """Of these what makes it another question."""
    return {key: value for key, value in changes_of(search).items() if key not in WITHOUT_EFFECT}


def is_answered(search: dict[str, Any]) -> bool:
    return search["finished"] == 1 and not missing(search["explanation"])


def choose(found: pandas.DataFrame, search_id: int | None) -> dict[str, Any]:
    """The search that is named, else that of the fewest changes, of several what was worked on
    last; an answer before what has none."""
    rows = found.to_dict("records")
    if search_id is not None:
        for row in rows:
            if row["id"] == search_id:
                return row
        known = "; ".join(f"{row['id']} ({row['study']}"
                          f"{'' if missing(row['changes']) else ', ' + row['changes']})"
                          for row in rows)
        raise InputError(f"--search {search_id}: the database has no such search; it holds: {known}")
    return max(rows, key=lambda row: (is_answered(row), -len(effects_of(row)), row["updated_at"],
                                      row["id"]))


def family_of(found: pandas.DataFrame, search: dict[str, Any]) -> list[dict[str, Any]]:
    """The answered searches that ask the same of the same study in other settings."""
    same = ["study", "engine", "options", "correction", "fingerprint", "seed", "objective",
            "pareto_of", "keep", "method"]

    def all_same(row):
        # Settings of spans leave the space as it is; others may be part of it.
        others = any(not key.startswith("cluster.cross.")
                     for key, _ in effects_of(row).items() ^ effects_of(search).items())
        return all(row[name] == search[name] or (missing(row[name]) and missing(search[name]))
                   for name in (same if others else [*same, "space"]))

    return [row for row in found.to_dict("records")
            if is_answered(row) and missing(row["shard"]) and all_same(row)]


def names_of(links: pandas.DataFrame, cluster: dict[str, Any]) -> list[str]:
    """Buildings as the study calls them, in its order. Texts of scenarios call them by number; the
    links of a run have their names."""
    found = [match[1] for match in map(re.compile("(.+) leaf (?:up|down|link)").fullmatch,
                                       links["name"]) if match]
    names = list(dict.fromkeys(found))
    numbered = [building["name"] for building in cluster["buildings"]]
    return names if len(names) == len(numbered) else numbered


def drawing_of(folder: pathlib.Path, scenario: str, title: str, names: list[str]) -> str:
    """The fabric as the program draws it, SVG; ProgramError where it refuses."""
    study = json.loads(scenario)
    called = {building["name"]: name
              for building, name in zip(study["cluster"]["buildings"], names)}
    for building in study["cluster"]["buildings"]:
        building["name"] = called[building["name"]]
    for link in study["cluster"].get("links", []):
        link["between"] = [called.get(end, end) for end in link["between"]]
    path, drawn = folder / "fabric.json", folder / "fabric.svg"
    for attempt in ({"study": title, **study}, json.loads(scenario)):
        path.write_text(json.dumps(attempt), encoding="utf-8")
        try:
            call("show", "--topology", path, "-o", drawn)
            return drawn.read_text(encoding="utf-8")
        except ProgramError as error:
            refused = error
    raise refused


def best_of(plans: pandas.DataFrame, shown: dict[str, Any]) -> pandas.DataFrame:
    """The row of the plan that leads the ranking, which need not be the fastest; none without one."""
    texts = [run["plan"]["text"] for run in shown["ranking"][:1]]
    return plans[plans["text"].isin(texts)]


def scenario_of(connection: sqlite3.Connection, scenario_id: int) -> str:
    (text,) = connection.execute("SELECT text FROM scenario WHERE id = ?",
                                 (int(scenario_id),)).fetchone()
    return text


def read_source(path: str | os.PathLike[str], search_id: int | None = None,
                top: int = 10) -> Source:
    """InputError where there is nothing to report, ProgramError where the program cannot help."""
    path = pathlib.Path(path)
    with database.open_database(path) as connection, \
            tempfile.TemporaryDirectory(prefix="scaleacross-") as name:
        folder = pathlib.Path(name)
        found = database.searches(connection)
        runs = database.runs(connection)
        if found.empty and search_id is not None:
            raise InputError(f"--search {search_id}: the database holds no search")
        search = {} if found.empty else choose(found, search_id)
        if not search and runs.empty:
            raise InputError(f"{path}: the database holds neither a search nor a run; ./scaleacross "
                             f"explore STUDY --db {path} makes one")
        shown: dict[str, Any] = {}
        plans: dict[int, pandas.DataFrame] = {}
        rejected = pandas.DataFrame()
        if search:
            # The program reads the same state of the file, and leaves nothing beside it.
            copy = folder / path.name
            with contextlib.closing(sqlite3.connect(copy)) as target:
                connection.backup(target)
            (shown,) = json.loads(call("show", copy, "--json", "--search", str(search["id"]),
                                       "--top", str(top)))["searches"]
            members = {row["id"] for row in family_of(found, search)} | {search["id"]}
            plans = {one: database.ranked_plans(connection, one) for one in members}
            rejected = database.rejections(connection, search["id"])
            best = best_of(plans[search["id"]], shown).head(1)["run_id"]
            scenario = scenario_of(connection, search["scenario_id"])
        else:
            best = runs[runs["status"] == "ok"].sort_values("iteration_time_s").head(1)["run_id"]
            of_best = runs[runs["run_id"].isin(best)] if len(best) else runs
            scenario = scenario_of(connection, of_best["scenario_id"].iloc[0])
        links = database.links(connection, best)
        buildings = names_of(links, json.loads(scenario)["cluster"])
        fabric, refused = None, ""
        try:
            fabric = drawing_of(folder, scenario,
                                search["study"] if search else path.stem, buildings)
        except ProgramError as error:
            refused = str(error)
        return Source(path.name, found, search, shown, plans, runs,
                      database.classes(connection, best if search else None),
                      database.memory(connection, best), links, rejected,
                      json.loads(call("list", "baselines", "--json")), scenario, buildings, fabric,
                      refused)
