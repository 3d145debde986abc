# SPDX-License-Identifier: GPL-2.0-only
"""What scripts share that run the program many times: its rows, kept as they come, and figures."""

import concurrent.futures
import csv
import hashlib
import importlib
import json
import pathlib
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
    """Exit code (0, 1 or 2), the JSON that was printed or None, the first line of complaint."""
    try:
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        raise InputError(f"{command[0]}: cannot be run: {error.strerror}; "
                         f"{REMEDY}") from error
    said = ended.stderr.strip().splitlines()
    if ended.returncode in (-signal.SIGINT, 128 + signal.SIGINT):
        raise KeyboardInterrupt
    if ended.returncode not in (0, 1, 2):
        raise InputError(f"{command[0]}: ended with {ended.returncode}, which is no result" +
                         (f": {said[-1]}" if said else ""))
    printed = ended.returncode in (0, 1) and ended.stdout
    # The first line says what, those after it what is allowed.
    return ended.returncode, json.loads(ended.stdout) if printed else None, said[0] if said else ""


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
        for line in path.read_text().splitlines():
            try:
                row = json.loads(line)
                rows[key_of(row["case"])] = row
            except (json.JSONDecodeError, KeyError):
                continue
    return rows


def measure(cases, path, jobs, measured):
    """Adds what is missing in the file, measured(case) for each, and gives the rows of all."""
    rows = read_rows(path)
    todo = [case for case in cases if key_of(case) not in rows]
    done = len(cases) - len(todo)
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
