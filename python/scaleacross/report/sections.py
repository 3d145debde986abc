# SPDX-License-Identifier: GPL-2.0-only
"""The parts of a page."""

from __future__ import annotations

import dataclasses
from typing import Any

from scaleacross.report.tables import Table

@dataclasses.dataclass
class Section:
    id: str
    title: str
    lead: str = ""
    lines: list[str] = dataclasses.field(default_factory=list)
    image: str = ""
    image_width: int = 0  # its own, in pixels
    chart: str = ""  # name of one of the page's charts
    tables: list[Table] = dataclasses.field(default_factory=list)
    folded: list[tuple[str, Table]] = dataclasses.field(default_factory=list)
    text: str = ""  # preformatted
    download: tuple[str, str] | None = None  # name, link
    wide: bool = True


@dataclasses.dataclass
class Choice:
    """A plan that answers, and for what."""

    title: str
    plan: str
    figures: list[tuple[str, str]]


@dataclasses.dataclass
class Page:
    title: str
    subtitle: str
    headline: str
    plan: str
    answer: list[str]
    sure: list[tuple[str, str, str]]  # figure, what it is of, tone
    figures: list[tuple[str, str]]
    sections: list[Section]
    charts: dict[str, Any]
    note: str = ""
    asked: list[tuple[str, str]] = dataclasses.field(default_factory=list)  # what it is a plan for
    choices: list[Choice] = dataclasses.field(default_factory=list)  # the first is the answer
    of_whom: str = ""  # whose are how sure it is and the figures, where that is not the answer


def statements_of(shown: dict[str, Any]) -> dict[str, list[str]]:
    """The sentences of an answer by what they are about. Those of which that is not known stand where
    it says how sure it is."""
    found: dict[str, list[str]] = {}
    for topic, line in zip(shown["topics"], shown["explanation"]):
        found.setdefault(topic or "sure", []).append(line)
    return found
