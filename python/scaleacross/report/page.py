# SPDX-License-Identifier: GPL-2.0-only
"""The page as text: what it says, put into its template."""

from __future__ import annotations

import os
import pathlib

import jinja2

from scaleacross.report import vega
from scaleacross.report.contents import page_of
from scaleacross.report.source import read_source

FOLDER = pathlib.Path(__file__).parent


def render(db: str | os.PathLike[str], search_id: int | None = None, top: int = 10) -> str:
    """The page as text; InputError or ProgramError, and a text for the user, where there is none."""
    page = page_of(read_source(db, search_id, top))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), autoescape=True,
                                     undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    environment.policies["json.dumps_kwargs"] = {}  # keys in their order, as tooltips show them
    return environment.get_template("page.html.jinja2").render(
        page=page, css=(FOLDER / "page.css").read_text(encoding="utf-8"),
        js=(FOLDER / "page.js").read_text(encoding="utf-8"), vega=vega.script())
