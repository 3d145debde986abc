#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Fits what kernels achieve to measured iteration times.

Rows are those of `scaleacross iterations` (doc/compute.md): a study, what each row sets in it, and
the seconds its iteration took. Keys of a curve file and values of the study, such as
workload.stack.elementwise, are varied until the relative errors of the rows marked as fitted are
least (sum of the squares of ln(model / measured)). All other rows show what the fit is worth.
"""

import argparse
import dataclasses
import json
import math
import pathlib
import re
import statistics
import sys
import tempfile

import measuring

CURVE_FRACTIONS = {"gemm_efficiency", "fp8_efficiency", "attention_efficiency", "hbm_efficiency",
                   "scale_up_efficiency"}
# Least and most of the other keys that are one number.
CURVE_NUMBERS = {"gemm_depth": (0.1, 4096), "kernel_gap": (0.01, 1000)}
# Values are tried this far apart (relative): far enough to be clear of rounding to picoseconds.
STEP = 1e-3


@dataclasses.dataclass
class Parameter:
    """A number that is varied; `unit` follows it in files and on the command line."""
    key: str
    start: float
    least: float
    most: float
    unit: str = ""

    @property
    def in_curve(self):
        return "." not in self.key

    def text(self, value, digits=9):
        return f"{value:.{digits}g}{self.unit}"


def split_unit(text):
    found = re.fullmatch(r"([0-9.eE+-]+?)\s*([a-zA-Z]*)", text.strip())
    try:
        value = float(found[1])
    except (TypeError, ValueError):
        value = math.nan
    if not math.isfinite(value):
        raise measuring.InputError(f"{text!r} is no number with a unit, such as 0.7 or 2us")
    return value, found[2]


class Curve:
    """The text of a curve file, of which single values are replaced."""

    def __init__(self, path):
        try:
            self.text = path.read_text()
        except OSError as error:
            raise measuring.InputError(f"{path}: {error.strerror}") from error
        self.path = path

    def value(self, key):
        found = re.search(rf"^{key}:[ \t]*([^#\n]*)", self.text, re.MULTILINE)
        if not found:
            raise measuring.InputError(f"{self.path}: there is no key {key}")
        return found[1].strip()

    def with_values(self, values):
        text = self.text
        for key, value in values.items():
            self.value(key)
            # A text may go on in lines that are indented.
            text = re.sub(rf"^{key}:[ \t]*[^#\n]*?([ \t]*(?:#.*)?)$(?:\n[ \t]+\S.*$)*",
                          lambda found, line=f"{key}: {value}": line + found[1],
                          text, flags=re.MULTILINE)
        return text


def parameter_of(text, curve):
    """KEY, KEY=START or KEY=START:LEAST:MOST."""
    key, _, rest = text.partition("=")
    given = rest.split(":") if rest else []
    if len(given) not in (0, 1, 3):
        raise measuring.InputError(f"--fit {text}: KEY, KEY=START or KEY=START:LEAST:MOST")
    try:
        numbers = [split_unit(part) for part in given]
    except measuring.InputError as error:
        raise measuring.InputError(f"--fit {text}: {error}") from error
    if "." not in key:
        if key not in CURVE_FRACTIONS and key not in CURVE_NUMBERS:
            known = ", ".join(sorted(CURVE_FRACTIONS | set(CURVE_NUMBERS)))
            raise measuring.InputError(f"--fit {key}: keys of a curve are {known}; a key of the "
                                       "study has points, such as workload.stack.elementwise")
        if curve is None:
            raise measuring.InputError(f"--fit {key}: give the curve to start from, --curve FILE")
        start, unit = numbers[0] if given else split_unit(curve.value(key))
        least, most = CURVE_NUMBERS.get(key, (0.01, 1))
    else:
        if not given:
            raise measuring.InputError(f"--fit {key}: give a value to start from, {key}=START")
        start, unit = numbers[0]
        least, most = start / 10, start * 10
    if len(given) == 3:
        if any(of not in ("", unit) for _, of in numbers[1:]):
            raise measuring.InputError(f"--fit {text}: START, LEAST and MOST have to be in one unit")
        least, most = (bound for bound, _ in numbers[1:])
    if not 0 < least < most or not least <= start <= most:
        raise measuring.InputError(f"--fit {text}: start {start:g} is not in {least:g} to {most:g}; "
                                   "give KEY=START:LEAST:MOST with 0 < LEAST <= START <= MOST")
    return Parameter(key, start, least, most, unit)


class Model:
    """Runs the program on all rows for values of the parameters."""

    def __init__(self, options, curve, parameters, folder):
        self.options = options
        self.curve = curve
        self.parameters = parameters
        self.file = pathlib.Path(folder) / "curve.yaml"

    def rows(self, values, fitted_only=False, digits=9):
        command = [str(self.options.program), "iterations", "--json",
                   *(str(file) for file in self.options.rows)]
        command += ["--fitted"] if fitted_only else []
        texts = {p.key: p.text(v, digits) for p, v in zip(self.parameters, values)}
        if self.curve:
            self.file.write_text(self.curve.with_values(
                {p.key: texts[p.key] for p in self.parameters if p.in_curve}))
            command += ["--set", f"{self.options.gpu}.curve={self.file}"]
        for parameter in self.parameters:
            if not parameter.in_curve:
                command += ["--set", f"{parameter.key}={texts[parameter.key]}"]
        _, rows, said = measuring.run(command)
        if rows is None:
            raise measuring.InputError(said)
        rows = [row for row in rows if self.options.only.search(row["name"])]
        for row in rows:
            if row["error"] is None:
                raise measuring.InputError(f"{row['set']} {row['name']}: {row['reason']}")
        return rows


def fit(model):
    """Values, and one standard error of each (None where there are no more rows than values)."""
    import numpy
    import scipy.optimize

    parameters = model.parameters

    known = {}

    def residuals(logs):
        if tuple(logs) not in known:
            rows = model.rows(numpy.exp(logs), fitted_only=True)
            if len(rows) < len(parameters):
                raise measuring.InputError(f"{len(rows)} rows are marked as fitted, fewer than "
                                           f"the {len(parameters)} values to fit")
            known[tuple(logs)] = numpy.log([1 + row["error"] for row in rows])
        return known[tuple(logs)]

    bounds = numpy.log([[p.least for p in parameters], [p.most for p in parameters]])
    start = numpy.clip(numpy.log([p.start for p in parameters]), bounds[0] + 1e-6,
                       bounds[1] - 1e-6)
    # Steps are relative to the value itself, since logarithms are varied; x_scale keeps the first
    # step of each to a tenth or so.
    found = scipy.optimize.least_squares(
        residuals, start, bounds=bounds, method="trf", x_scale=0.1, xtol=1e-5, ftol=1e-8,
        gtol=1e-12, jac=lambda logs: jacobian(residuals, logs, bounds[1]), max_nfev=60)
    for parameter, column in zip(parameters, found.jac.T):
        if not numpy.any(column):
            raise measuring.InputError(f"no row marked as fitted depends on {parameter.key} where "
                                       "the fit has come to; start it elsewhere")
    values = numpy.exp(found.x)
    freedom = len(found.fun) - len(parameters)
    if freedom == 0:
        return list(values), [None] * len(values)
    spread = found.fun @ found.fun / freedom
    covariance = spread * numpy.linalg.pinv(found.jac.T @ found.jac)
    return list(values), list(values * numpy.sqrt(numpy.diag(covariance)))


def jacobian(function, at, most):
    """By differences, downwards at the upper bound."""
    import numpy
    columns = []
    for i in range(len(at)):
        beside = at.copy()
        beside[i] += STEP if at[i] + STEP < most[i] else -STEP
        columns.append((function(beside) - function(at)) / (beside[i] - at[i]))
    return numpy.stack(columns, axis=1)


def summary(rows, fitted):
    errors = [abs(row["error"]) for row in rows if row["fitted"] == fitted]
    if not errors:
        return ""
    return (f"{len(errors)} rows {'fitted' if fitted else 'not fitted'}: mean error "
            f"{100 * statistics.mean(errors):.1f} %, worst {100 * max(errors):.1f} %\n")


def table(rows):
    lines = ["| set | row | | measured | model | error |", "|---|---|---|---|---|---|"]
    for row in rows:
        mark = "fitted" if row["fitted"] else ""
        model = row["measured_s"] * (1 + row["error"])
        lines.append(f"| {row['set']} | {row['name']} | {mark} | {row['measured_s']:.4g} s | "
                     f"{model:.4g} s | {100 * row['error']:+.1f} % |")
    return "\n".join(lines) + "\n"


def print_values(parameters, values, spreads, digits):
    for parameter, value, spread in zip(parameters, values, spreads):
        known = "as many values as rows" if spread is None else f"+- {parameter.text(spread, 2)}"
        print(f"{parameter.key}: {parameter.text(value, digits)}  ({known})")


def pattern(text):
    """The type of an option that takes a regular expression."""
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"'{text}' is no regular expression: {error}; put \\ before "
                                         "a character that stands for itself") from error


def arguments(argv):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    here = pathlib.Path(__file__).resolve().parent.parent
    parser.add_argument("rows", nargs="+", type=pathlib.Path, metavar="ROWS",
                        help="CSV files of measured rows")
    parser.add_argument("--curve", type=pathlib.Path, metavar="FILE",
                        help="curve file to start from; its keys that are not fitted stay")
    parser.add_argument("--fit", action="append", required=True, metavar="KEY[=START[:LEAST:MOST]]",
                        help="a key of the curve, or of the study (with a value to start from)")
    parser.add_argument("--only", default="", metavar="REGEX", type=pattern,
                        help="rows whose names match")
    parser.add_argument("--gpu", default="cluster.buildings.0.gpu", metavar="KEY",
                        help="where the studies have the GPU (default: %(default)s)")
    parser.add_argument("--digits", type=measuring.whole(1, 17), default=3,
                        help="that are written (default: %(default)s)")
    parser.add_argument("-o", "--output", type=pathlib.Path, metavar="FILE", help="curve to write")
    parser.add_argument("--json", action="store_true", help="values and rows as JSON")
    parser.add_argument("--program", type=pathlib.Path,
                        default=here / "build" / "release" / "bin" / "scaleacross")
    options = parser.parse_args(argv)
    if options.output and not options.curve:
        parser.error("-o writes a curve: give the one to start from, --curve FILE")
    return options


def run(options):
    curve = Curve(options.curve) if options.curve else None
    parameters = [parameter_of(text, curve) for text in options.fit]
    with tempfile.TemporaryDirectory() as folder:
        model = Model(options, curve, parameters, folder)
        exact, spreads = fit(model)
        # Errors are those of the digits that are written.
        values = [split_unit(p.text(v, options.digits))[0] for p, v in zip(parameters, exact)]
        rows = model.rows(values)
    if options.json:
        print(json.dumps({"values": {p.key: v for p, v in zip(parameters, values)},
                          "standard_errors": {p.key: s for p, s in zip(parameters, spreads)},
                          "rows": rows}, indent=2))
    else:
        print_values(parameters, values, spreads, options.digits)
        print("\n" + summary(rows, True) + summary(rows, False) + "\n" + table(rows), end="")
    if options.output:
        fitted = {p.key: p.text(v, options.digits)
                  for p, v in zip(parameters, values) if p.in_curve}
        names = ", ".join(file.name for file in options.rows)
        fitted["source"] = (f"{', '.join(fitted)} fitted by fit_curve.py on the rows of {names} "
                            f"marked so; the rest as {curve.path.stem}")
        options.output.write_text(curve.with_values(fitted))


def main(argv=None):
    options = arguments(argv)
    try:
        measuring.need("numpy", "scipy.optimize")
        run(options)
    except measuring.InputError as error:
        print(f"fit_curve.py: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
