# SPDX-License-Identifier: GPL-2.0-only
"""Calls the program, and gives what it prints.

Studies are paths or dicts with the keys of a study file. Options are those of the command line:
`keep=5` is `--keep 5`, `b="1M"` is `-b 1M`, `retry_failed=True` is `--retry-failed`,
`set={"plan.tp": 4}` is `--set plan.tp=4`, and `sweep={"cluster.cross.distance": ["1km", "30km"]}`
is `--sweep cluster.cross.distance=1km,30km`.

Values are those of JSON, and what stands for one of them: numbers of numpy, paths, and tuples,
ranges, arrays and columns of a frame for lists. A text is a text, whatever characters it has. Sets
are refused, since the order of a search's values decides ties.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import pandas

from scaleacross.database import InputError

Study = Mapping[str, Any] | str | os.PathLike[str]

TOP = pathlib.Path(__file__).resolve().parents[2]
# Where the rows of a result are, by what the program has printed.
ROWS = ("ranking", "rows", "points", "values")


class ProgramError(RuntimeError):
    """The program could not do what was asked; the text is its own.

    code is its exit code: 1 where no plan can run or a run has failed, 2 where study or options
    cannot be used. result is what it has printed all the same, or None.
    """

    def __init__(self, text: str, code: int, result: Result | None = None):
        super().__init__(text)
        self.code = code
        self.result = result


class Result(Mapping[str, Any]):
    """What a command prints with --json."""

    def __init__(self, document: Mapping[str, Any]):
        self._document = document

    def __getitem__(self, key: str) -> Any:
        return self._document[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __len__(self) -> int:
        return len(self._document)

    def __repr__(self) -> str:
        return f"Result({', '.join(self)})"

    @property
    def frame(self) -> pandas.DataFrame:
        """A row per plan (explore; of a shard those that it keeps), case (compare), size
        (collective) or point (of a sweep); of a run, one row. Columns are keys, those inside others
        joined by dots."""
        rows = next((self[key] for key in ROWS if key in self), [self._document])
        return pandas.json_normalize([dict(row) for row in rows])


def find_program() -> pathlib.Path:
    """SCALEACROSS_PROGRAM, else the build of the checkout in which this package is, else that on
    PATH; ProgramError if there is none."""
    named = os.environ.get("SCALEACROSS_PROGRAM")
    if named:
        found = shutil.which(named)
        if found is None:
            raise ProgramError(f"SCALEACROSS_PROGRAM={named}: no program; ./scaleacross build makes "
                               "build/release/bin/scaleacross", 2)
        return pathlib.Path(found)
    preset = os.environ.get("SCALEACROSS_PRESET", "release")
    found = (shutil.which(os.fspath(TOP / "build" / preset / "bin" / "scaleacross")) or
             shutil.which("scaleacross"))
    if found is None:
        raise ProgramError("there is no program scaleacross: neither SCALEACROSS_PROGRAM nor a build "
                           f"in {TOP} nor PATH has one; ./scaleacross build makes it", 2)
    return pathlib.Path(found)


def _plain(value: Any, where: str) -> Any:
    """The same of JSON's own types; InputError, which says where, for what is none of them."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise InputError(f"{where} is {value}; allowed are finite numbers")
        return value
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                raise InputError(f"{where} has the key {key!r}; keys of a study are texts")
        return {key: _plain(one, f"{where}[{key!r}]") for key, one in value.items()}
    if isinstance(value, (set, frozenset)):
        raise InputError(f"{where} is a {type(value).__name__}, which has no order; give a list, such "
                         "as sorted(...) makes of it")
    if isinstance(value, (list, tuple, range)):
        return [_plain(one, f"{where}[{n}]") for n, one in enumerate(value)]
    # Arrays and scalars of numpy, and columns of frames, without asking for these packages.
    plainer = getattr(value, "tolist", None)
    if plainer is not None and not isinstance(value, type):
        return _plain(plainer(), where)
    raise InputError(f"{where} is of type {type(value).__name__}; allowed are texts, numbers, True, "
                     "False, None, lists and dicts of these, paths, and arrays and numbers of numpy")


# Texts that YAML reads as anything else: they begin with one of its signs, or have one inside.
RESERVED = re.compile(r"""[\s\[\]{}&*!|>'"%@`#,]|[-?:](\s|$)|---|\.\.\.|~$|=$|<<$|(null|Null|NULL)$|$""")
INSIDE = re.compile(r"[\x00-\x1f\x7f\x85\xa0\u2028\u2029\ufeff]|:(\s|$)|\s#|\s$")


def _json(value: Any) -> str:
    """On one line, which YAML reads as the same: its escapes know no surrogate pairs, so that
    characters stand as they are, but for those that it takes for the end of a line."""
    return re.sub("[\x7f-\xa0\u2028\u2029\ufeff]", lambda found: f"\\u{ord(found[0]):04x}",
                  json.dumps(value, ensure_ascii=False))


def _value(value: Any, where: str) -> str:
    """As a study file has it: JSON is YAML, too."""
    value = _plain(value, where)
    if isinstance(value, str) and not RESERVED.match(value) and not INSIDE.search(value):
        return value
    return _json(value)


def _word(value: Any, where: str) -> str:
    """As an option takes it, which reads no YAML."""
    value = _plain(value, where)
    return value if isinstance(value, str) else json.dumps(value)


def _swept(value: Any, where: str) -> str:
    text = _value(value, where)
    if "," in text:
        raise InputError(f"{where} is {text}; a value of a sweep has no comma")
    return text


def words_of(options: Mapping[str, Any]) -> list[str]:
    """The options as words of a command line; InputError for values that none can have."""
    words = []
    for name, value in options.items():
        # Python's own words have a line behind them: from_.
        option = ("--" if len(name) > 1 else "-") + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words += [option]
        elif isinstance(value, Mapping):
            for key, one in value.items():
                where = f"{name}[{key!r}]"
                many = not isinstance(one, (str, os.PathLike)) and isinstance(_plain(one, where), list)
                text = (",".join(_swept(each, where) for each in _plain(one, where))
                        if name == "sweep" and many else _value(one, where))
                words += [option, f"{key}={text}"]
        elif not isinstance(value, (str, os.PathLike)) and isinstance(_plain(value, name), list):
            for one in _plain(value, name):
                words += [option, _word(one, name)]
        else:
            words += [option, _word(value, name)]
    return words


def call(command: str, *words: str | os.PathLike[str]) -> str:
    """What the program prints; ProgramError if it ends with anything but 0."""
    ended = subprocess.run([find_program(), command, *words], stdin=subprocess.DEVNULL,
                           capture_output=True, text=True, check=False)
    if ended.returncode == 0:
        return ended.stdout
    text = ended.stderr.strip().removeprefix("scaleacross: error: ")
    result = None
    with contextlib.suppress(ValueError):
        result = Result(json.loads(ended.stdout))
    if result is not None and not text:
        text = (result.get("infeasible") or {}).get("detail", "")
    raise ProgramError(text or f"{command} ended with {ended.returncode}", ended.returncode, result)


def _ask(command: str, study: Study | None, options: Mapping[str, Any], db: Any = None,
         stores: bool = True) -> Result:
    """A result; without a database of the caller it is stored in none that stays."""
    with tempfile.TemporaryDirectory(prefix="scaleacross-") as folder:
        path = None
        if isinstance(study, Mapping):
            path = pathlib.Path(folder) / "study.json"
            path.write_text(_json(_plain(study, "study")), encoding="utf-8")
        elif study is not None:
            path = os.fspath(study)
            path = "./" + path if path.startswith("-") else path  # no option
        stored = pathlib.Path(folder) / "results.db" if db is None and stores else db
        # Options of several words would take the study for one of theirs.
        printed = call(command, *([] if path is None else [path]), "--json",
                       *words_of({**options, "db": stored}))
        try:
            document = json.loads(printed)
            return Result({"rows": document} if isinstance(document, list) else document)
        except ValueError as error:
            raise ProgramError(f"{command} has printed no JSON: {printed.strip()[:200] or 'nothing'}",
                               0) from error


def run(study: Study | None = None, *, engine: str = "analytical",
        db: str | os.PathLike[str] | None = None, **options: Any) -> Result:
    """Runs the plan that a study fixes, or with `from_=` and `rank=` one that a database keeps, on
    one engine."""
    return _ask("run", study, {"engine": engine, **options}, db)


def explore(study: Study, *, db: str | os.PathLike[str] | None = None, **options: Any) -> Result:
    """Searches the plans of a study; with `sweep=` at several values of a setting."""
    return _ask("explore", study, options, db)


def compare(study: Study, *, engines: list[str] | None = None,
            db: str | os.PathLike[str] | None = None, **options: Any) -> Result:
    """Runs plans of a study on several engines, the most exact one last. `engine=` names one more,
    or a list of more, which stand in front of these: models of yours, whose names may have commas.
    """
    return _ask("compare", study, {"engines": engines, **options}, db)


def collective(study: Study | None = None, *, db: str | os.PathLike[str] | None = None,
               **options: Any) -> Result:
    """Times a collective at growing sizes on the cluster of a study, or of `machine=` and `nodes=`;
    stored where `db` names a database."""
    return _ask("collective", study, options, db, stores=False)


def export(db: str | os.PathLike[str], *, search: int | None = None) -> pandas.DataFrame:
    """The plans that a search keeps with spans and figures, by rank: what `export --csv` writes.
    search is its number as `show` lists it; left out it is the only one, or that of the study as its
    file says it."""
    return pandas.read_csv(io.StringIO(call("export", db, "--csv", *words_of({"search": search}))))


def write_report(db: str | os.PathLike[str], output: str | os.PathLike[str] = "report.html", *,
                 search: int | None = None, top: int = 10,
                 tokens: float = 1e12) -> pathlib.Path:
    """Writes the page of a search, which `./scaleacross report` writes, and gives its path; days and
    cost of training are for so many tokens. Needs jinja2. InputError or OSError where there is nothing to write, or no place for it."""
    from scaleacross.report.page import write_page
    return write_page(db, output, search, top, tokens)
