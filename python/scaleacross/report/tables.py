# SPDX-License-Identifier: GPL-2.0-only
"""Tables as the page shows them and as files that it offers."""

from __future__ import annotations

import base64
import csv
import dataclasses
import io
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from scaleacross.report.words import missing


@dataclasses.dataclass(frozen=True)
class Column:
    """A key of the rows, its title, and how its values are said; figures stand to the right."""

    key: str
    title: str
    say: Callable[[Any], str] = str
    figure: bool = False


@dataclasses.dataclass(frozen=True)
class Cell:
    text: str
    title: str
    figure: bool


@dataclasses.dataclass(frozen=True)
class Table:
    name: str
    columns: list[Column]
    rows: list[list[Cell]]
    csv: str
    more: int = 0  # rows that only the file has


def csv_of(keys: list[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """As a link, with values as they are stored."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(keys)
    writer.writerows(["" if missing(row.get(key)) else row[key] for key in keys] for row in rows)
    return "data:text/csv;charset=utf-8;base64," + base64.b64encode(
        text.getvalue().encode()).decode()


def table(name: str, columns: list[Column], rows: list[dict[str, Any]],
          also: Iterable[str] = (), most: int = 1000) -> Table:
    """Columns that no row knows are left out; `also` names those that only the file has, which has
    the rows behind the first `most` as well."""
    def known(key: str) -> bool:
        return any(not missing(row.get(key)) for row in rows)

    used = [column for column in columns if known(column.key)]
    cells = [[Cell("–" if missing(row.get(column.key)) else column.say(row[column.key]),
                   column.title, column.figure) for column in used] for row in rows[:most]]
    keys = [column.key for column in used]
    keys += [key for key in also if key not in keys and known(key)]
    return Table(name, used, cells, csv_of(keys, rows), max(0, len(rows) - most))
