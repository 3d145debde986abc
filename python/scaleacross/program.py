# SPDX-License-Identifier: GPL-2.0-only
"""Calls the program, and gives what it prints.

Studies are paths or dicts with the keys of a study file. Options are those of the command line:
`keep=5` is `--keep 5`, `retry_failed=True` is `--retry-failed`, `set={"plan.tp": 4}` is
`--set plan.tp=4`, and `sweep={"cluster.cross.distance": ["1km", "30km"]}` is
`--sweep cluster.cross.distance=1km,30km`.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from typing import Any

import pandas

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
        """A row per plan (explore), case (compare) or point (of a sweep); of a run, one row.
        Columns are keys, those inside others joined by dots."""
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


def _value(value: Any) -> str:
    """As a study file has it: JSON is YAML, too."""
    return value if isinstance(value, str) else json.dumps(value)


def words_of(options: Mapping[str, Any]) -> list[str]:
    """The options as words of a command line."""
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            words += [option]
        elif isinstance(value, Mapping):
            for key, one in value.items():
                swept = name == "sweep" and isinstance(one, (list, tuple))
                text = ",".join(map(_value, one)) if swept else _value(one)
                words += [option, f"{key}={text}"]
        elif isinstance(value, (list, tuple)):
            words += [option, *map(_value, value)]
        else:
            words += [option, os.fspath(value) if isinstance(value, os.PathLike) else _value(value)]
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


def _ask(command: str, study: Study, options: Mapping[str, Any], db: Any = None) -> Result:
    """A result; without a database of the caller it is stored in none that stays."""
    with tempfile.TemporaryDirectory(prefix="scaleacross-") as folder:
        if isinstance(study, Mapping):
            path = pathlib.Path(folder) / "study.json"
            path.write_text(json.dumps(study))
        else:
            path = pathlib.Path(study)
        stored = db if db is not None else pathlib.Path(folder) / "results.db"
        words = words_of({**options, "db": stored})
        # Options of several words would take the study for one of theirs.
        return Result(json.loads(call(command, path, "--json", *words)))


def run(study: Study, *, engine: str = "analytical", db: str | os.PathLike[str] | None = None,
        **options: Any) -> Result:
    """Runs the plan that a study fixes, on one engine."""
    return _ask("run", study, {"engine": engine, **options}, db)


def explore(study: Study, *, db: str | os.PathLike[str] | None = None, **options: Any) -> Result:
    """Searches the plans of a study; with `sweep=` at several values of a setting."""
    return _ask("explore", study, options, db)


def compare(study: Study, *, engines: list[str] | None = None,
            db: str | os.PathLike[str] | None = None, **options: Any) -> Result:
    """Runs plans of a study on several engines, the most exact one last."""
    return _ask("compare", study, {"engines": engines, **options}, db)
