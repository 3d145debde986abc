# SPDX-License-Identifier: GPL-2.0-only
"""What scripts share that run the program many times: its rows, kept as they come, and figures."""

import argparse
import concurrent.futures
import csv
import hashlib
import importlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import threading

# The package scaleacross of this checkout, for whoever imports it after this.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))


class InputError(Exception):
    """Something is wrong with what the user gave; the text says what, and what to do."""


def lacking(missing):
    """What to tell the user whose Python lacks a package."""
    name = missing.name.split(".")[0]
    return (f"{missing} for {sys.executable}; on Debian: sudo apt-get install python3-{name}, then "
            f"/usr/bin/python3; elsewhere: {sys.executable} -m pip install {name}")


def need(*packages):
    """Raises InputError unless all of these packages are there: for scripts that import them where
    they calculate, so that --help and wrong arguments need none."""
    for name in packages:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError as missing:
            raise InputError(lacking(missing)) from missing


UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
# What the program takes: probability of loss, distance in km, bytes of a collective, runs at the
# same time, repetitions of a collective, seeds. They are held here too, since the program sees a wrong
# value only when its turn comes, which may be hours after the start.
MOST_LOSS, MOST_KM, MOST_BYTES = 0.5, 40000, 1024 * UNITS["G"]
MOST_JOBS, MOST_ITERATIONS, MOST_SEED = 4096, 1000, 2**32 - 1


def refuse(text, why, allowed):
    """Ends a conversion of argparse, which puts the option in front."""
    raise argparse.ArgumentTypeError(f"'{text}' {why}; give {allowed}")


def whole(least, most=None, such_as=None):
    """The type of an option that takes a whole number from least to most."""
    allowed = f"a whole number from {least} " + ("on" if most is None else f"to {most}")
    allowed += f", such as {such_as}" if such_as is not None else ""

    def of(text):
        try:
            value = int(text)
        except ValueError:
            refuse(text, "is not a whole number", allowed)
        if value < least or most is not None and value > most:
            refuse(text, "is out of range", allowed)
        return value
    return of


def real(least, most, allowed):
    """The type of an option that takes a number from least to most, as `allowed` says in words."""
    def of(text):
        try:
            value = float(text)
        except ValueError:
            refuse(text, "is not a number", allowed)
        if not least <= value <= most:  # which holds for what is not a number, too
            refuse(text, "is out of range", allowed)
        return value + 0.0  # the program takes -0 for negative
    return of


kilometres = real(0, MOST_KM, f"a distance in km from 0 to {MOST_KM}, without a unit, such as 30")
loss = real(0, MOST_LOSS,
            f"the probability that a packet is lost, from 0 to {MOST_LOSS}, such as 1e-4")


def size(text):
    """The type of an option that takes bytes: '64K' is 65,536."""
    allowed = "a size from 1 to 1024G, such as 64K or 16M (units: K, M or G, of 1024)"
    found = re.fullmatch(r"([+-]?[0-9]+)([KMG]?)", text)
    if not found:
        refuse(text, "is not a size", allowed)
    value = int(found[1]) * UNITS.get(found[2], 1)
    if not 1 <= value <= MOST_BYTES:
        refuse(text, "is out of range", allowed)
    return value


def listed(convert):
    """The type of an option that takes several values, with commas between them."""
    def of(text):
        words = text.split(",")
        values = [convert(word) for word in words]
        for number, value in enumerate(values):
            if value in values[:number]:  # it would be measured twice and drawn twice
                refuse(text, f"has {words[number]} twice", "every value once")
        return values
    return of


def add_jobs(parser):
    """The option of scripts that run the program several times at once."""
    parser.add_argument("--jobs", type=whole(1, MOST_JOBS), default=os.cpu_count() or 1,
                        help="runs at the same time; default: one per core")


def size_text(size_in_bytes):
    """65,536 as '64 KiB'."""
    for unit in "GMK":
        if size_in_bytes >= UNITS[unit] and size_in_bytes % UNITS[unit] == 0:
            return f"{size_in_bytes // UNITS[unit]} {unit}iB"
    return f"{size_in_bytes} B"


def counted(count, noun):
    """'1 case', '2 cases'."""
    return f"{count} {noun}" + ("" if count == 1 else "s")


# Hues of Okabe and Ito, which people with any kind of colour vision tell apart.
COLOURS = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"]


REMEDY = "./scaleacross build makes it"


def fingerprint(path):
    """What a file holds, in short: rows that were measured with another one are not its own."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:12]
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error


def program_fingerprint(path):
    """Of a build of the program: a version stays while one works on it."""
    try:
        return fingerprint(path)
    except InputError as error:
        raise InputError(f"{path}: cannot be run: {error.__cause__.strerror}; {REMEDY}") from error


def run(command):
    """Exit code (0, 1 or 2), the JSON that was printed or None, and the whole complaint: what is
    wrong, and in lines after it what is allowed and what to do."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise InputError(f"{command[0]}: cannot be run: {error.strerror}; "
                         f"{REMEDY}") from error
    said = ended.stderr.strip()
    if ended.returncode in (-signal.SIGINT, 128 + signal.SIGINT):
        raise KeyboardInterrupt
    if ended.returncode not in (0, 1, 2):
        raise InputError(f"{command[0]}: ended with {ended.returncode}, which is no result" +
                         (f": {said}" if said else ""))
    printed = ended.returncode in (0, 1) and ended.stdout
    return ended.returncode, json.loads(ended.stdout) if printed else None, said


def problem_of(said):
    """What is wrong, of a complaint of the program, for a cell of a table: without what was only a
    warning, and what is allowed instead."""
    lines = [line for line in said.splitlines() if not line.startswith("scaleacross: warning: ")]
    return lines[0] if lines else said


def read_report(path, keys, command):
    """What a command has printed with --json, from a file or, of "-", from standard input."""
    try:
        text = sys.stdin.read() if path == "-" else pathlib.Path(path).read_text()
        report = json.loads(text)
    except OSError as error:
        raise InputError(f"{path}: {error.strerror}") from error
    except ValueError as error:  # JSON and UTF-8 both
        raise InputError(f"{path}: this is no JSON ({error}); {command} prints it") from error
    missing = [key for key in keys if not isinstance(report, dict) or key not in report]
    if missing:
        raise InputError(f"{path}: there is no '{missing[0]}' in it; {command} prints it")
    return report


def read_table(path, columns):
    """Lines of a CSV file by column, which may have others too, each with an `id` of its own."""
    try:
        with path.open(newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in columns if name not in (reader.fieldnames or [])]
            if missing:
                raise InputError(f"{path}: there is no column {missing[0]}; a table has "
                                 f"{', '.join(columns)}")
            table = list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: {getattr(error, 'strerror', error)}") from error
    ids = set()
    for number, line in enumerate(table, 2):
        if None in line or None in line.values():
            raise InputError(f"{path}:{number}: not as many cells as columns")
        if not line["id"]:
            raise InputError(f"{path}:{number}: id '' is no name of a row")
        if line["id"] in ids:
            raise InputError(f"{path}:{number}: id {line['id']!r} stands there twice")
        ids.add(line["id"])
    return table


def key_of(case):
    return json.dumps(case, sort_keys=True)


def read_rows(path):
    """Rows measured before, by case; a line that a kill has cut short is dropped."""
    rows = {}
    if path.exists():
        for line in path.read_text(errors="replace").splitlines():
            try:
                row = json.loads(line)
                rows[key_of(row["case"])] = row
            except (json.JSONDecodeError, KeyError, TypeError):
                continue
    return rows


def measure(cases, path, jobs, measured):
    """Adds what is missing in the file, measured(case) for each, and gives the rows of all."""
    rows = read_rows(path)
    todo = [case for case in cases if key_of(case) not in rows]
    done = len(cases) - len(todo)
    new = not path.exists()
    lock = threading.Lock()
    with path.open("a") as file, concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        def one(case):
            nonlocal done
            row = {"case": case, **measured(case)}
            with lock:
                rows[key_of(case)] = row
                file.write(json.dumps(row) + "\n")
                file.flush()
                done += 1
                if sys.stderr.isatty():
                    print(f"\r{done} of {len(cases)} ", end="", file=sys.stderr)
        futures = [pool.submit(one, case) for case in todo]
        try:
            for future in concurrent.futures.as_completed(futures):
                future.result()
        except BaseException:
            pool.shutdown(cancel_futures=True)
            if new and file.tell() == 0:
                path.unlink()
            raise
    if todo and sys.stderr.isatty():
        print(file=sys.stderr)
    return [rows[key_of(case)] for case in cases]


def time_text(us):
    """Three significant digits with a unit."""
    for limit, scale, unit in ((1e3, 1, "us"), (1e6, 1e3, "ms")):
        if us < limit:
            return f"{us / scale:#.3g} {unit}".replace(". ", " ")
    return f"{us / 1e6:#.3g} s".replace(". ", " ")


def prepare(matplotlib):
    """The same look, and the same bytes, wherever a figure is drawn."""
    matplotlib.rcdefaults()
    matplotlib.rcParams.update({
        "font.family": "sans-serif", "font.size": 8, "text.parse_math": False,
        "axes.unicode_minus": False, "svg.fonttype": "none", "svg.hashsalt": "scaleacross"})


def logarithmic(axis, base=10):
    """Makes an axis that has its data logarithmic, with ticks in plain digits: matplotlib would
    write powers as formulas, and text.parse_math does not read them. An axis of less than two powers
    of ten has ticks at 2 and 5 of each as well."""
    ticker = importlib.import_module("matplotlib.ticker")
    axes = axis.axes
    {"x": axes.set_xscale, "y": axes.set_yscale}[axis.axis_name]("log", base=base)
    low, high = axis.get_view_interval()
    axis.set_major_locator(ticker.LogLocator(
        base, (1, 2, 5) if base == 10 and high < low * 100 else (1,)))
    axis.set_major_formatter(ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(ticker.NullFormatter())


def save(figure, path):
    """Writes the same bytes for the same figure: no dates, no versions."""
    if path.suffix not in (".svg", ".png"):  # else matplotlib writes to a name of its own
        raise InputError(f"{path}: the name has to end in .svg or .png")
    metadata = {"Date": None, "Creator": None} if path.suffix == ".svg" else {"Software": None}
    try:
        figure.savefig(path, dpi=160, metadata=metadata)
    except OSError as error:
        raise InputError(f"{path}: cannot be written: {error.strerror}") from error
