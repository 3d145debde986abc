# SPDX-License-Identifier: GPL-2.0-only
"""The page as text: what it says, put into its template."""

from __future__ import annotations

import contextlib
import os
import pathlib
import tempfile

import jinja2

from scaleacross.database import InputError
from scaleacross.report import vega
from scaleacross.report.contents import page_of
from scaleacross.report.source import read_source

FOLDER = pathlib.Path(__file__).parent


def render(db: str | os.PathLike[str], search_id: int | None = None, top: int = 10,
           tokens: float = 1e12) -> str:
    """The page as text; InputError or ProgramError, and a text for the user, where there is none."""
    page = page_of(read_source(db, search_id, top, tokens))
    environment = jinja2.Environment(loader=jinja2.FileSystemLoader(FOLDER), autoescape=True,
                                     undefined=jinja2.StrictUndefined, keep_trailing_newline=True)
    environment.policies["json.dumps_kwargs"] = {}  # keys in their order, as tooltips show them
    return environment.get_template("page.html.jinja2").render(
        page=page, css=(FOLDER / "page.css").read_text(encoding="utf-8"),
        js=(FOLDER / "page.js").read_text(encoding="utf-8"), vega=vega.script())


def write(path: pathlib.Path, text: str) -> None:
    """The whole file or, if something fails, what was there before."""
    target = path.resolve()
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=".part")
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)
        os.replace(name, target)
    except BaseException:
        os.unlink(name)
        raise


def write_page(db: str | os.PathLike[str], output: str | os.PathLike[str],
               search_id: int | None = None, top: int = 10,
               tokens: float = 1e12) -> pathlib.Path:
    """Writes the page of a database, and gives its path. InputError or ProgramError where there is
    no page, OSError where it cannot be written; then what was there before stays."""
    output = pathlib.Path(output)
    with contextlib.suppress(OSError):
        if os.path.samefile(db, output):
            raise InputError(f"-o {output}: is the database itself, which the report would replace; "
                             "give the report another name")
    if output.exists() and not output.is_file() and not output.is_dir():
        raise InputError(f"-o {output}: is no regular file, which a report would replace; name "
                         "another place")
    text = render(db, search_id, top, tokens)
    if output.is_dir():
        raise IsADirectoryError(21, "Is a directory")
    write(output, text)
    return output
