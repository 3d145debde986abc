# SPDX-License-Identifier: GPL-2.0-only
"""Reads a ScaleAcross database into pandas.

Everything here stands on contrib/scaleacross/doc/database.md and on nothing else of the project.
Times are in seconds and amounts in bytes, as they are stored; columns keep their names.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas

APPLICATION_ID = 0x53434C41  # "SCLA"
SCHEMA_VERSION = 1
CLASSES = ["tp", "ep", "cp", "pp", "dp"]  # of communication, in the order in which they are drawn

RUN_COLUMNS = """run.id AS run_id, run.engine, run.status, run.iteration_time_s, run.mfu,
    run.compute_s, run.bubble_s, run.exposed_comm_s, run.memory_bytes_max,
    run.cross_building_bytes"""
# Beside these, where a run stands on its own.
OWN_COLUMNS = """run.scenario_id, run.options, run.seed, run.reason, run.detail, run.bubble_fraction,
    run.requested, run.fingerprint, run.program_version, run.git_commit, run.created_at"""
PLAN_COLUMNS = """plan.tp, plan.cp, plan.ep, plan.pp, plan.dp, plan.crossing, plan.sharding,
    plan.schedule, plan.microbatch, plan.chunks, plan.recompute, plan.collective, plan.multipath,
    plan.qps, plan.transport, plan.recovery, plan.control, plan.balance, plan.all_to_all, plan.copy"""


class InputError(Exception):
    """Something is wrong with what the user gave; the text says what, and what to do."""


@contextlib.contextmanager
def open_database(path: str | os.PathLike[str]) -> Iterator[sqlite3.Connection]:
    """A read-only connection which sees one state of the file from beginning to end.

    Raises InputError if the file is not a database of this schema version.
    """
    path = pathlib.Path(path)
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    # Whoever reads a file with a write-ahead log the usual way leaves two files beside it, and
    # cannot read it at all in a folder that is write-protected. As long as nobody writes there is
    # no log, and the file can be read as one that does not change.
    quiet = not path.with_name(path.name + "-wal").exists()
    mode = "immutable=1" if quiet else "mode=ro"
    connection = None
    try:
        connection = sqlite3.connect(f"{path.resolve().as_uri()}?{mode}", uri=True)
        connection.execute("BEGIN")
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if application != APPLICATION_ID:
            raise InputError(f"{path}: an SQLite database, but not one of ScaleAcross")
        if version != SCHEMA_VERSION:
            remedy = ("explore or run with this --db bring it up to date"
                      if version < SCHEMA_VERSION else "it is from a newer ScaleAcross than this")
            raise InputError(f"{path}: schema version {version}, this program reads "
                             f"{SCHEMA_VERSION}; {remedy}")
        yield connection
    except (sqlite3.DatabaseError, pandas.errors.DatabaseError) as error:
        reason = error.__cause__ or error  # pandas puts the whole query before SQLite's reason
        raise InputError(f"{path}: cannot be read as a database: {reason}") from error
    finally:
        if connection is not None:
            connection.close()


def searches(connection: sqlite3.Connection) -> pandas.DataFrame:
    """All searches with what their spans are, oldest first."""
    return pandas.read_sql_query(
        """SELECT search.*, distance_km, capacity_bps, loss, oversubscription
           FROM search JOIN scenario ON scenario.id = scenario_id ORDER BY search.id""", connection)


# Keys of a study that decide nothing that a search of it finds, but for its first engine.
IDLE = {"study", "engines", "baselines"}
# What explore was asked for by options: column, and what is usual.
ASKED = {"objective": "time", "keep": 10, "pareto_of": "none", "gap_asked": 0,
         "rest_gap_asked": 0.05}
LISTED = 20  # searches; more are not read


def settings_of(search: Mapping[str, Any]) -> dict[str, str]:
    """What was set of a study: {"cluster.cross.distance": "30km"}."""
    settings = search["settings"]
    return json.loads(settings) if isinstance(settings, str) else {}


def changes_of(search: Mapping[str, Any]) -> list[str]:
    """What --set and --sweep changed of the question of a search: cluster.cross.distance=30km."""
    return [f"{key}={value}" for key, value in settings_of(search).items() if key not in IDLE]


def asked_of(search: Mapping[str, Any]) -> dict[str, Any]:
    """What was asked of a search that is not usual, by column of ASKED."""
    return {column: search[column] for column, usual in ASKED.items()
            if search[column] != usual
            and not (column == "rest_gap_asked" and search["method"] == "exhaustive")}


def option_of(column: str) -> str:
    """The option that a column of ASKED is of: rest-gap."""
    return column.removesuffix("_asked").removesuffix("_of").replace("_", "-")


def number_text(value: Any) -> str:
    """All digits. Whole numbers are floats in a column that has nothing in some rows."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _name_of(search: Mapping[str, Any]) -> str:
    """What tells it from other searches, as the program's lists do."""
    shard = ([] if pandas.isna(search["shard"]) else
             [f"shard {number_text(search['shard'])}/{number_text(search['shards'])}"])
    return ", ".join([search["study"],
                      *(f"{key}={value}" for key, value in settings_of(search).items()),
                      *(["exhaustive"] if search["method"] == "exhaustive" else []),
                      *(f"{option_of(column).replace('-', ' ')} {number_text(value)}"
                        for column, value in asked_of(search).items()),
                      *shard])


def _as_written(found: pandas.DataFrame) -> pandas.DataFrame:
    """The searches of studies as their files say them, without --set or --sweep; one with engines of
    its own is none beside that of the same study without."""
    rows = [row for row in found.to_dict("records") if settings_of(row).keys() <= IDLE]
    plain = {row["study"] for row in rows if "engines" not in settings_of(row)}
    ids = [row["id"] for row in rows
           if "engines" not in settings_of(row) or row["study"] not in plain]
    return found[found["id"].isin(ids)]


def _listed(found: pandas.DataFrame) -> str:
    lines = []
    for row in found.head(LISTED).to_dict("records"):
        ended = "" if row["finished"] == 1 else ", not finished"
        lines.append(f"\n    --search {row['id']}: {_name_of(row)} ({row['engine']} engine, {row['plans']} "
                     f"combinations{ended}, {row['updated_at']})")
    if len(found) > LISTED:
        lines.append(f"\n    and {len(found) - LISTED} more")
    return "".join(lines)


def choose_search(connection: sqlite3.Connection, study: str | None = None,
                  search_id: int | None = None) -> pandas.Series:
    """The row of the search that is meant: the one of this number, else the only one there is, or
    the only one of a study as its file says it, without --set or --sweep. The program's commands
    choose alike.

    Raises InputError with a list of what is there where none is meant, or several could be.
    """
    found = searches(connection)
    if found.empty:
        raise InputError(("" if search_id is None else f"--search {search_id}: ") +
                         "the database holds no search; ./scaleacross explore STUDY makes one")
    if study is not None:
        names = ", ".join(sorted(set(found["study"])))
        found = found[found["study"] == study]
        if found.empty:
            raise InputError(f"no search of study '{study}' in the database; it holds: {names}")
    if search_id is not None:
        chosen = found[found["id"] == search_id]
        if chosen.empty:
            of = f" of study '{study}'" if study is not None else ""
            raise InputError(f"--search {search_id}: the database has no such search{of}; it holds:"
                             f"{_listed(found)}")
        return chosen.iloc[0]
    meant = found if len(found) == 1 else _as_written(found)
    if len(meant) != 1:
        problem = ("no search is stored here of a study as its file says it, without --set or --sweep"
                   if meant.empty else
                   f"{len(meant)} searches are stored here of studies as their files say them")
        raise InputError(f"{problem}; say which by --search:{_listed(found)}")
    return meant.iloc[0]


def ranked_plans(connection: sqlite3.Connection, search_id: int) -> pandas.DataFrame:
    """The kept plans of a search that can run, best first; rank is missing beyond the k best."""
    return pandas.read_sql_query(
        f"""SELECT search_run.rank, search_run.label, search_run.pareto,
                   search_run.best_of_crossing, search_run.probability_best,
                   search_run.probability_slower, search_run.same_as, plan.text, {RUN_COLUMNS}, {PLAN_COLUMNS}
            FROM search_run JOIN run ON run.id = run_id JOIN plan ON plan.id = plan_id
            WHERE search_id = ? AND run.status = 'ok'
            ORDER BY run.iteration_time_s, search_run.plan_index""",
        connection, params=[int(search_id)])


def baselines(connection: sqlite3.Connection, search_id: int) -> pandas.DataFrame:
    """The schools of a search; those without a result have a reason instead of a time.

    Not the reference in one building, which is another cluster.
    """
    return pandas.read_sql_query(
        f"""SELECT baseline.name, plan.label, IFNULL(baseline.reason, run.reason) AS reason,
                   IFNULL(baseline.detail, run.detail) AS detail,
                   baseline.probability_slower, {RUN_COLUMNS}, {PLAN_COLUMNS}
            FROM baseline LEFT JOIN run ON run.id = run_id LEFT JOIN plan ON plan.id = plan_id
            WHERE search_id = ? AND baseline.name <> 'one-site'
            ORDER BY run.iteration_time_s IS NULL, run.iteration_time_s, baseline.name""",
        connection, params=[int(search_id)])


def class_times(connection: sqlite3.Connection, run_ids: Iterable[int]) -> pandas.DataFrame:
    """Exposed seconds: a row per run (indexed by id, in the order given), a column per class."""
    wanted = [int(run_id) for run_id in run_ids]
    rows = pandas.read_sql_query(
        """SELECT run_id, class, exposed_s FROM run_class
           WHERE run_id IN (SELECT value FROM json_each(?))""",
        connection, params=[json.dumps(wanted)])
    table = rows.pivot(index="run_id", columns="class", values="exposed_s")
    return table.reindex(index=wanted, columns=CLASSES).fillna(0.0)


def sweeps(connection: sqlite3.Connection) -> pandas.DataFrame:
    """A row per point of every sweep, in the order of its values; axes is JSON, as the page on the
    database has it."""
    return pandas.read_sql_query(
        """SELECT sweep_id, study, axes, position, search_id, updated_at
           FROM sweep JOIN sweep_point ON sweep_id = sweep.id ORDER BY sweep_id, position""",
        connection)


def rejections(connection: sqlite3.Connection, search_id: int) -> pandas.DataFrame:
    """What a search did not rank: outcome, reason, count and the first example, most first. Of one
    that was stopped, what it knew by then."""
    return pandas.read_sql_query(
        """WITH stopped AS (SELECT so_far FROM search WHERE id = ?1 AND so_far IS NOT NULL)
           SELECT outcome, reason, count, example FROM search_count
           WHERE search_id = ?1 AND NOT EXISTS (SELECT * FROM stopped)
           UNION ALL
           SELECT outcome.key, reason.key, json_extract(reason.value, '$.count'),
                  json_extract(reason.value, '$.example')
           FROM stopped, json_each(so_far) AS outcome, json_each(outcome.value) AS reason
           WHERE outcome.key IN ('rejected', 'failed')
           ORDER BY 3 DESC, 1, 2""",
        connection, params=[int(search_id)])


def runs(connection: sqlite3.Connection) -> pandas.DataFrame:
    """All runs, also those that failed, in the order in which they were stored."""
    return pandas.read_sql_query(
        f"""SELECT {RUN_COLUMNS}, {OWN_COLUMNS}, plan.label, {PLAN_COLUMNS}
            FROM run JOIN plan ON plan.id = plan_id ORDER BY run.id""", connection)


def _of_runs(connection: sqlite3.Connection, table: str, order: str,
             run_ids: Iterable[int] | None) -> pandas.DataFrame:
    wanted = None if run_ids is None else json.dumps([int(run_id) for run_id in run_ids])
    return pandas.read_sql_query(
        f"""SELECT * FROM {table}
            WHERE ?1 IS NULL OR run_id IN (SELECT value FROM json_each(?1))
            ORDER BY run_id, {order}""", connection, params=[wanted])


def classes(connection: sqlite3.Connection,
            run_ids: Iterable[int] | None = None) -> pandas.DataFrame:
    """Busy and exposed seconds, and bytes, of runs (of all, if none are named) by class."""
    return _of_runs(connection, "run_class", "class", run_ids)


def memory(connection: sqlite3.Connection,
           run_ids: Iterable[int] | None = None) -> pandas.DataFrame:
    """Bytes of runs by pipeline stage, a column per category, and what is usable."""
    return _of_runs(connection, "run_memory", "stage", run_ids)


def links(connection: sqlite3.Connection,
          run_ids: Iterable[int] | None = None) -> pandas.DataFrame:
    """The load of every link of runs, in the order of the program's report."""
    return _of_runs(connection, "run_resource", "position", run_ids)


@dataclasses.dataclass(frozen=True)
class Frames:
    """What a database holds. Frames of searches have a column search_id, those of runs run_id."""

    searches: pandas.DataFrame
    plans: pandas.DataFrame
    baselines: pandas.DataFrame
    rejections: pandas.DataFrame
    runs: pandas.DataFrame
    classes: pandas.DataFrame
    memory: pandas.DataFrame
    links: pandas.DataFrame
    sweeps: pandas.DataFrame


def read(path: str | os.PathLike[str]) -> Frames:
    """All of a database, as it is at one moment; InputError if it cannot be read."""
    with open_database(path) as connection:
        found = searches(connection)

        def of_all(frame_of):
            # That of no search has the columns, where there is none.
            ids = list(found["id"]) or [-1]
            frames = [frame_of(connection, search_id) for search_id in ids]
            for search_id, frame in zip(ids, frames):
                frame.insert(0, "search_id", search_id)
            return pandas.concat([frame for frame in frames if not frame.empty] or frames[:1],
                                 ignore_index=True)

        return Frames(found, of_all(ranked_plans), of_all(baselines), of_all(rejections),
                      runs(connection), classes(connection), memory(connection),
                      links(connection), sweeps(connection))
