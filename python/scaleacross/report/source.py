# SPDX-License-Identifier: GPL-2.0-only
"""What a report is made of: one state of a database, and what the program says of it."""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
import re
import sqlite3
import tempfile
from collections.abc import Iterable
from typing import Any

import pandas

from scaleacross import database
from scaleacross.database import InputError, settings_of
from scaleacross.program import ProgramError, call
from scaleacross.report.training import Job, job_of
from scaleacross.report.words import count, missing

NAMED = 8  # buildings that are called by name


@dataclasses.dataclass(frozen=True)
class Source:
    """search is empty where runs stand alone; shown is what `show --json` prints of it, or has the
    fastest run as its `ranking`."""

    name: str
    searches: pandas.DataFrame
    search: dict[str, Any]
    shown: dict[str, Any]
    sweeps: list[Sweep]  # the newest first
    plans: dict[int, pandas.DataFrame]  # kept plans by search, of those that belong to the sweep
    runs: pandas.DataFrame  # of the scenario that is shown
    other_runs: dict[str, pandas.DataFrame]  # of others, by what these are, where there is no search
    classes: pandas.DataFrame
    memory: pandas.DataFrame
    links: pandas.DataFrame
    rejections: pandas.DataFrame
    baseline_rules: list[dict[str, str]]
    scenario: str  # a study in JSON, with the names that its user has given
    fabric: str | None
    fabric_refused: str
    job: Job | None  # what it trains; None of a collective

    @property
    def cluster(self) -> list[dict[str, Any]]:
        """The buildings, each with its name and GPUs."""
        return json.loads(self.scenario)["cluster"]["buildings"]


@dataclasses.dataclass(frozen=True)
class Axis:
    """A setting and its values in their order; numbers where they lie on a line, None of
    categories."""

    key: str
    values: list[str]
    numbers: list[float] | None


@dataclasses.dataclass(frozen=True)
class Sweep:
    """Searches at values of one or two settings; others are held at `at`. A point has the values of
    the axes and the row of its search."""

    axes: list[Axis]
    points: list[tuple[list[str], dict[str, Any]]]
    held: dict[str, str]


def settings_text(search: dict[str, Any]) -> str:
    """As it was said: plan.tp=8, plan.pp=2; "" where nothing was set."""
    return ", ".join(f"{key}={value}" for key, value in settings_of(search).items())


def effects_of(search: dict[str, Any]) -> dict[str, str]:
    """Of these what makes it another question."""
    return {key: value for key, value in settings_of(search).items() if key not in database.IDLE}


def is_answered(search: dict[str, Any]) -> bool:
    return search["finished"] == 1 and not missing(search["explanation"])


# What a scenario says of its spans, for a study as it is between others that were set.
SPANS = {"cluster.cross.oversubscription": ("oversubscription", "{:g}"),
         "cluster.cross.distance": ("distance_km", "{:g}km"),
         "cluster.cross.loss": ("loss", "{:g}")}
# What has to be the same of searches that stand beside each other.
SAME = ["study", "engine", "options", "correction", "fingerprint", "seed", "objective", "pareto_of",
        "keep", "method"]


def setting_of(search: dict[str, Any], key: str) -> str | None:
    own = effects_of(search).get(key)
    if own is None and key in SPANS and not missing(search[SPANS[key][0]]):
        column, form = SPANS[key]
        own = form.format(search[column])
    return own


def paths_that_differ(one: Any, other: Any, path: str = "") -> set[str]:
    """Where two documents differ, as in "cluster.links.distance"; elements of lists count as one."""
    if isinstance(one, dict) and isinstance(other, dict):
        return {found for key in one.keys() | other.keys()
                for found in paths_that_differ(one.get(key), other.get(key), f"{path}.{key}")}
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return {found for pair in zip(one, other) for found in paths_that_differ(*pair, path)}
    return set() if one == other else {path.removeprefix(".")}


def differ_in(one: str, other: str, keys: Iterable[str]) -> bool:
    """Whether two scenarios differ in nothing but what these settings set: else they are of two
    studies of one name."""
    parts = [re.sub(r"^cluster\.cross\b", "cluster.links", key) for key in keys]
    begins = tuple(".".join(part.split(".")[:2]) if part.startswith("cluster.links") else
                   part.split(".")[0] for part in parts)
    return all(path.startswith(begins) for path in
               paths_that_differ(json.loads(one), json.loads(other)))


def family_of(found: pandas.DataFrame, search: dict[str, Any],
              scenarios: dict[int, str]) -> list[dict[str, Any]]:
    """The answered searches that ask the same of the same study in other settings."""
    def all_same(row):
        # Settings of spans leave the space as it is; others may be part of it.
        apart = effects_of(row).items() ^ effects_of(search).items()
        others = any(not key.startswith("cluster.cross.") for key, _ in apart)
        return all(row[name] == search[name] or (missing(row[name]) and missing(search[name]))
                   for name in (SAME if others else [*SAME, "space"])) and differ_in(
                       scenarios[row["scenario_id"]], scenarios[search["scenario_id"]],
                       [key for key, _ in apart])

    return [row for row in found.to_dict("records")
            if is_answered(row) and missing(row["shard"]) and all_same(row)]


def numbers_of(values: list[str]) -> list[float] | None:
    """Where values of a setting lie, if all are numbers or have one and the same unit."""
    found = [re.fullmatch(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([A-Za-z/%]*)", value,
                          re.IGNORECASE) for value in values]
    scales = {"": ("", 1.0), "%": ("%", 1.0), "m": ("km", 1e-3), "km": ("km", 1.0),
              **{f"{prefix}bps": ("bps", 10.0 ** power) for prefix, power in (
                  ("", 0), ("k", 3), ("M", 6), ("G", 9), ("T", 12), ("P", 15))},
              **{f"{prefix}s": ("s", 10.0 ** power) for prefix, power in (
                  ("p", -12), ("n", -9), ("u", -6), ("m", -3), ("", 0))}}
    parts = [(one[1], scales[one[2]]) for one in found if one and one[2] in scales]
    if len(parts) < len(values) or len({kind for _, (kind, _) in parts}) != 1:
        return None
    return [float(number) * scale for number, (_, scale) in parts]


def stored_sweeps(connection: sqlite3.Connection, found: pandas.DataFrame,
                  search: dict[str, Any]) -> list[Sweep]:
    """The sweeps that the search is a point of, and those that ask the same of its study, each the
    newest first."""
    rows = {row["id"]: row for row in found.to_dict("records")}
    kept = []
    for _, points in database.sweeps(connection).groupby("sweep_id"):
        members = [rows[one] for one in points["search_id"]]
        axes = json.loads(points["axes"].iloc[0])
        own = search["id"] in set(points["search_id"])
        keys = {axis["key"] for axis in axes}
        asks = all(members[0][name] == search[name] or
                   (missing(members[0][name]) and missing(search[name])) for name in SAME) and all(
            key in keys for key, _ in effects_of(members[0]).items() ^ effects_of(search).items())
        if len(members) > 1 and (own or (asks and differ_in(
                scenario_of(connection, members[0]["scenario_id"]),
                scenario_of(connection, search["scenario_id"]), keys))):
            kept.append((own, points["updated_at"].iloc[0], points["sweep_id"].iloc[0], axes, members))
    kept.sort(key=lambda one: one[:3], reverse=True)
    return [sweep_of(search, axes, members) for *_, axes, members in kept]


def sweep_of(search: dict[str, Any], axes: list[dict[str, Any]],
             members: list[dict[str, Any]]) -> Sweep:
    """A stored sweep, of whose axes the last two vary, the others as they are in the search."""
    combinations = list(itertools.product(*(axis["values"] for axis in axes)))
    points = list(zip(map(list, combinations), members))
    place = next((values for values, row in points if row["id"] == search["id"]), points[0][0])
    others = len(axes) - 2 if len(axes) > 2 else 0
    return Sweep([Axis(axis["key"], axis["values"], axis["numbers"]) for axis in axes[others:]],
                 [(values[others:], row) for values, row in points
                  if values[:others] == place[:others]],
                 {axis["key"]: value for axis, value in zip(axes[:others], place)})


def made_sweep(connection: sqlite3.Connection, found: pandas.DataFrame,
               search: dict[str, Any]) -> Sweep | None:
    """The searches that --set has made at values of one or two settings, in the order of these."""
    scenarios = {one: scenario_of(connection, one) for one in set(found["scenario_id"])}
    family = family_of(found, search, scenarios)
    keys = list(dict.fromkeys(key for row in family for key in effects_of(row)))
    varying = [key for key in keys
               if len({setting_of(row, key) for row in family} - {None}) > 1][-2:]
    held = [key for key in keys if key not in varying]
    axes = []
    for key in varying:
        values = list(dict.fromkeys(value for row in family if (value := setting_of(row, key))))
        numbers = numbers_of(values)
        if numbers is not None:
            values = [value for _, value in sorted(zip(numbers, values))]
        axes.append(Axis(key, values, None if numbers is None else sorted(numbers)))
    # Of several at one setting the one that is shown, else the newest.
    family.sort(key=lambda row: (row["id"] == search["id"], row["updated_at"], row["id"]))
    points: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in family:
        at = tuple(setting_of(row, key) for key in varying)
        if None not in at and all(setting_of(row, key) == setting_of(search, key) for key in held):
            points[at] = row
    inside = [(list(at), row) for at, row in points.items()]
    inside.sort(key=lambda point: [axis.values.index(value)
                                   for axis, value in zip(axes, point[0])])
    return Sweep(axes, inside, {}) if len(inside) > 1 else None


def drawing_of(folder: pathlib.Path, scenario: str, title: str) -> str:
    """The fabric as the program draws it, SVG; ProgramError where it refuses."""
    path, drawn = folder / "fabric.json", folder / "fabric.svg"
    path.write_text(json.dumps({**json.loads(scenario), "study": title}), encoding="utf-8")
    call("show", "--topology", path, "-o", drawn)
    return drawn.read_text(encoding="utf-8")


def best_of(plans: pandas.DataFrame, shown: dict[str, Any]) -> pandas.DataFrame:
    """The row of the plan that leads the ranking, which need not be the fastest; none without one."""
    texts = [run["plan"]["text"] for run in shown["ranking"][:1]]
    return plans[plans["text"].isin(texts)]


def scenario_of(connection: sqlite3.Connection, scenario_id: int) -> str:
    """A study in JSON, with its names."""
    (text,) = connection.execute("SELECT study FROM scenario WHERE id = ?",
                                 (int(scenario_id),)).fetchone()
    return text


def said_of(scenario: str) -> str:
    """64 GPUs in 2 buildings: east 32, west 32."""
    buildings = json.loads(scenario)["cluster"]["buildings"]
    text = (f"{count(sum(one['gpus'] for one in buildings))} GPUs in {len(buildings)} "
            f"building{'s' if len(buildings) > 1 else ''}")
    if len(buildings) > 1:
        shown = [f"{one['name']} {count(one['gpus'])}" for one in buildings[:NAMED]]
        more = [] if len(buildings) <= NAMED else ["..."]
        text += f": {', '.join(shown + more)}"
    return text


def with_place(rows: pandas.DataFrame, connection: sqlite3.Connection) -> dict[str, pandas.DataFrame]:
    """Runs by what their scenario is."""
    named = {}
    for scenario_id, some in rows.groupby("scenario_id"):
        spans = connection.execute("SELECT distance_km, oversubscription, loss FROM scenario "
                                   "WHERE id = ?", (int(scenario_id),)).fetchone()
        texts = [form.format(value) for form, value in zip(
            ("{:g} km", "oversubscription {:g}", "loss {:g}"), spans) if value]
        named[f"Runs of scenario {scenario_id}: "
              f"{' · '.join([said_of(scenario_of(connection, scenario_id)), *texts])}"] = some
    return named


def read_source(path: str | os.PathLike[str], search_id: int | None = None,
                top: int = 10, tokens: float = 1e12) -> Source:
    """InputError where there is nothing to report, ProgramError where the program cannot help."""
    path = pathlib.Path(path)
    with database.open_database(path) as connection, \
            tempfile.TemporaryDirectory(prefix="scaleacross-") as name:
        folder = pathlib.Path(name)
        found = database.searches(connection)
        runs = database.runs(connection)
        if found.empty and search_id is not None:
            raise InputError(f"--search {search_id}: the database holds no search")
        search: dict[str, Any] = {}
        if not found.empty:
            chosen = database.choose_search(connection, search_id=search_id)["id"]
            (search,) = found[found["id"] == chosen].to_dict("records")
        if not search and runs.empty:
            raise InputError(f"{path}: the database holds neither a search nor a run; ./scaleacross "
                             f"explore STUDY --db {path} makes one")
        shown: dict[str, Any] = {}
        plans: dict[int, pandas.DataFrame] = {}
        others: dict[str, pandas.DataFrame] = {}
        rejected, sweeps = pandas.DataFrame(), []
        # The program reads the same state of the file, and leaves nothing beside it.
        copy = folder / path.name
        with contextlib.closing(sqlite3.connect(copy)) as target:
            connection.backup(target)
        if search:
            (shown,) = json.loads(call("show", copy, "--json", "--search", str(search["id"]),
                                       "--top", str(top)))["searches"]
            made = made_sweep(connection, found, search)
            sweeps = stored_sweeps(connection, found, search) or ([made] if made else [])
            members = {search["id"], *(row["id"] for sweep in sweeps for _, row in sweep.points)}
            plans = {one: database.ranked_plans(connection, one) for one in members}
            rejected = database.rejections(connection, search["id"])
            best = best_of(plans[search["id"]], shown).head(1)["run_id"]
            scenario_id = search["scenario_id"]
        else:
            # That of the newest run: times of two scenarios do not compare.
            scenario_id = runs.sort_values(["created_at", "run_id"])["scenario_id"].iloc[-1]
            others = with_place(runs[runs["scenario_id"] != scenario_id], connection)
            runs = runs[runs["scenario_id"] == scenario_id]
            shown = {"ranking": json.loads(call("show", copy, "--json", "--top", "1"))["runs"]}
            best = runs[runs["status"] == "ok"].sort_values("iteration_time_s").head(1)["run_id"]
        scenario = scenario_of(connection, scenario_id)
        fabric, refused = None, ""
        try:
            fabric = drawing_of(folder, scenario, search["study"] if search else path.stem)
        except ProgramError as error:
            refused = str(error)
        return Source(path.name, found, search, shown, sweeps, plans, runs, others,
                      database.classes(connection, best if search else None),
                      database.memory(connection, best), database.links(connection, best), rejected,
                      json.loads(call("list", "baselines", "--json")), scenario, fabric, refused,
                      job_of(scenario, tokens))
