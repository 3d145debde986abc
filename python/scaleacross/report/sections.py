# SPDX-License-Identifier: GPL-2.0-only
"""The parts of a page."""

from __future__ import annotations

import dataclasses
import re
from typing import Any

from scaleacross.report.tables import Table

# Sentences of an explanation that have a section of their own, by how they begin; the others are
# about how sure the answer is.
SECTIONS = {"Best": "best", "Across buildings": "time", "Communication": "time",
            "Pipeline bubble": "time", "Stages": "places", "Links, the fullest of each kind": "links",
            "Baseline": "baselines", "All GPUs in one building": "baselines"}
# What such a sentence says of placements that the model does not tell apart.
UNDECIDED = "Placement does not decide here"


@dataclasses.dataclass
class Section:
    id: str
    title: str
    lead: str = ""
    lines: list[str] = dataclasses.field(default_factory=list)
    image: str = ""
    chart: str = ""  # name of one of the page's charts
    tables: list[Table] = dataclasses.field(default_factory=list)
    folded: list[tuple[str, Table]] = dataclasses.field(default_factory=list)
    text: str = ""  # preformatted
    download: tuple[str, str] | None = None  # name, link
    wide: bool = True


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


def sections_of(explanation: str) -> dict[str, list[str]]:
    """The sentences of an explanation by where they stand."""
    found: dict[str, list[str]] = {"best": [], "time": [], "places": [], "links": [],
                                   "baselines": [], "sure": []}
    for line in explanation.splitlines():
        for begin, section in SECTIONS.items():
            if re.match(rf"{begin}\b", line):
                found[section].append(line)
                break
        else:
            if line:
                found["sure"].append(line)
    return found
