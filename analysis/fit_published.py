#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Fits GPUs and software stacks to a table of published iterations, and cross-validates the fit.

Every value that is fitted is a figure of a GPU's kernels or of a software stack (KNOBS), and holds
for all rows of that GPU or stack. The sum of soft-L1 losses of ln(model / measured) is least. Then
every row is predicted by fits without its like (LEFT_OUT): without its family of models, without
its release of the software, and without its GPU at its precision. Of each class and figure the
largest of these ways and of the values as shipped is what a user is told.
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
import published_rows

TOP = pathlib.Path(__file__).resolve().parents[1]
GPU = published_rows.SITE + "gpu"
STEP = 0.01  # of a value's logarithm: clear of rounding, and of the steps between tiles
# ln(model / measured) from which an error counts in proportion, no more by its square: twice what
# two releases of one configuration differ by.
SOFT = 0.06
NOISE = 0.04  # ln(model / measured) that a model without error would have, and its own
LONGEST = 0.3  # a step in a value's logarithm
NEAR = 0.15  # over which derivatives hold: a share of 10 % of a row's time changes by 1.6 points
SLIGHT = 0.02  # of ln(model / measured)
ROUNDS = 12  # of LONGEST each, in which a value goes to 1/36 or 36 times of what it was
# Keys of what a row does or does not do, as computing in FP8 or routing to experts: one that changes
# nothing in a row changes nothing there whatever the other values are.
OF_FEATURES = ("fp8_efficiency", "fp4_efficiency", "cast_share", "permutation", "routing_stall",
               "host_per_expert")


@dataclasses.dataclass
class Knob:
    """A key of a study that all rows take whose "GPU stack" match `pattern`. What is known of it
    without the rows is `prior`, give or take its `spread` (of the logarithm)."""
    key: str
    pattern: str
    prior: float
    spread: float
    least: float
    most: float
    unit: str = ""

    @property
    def name(self):
        return f"{self.pattern}: {self.key.rsplit('.', 1)[1]}"

    def of(self, row):
        return bool(re.fullmatch(self.pattern, f"{row[GPU]} {row['workload.stack']}"))


def gpu(pattern, key, prior, spread=0.1):
    return Knob(f"{GPU}.{key}", pattern, prior, spread, 0.05, 1)


def stack(pattern, key, prior, spread=1.0, least=1.0, most=40.0, unit=""):
    return Knob(f"workload.stack.{key}", pattern, prior, spread, least, most, unit)


HOPPER = "h[12]00 .*"
MEGATRON = ".* (megatron-core.*|torch-te)"
FUSED = ".* (megatron-core|megatron-core-nccl|torch-te)"
KNOBS = [
    gpu("a100-80g .*", "gemm_efficiency", 0.75),
    gpu(HOPPER, "gemm_efficiency", 0.68),
    gpu(HOPPER, "fp8_efficiency", 0.62),
    # FlashAttention-3 and cuDNN's (arXiv:2407.08608, figure 5); FlashAttention-2 on the same chip.
    gpu("h[12]00 (?!torch-fsdp).*", "attention_efficiency", 0.55, 0.15),
    gpu("h[12]00 torch-fsdp", "attention_efficiency", 0.33, 0.15),
    gpu("h100-96g .*", "gemm_efficiency", 0.50),
    gpu("h100-96g .*", "fp8_efficiency", 0.48),
    gpu("h100-96g .*", "attention_efficiency", 0.24, 0.15),  # FlashAttention-2, cut as GEMMs are
    gpu("g?b200 .*", "gemm_efficiency", 0.68),
    gpu("g?b200 .*", "fp8_efficiency", 0.62),
    gpu("g?b200 .*", "fp4_efficiency", 0.55),
    gpu("g?b200 .*", "attention_efficiency", 0.55, 0.15),
    gpu("g?b300 .*", "gemm_efficiency", 0.72),
    gpu("g?b300 .*", "fp8_efficiency", 0.70),
    gpu("g?b300 .*", "fp4_efficiency", 0.50),
    gpu("g?b300 .*", "attention_efficiency", 0.65, 0.15),
    stack(".* megatron-202[12]", "score_passes", 6, 0.3),
    stack(".* megatron-202[12]", "host_per_layer", 2.5, 0.5, 0.1, 20, "ms"),
    # Faster hosts than those of A100 servers, and more kernels to a layer.
    stack(MEGATRON, "host_per_layer", 2.0, 0.7, 0.01, 20, "ms"),
    stack(MEGATRON, "elementwise", 2.0, 0.5),
    stack(".* megatron-core.*", "loss_bytes", 44, 0.5, 6, 100),
    stack(MEGATRON, "cast_share", 0.6, 0.5, 0.02, 1),
    stack(FUSED, "permutation", 3.0, 0.5),
    stack(".* megatron-core-padded", "permutation", 6.0, 0.5),
    # After a wait the host issues half a layer while the GPU idles: half of what Megatron's host
    # took for a layer on A100, to all of it. NCCL's dispatch waits twice.
    stack(".* megatron-core", "routing_stall", 2.0, 0.5, 0.01, 40, "ms"),
    stack(".* megatron-core-nccl", "routing_stall", 4.0, 0.5, 0.01, 40, "ms"),
    # Some ten kernels of an expert, at some 10 us each.
    stack(".* megatron-core.*", "host_per_expert", 0.1, 1.0, 0.001, 2, "ms"),
    stack(".* torch-te", "routing_stall", 2.0, 0.5, 0.01, 40, "ms"),
    stack(".* torch-fsdp", "elementwise", 3.0, 0.5),
    stack(".* torch-eager", "elementwise", 3.0, 0.5),
    stack(".* torch-compile", "elementwise", 1.3, 0.3),
    stack(".* maxtext", "elementwise", 1.3, 0.3),
    stack(".* paxml", "elementwise", 1.3, 0.3),
]


def newest(table):
    """Rows of the last published run of every configuration, the runs themselves by name, and what
    is left out with the reason. Runs of which a source's rows say the same are one configuration."""
    rows, left = published_rows.rows_of(table)
    runs = {run["id"]: run for run in table}
    by = {}
    for row in rows:
        run = runs[row["name"]]
        said = {key: value for key, value in row.items() if key not in ("name", "seconds")}
        key = (published_rows.source_of(run).name, *sorted(said.items()))
        if key not in by or runs[by[key]["name"]]["date"] <= run["date"]:
            by[key] = row
    return list(by.values()), runs, left


class Rows:
    """Rows of a table, run with values of the knobs."""

    def __init__(self, rows, program, folder):
        self.rows = rows
        self.program = program
        self.file = pathlib.Path(folder) / "rows.csv"

    def run(self, values, which=None):
        """What the program prints of rows (by number; None: of all) that take the values."""
        which = range(len(self.rows)) if which is None else which
        changed = []
        for i in which:
            row = dict(self.rows[i])
            for knob, value in zip(KNOBS, values):
                if knob.of(row):
                    row[knob.key] = f"{value:.9g}{knob.unit}"
            changed.append(row)
        published_rows.write(changed, self.file)
        code, found, said = measuring.run([str(self.program), "iterations", str(self.file),
                                           "--json"])
        if found is None:
            raise measuring.InputError(f"iterations ended with {code}: {said}")
        return found


def logs_of(found):
    import numpy
    return numpy.array([numpy.nan if row["error"] is None else numpy.log1p(row["error"])
                        for row in found])


def weights_of(residuals):
    """Of iterated least squares: soft L1 beyond SOFT, nothing for rows that do not run."""
    import numpy
    weights = 1 / numpy.sqrt(1 + (residuals / SOFT) ** 2)
    return numpy.where(numpy.isnan(residuals), 0, weights)


def known_before():
    """How much what is known without the rows counts, beside a row's 1."""
    import numpy
    return (NOISE / numpy.array([knob.spread for knob in KNOBS])) ** 2


def step(residuals, jacobian, which, logs):
    """Gauss-Newton's step from `logs` for rows `which`. Rows and what is known without them count
    by their variances. A value at a bound beyond which it would go stays there."""
    import numpy
    weights = weights_of(residuals) * which
    known = known_before()
    prior = numpy.log([knob.prior for knob in KNOBS])
    matrix = (jacobian.T * weights) @ jacobian + numpy.diag(known)
    downhill = jacobian.T @ (weights * numpy.nan_to_num(residuals)) + known * (logs - prior)
    free = numpy.ones(len(KNOBS), bool)
    while True:
        move = numpy.zeros(len(KNOBS))
        move[free] = -numpy.linalg.solve(matrix[numpy.ix_(free, free)], downhill[free])
        stuck = free & (move != 0) & (bounded(logs + move) == logs)
        if not stuck.any():
            return numpy.clip(move, -LONGEST, LONGEST)
        free &= ~stuck


def least(residuals, jacobian, which, logs):
    """Where the sum of losses of rows `which` is least, by these derivatives at `logs`."""
    import numpy
    at, found = logs, residuals
    for _ in range(100):
        moved = bounded(at + step(found, jacobian, which, at))
        still = numpy.abs(moved - at).max() < 1e-4
        at = moved
        found = residuals + jacobian @ (at - logs)
        if still:
            break
    return at


def bounded(logs):
    import numpy
    return numpy.clip(logs, [numpy.log(k.least) for k in KNOBS], [numpy.log(k.most) for k in KNOBS])


class Fit:
    def __init__(self, rows, rounds):
        import numpy
        self.rows = rows
        self.of = [[i for i, row in enumerate(rows.rows) if knob.of(row)] for knob in KNOBS]
        self.logs = bounded(numpy.log([knob.prior for knob in KNOBS]))
        everywhere = numpy.ones(len(rows.rows))
        for round_ in range(rounds):
            self.linearise()
            if round_ == 0:
                self.leave_out_what_changes_nothing()
            self.logs = bounded(self.logs + step(self.residuals, self.jacobian, everywhere,
                                               self.logs))
        self.linearise()

    def leave_out_what_changes_nothing(self):
        for j, knob in enumerate(KNOBS):
            if knob.key.endswith(OF_FEATURES):
                self.of[j] = [i for i in self.of[j] if self.jacobian[i, j] != 0]

    def linearise(self):
        import numpy
        self.found = self.rows.run(numpy.exp(self.logs))
        self.residuals = logs_of(self.found)
        self.jacobian = numpy.zeros((len(self.residuals), len(KNOBS)))
        for j, which in enumerate(self.of):
            if not which:
                continue
            beside = self.logs.copy()
            beside[j] += STEP if beside[j] + STEP <= bounded(beside + 1)[j] else -STEP
            changed = logs_of(self.rows.run(numpy.exp(beside), which))
            self.jacobian[which, j] = numpy.nan_to_num(
                (changed - self.residuals[which]) / (beside[j] - self.logs[j]))

    def without(self, left_out):
        """The rows' results by a fit without those left out: with the derivatives of the whole fit
        to where it moves no more, or by LONGEST at a time with the program's residuals in between,
        of which the derivatives learn (Broyden's update)."""
        import numpy
        others = 1.0 - left_out
        logs, residuals, jacobian = self.logs, self.residuals, self.jacobian.copy()
        drift = numpy.zeros(len(residuals))  # since a row was run
        for _ in range(ROUNDS):
            target = least(residuals, jacobian, others, logs)
            move = numpy.clip(target - logs, -LONGEST, LONGEST)
            if numpy.abs(move).max() < NEAR:
                logs = target
                break
            logs = logs + move
            residuals = residuals + jacobian @ move
            # Of rows that moves change little the derivatives hold.
            drift += abs(jacobian) @ abs(move)
            for i, row in self.run_again(logs, numpy.flatnonzero(others * drift > SLIGHT)):
                of = move * (jacobian[i] != 0)  # a row learns of values that it takes (Schubert)
                jacobian[i] += (row - residuals[i]) * of / (of @ of)
                residuals[i] = row
                drift[i] = 0
        return self.rows.run(numpy.exp(logs), list(numpy.flatnonzero(left_out)))

    def run_again(self, logs, which):
        """(row, ln(model / measured)) of rows that run with these values."""
        import numpy
        found = logs_of(self.rows.run(numpy.exp(logs), list(which))) if len(which) else []
        return [(i, log) for i, log in zip(which, found) if not numpy.isnan(log)]

    def errors_of_values(self, families):
        """Standard errors relative to the values, and the matrix of correlations, where rows of one
        family err together: the inverse of what the fit minimises, around the squares of each
        family's pull and of what is known before."""
        import numpy
        weights = weights_of(self.residuals)
        pulls = self.jacobian * (weights * numpy.nan_to_num(self.residuals))[:, None]
        known = known_before()
        inverse = numpy.linalg.inv((self.jacobian.T * weights) @ self.jacobian + numpy.diag(known))
        middle = numpy.diag(known) * NOISE ** 2
        for name in set(families):
            pull = pulls[[family == name for family in families]].sum(axis=0)
            middle += numpy.outer(pull, pull)
        covariance = inverse @ middle @ inverse
        errors = numpy.sqrt(numpy.diag(covariance))
        return errors, covariance / numpy.outer(errors, errors)


MOE = {"Grok1", "Qwen3", "GPT-OSS", "Mixtral", "DeepSeek", "Kimi", "Llama4"}
FAMILIES = ["DeepSeek", "GPT-OSS", "GPT", "Grok1", "Kimi", "Llama2", "Llama3", "Llama4", "Mixtral",
            "MPT", "Nemotron", "Qwen3"]
MOST = 0.8  # of the runs of a class, those that `within` holds


def model(run):
    """A model with all of its proxies."""
    return re.sub(r" proxy.*", "", run["model"]).replace("Llama3.1", "Llama3")


def family(run):
    """Models of one series in all of their sizes and proxies, which have their shapes in common."""
    return next((name for name in FAMILIES if run["model"].startswith(name)), run["model"])


def release(run):
    """The release or container of the software that a run is of, with its patches; where the source
    does not say it what it published in that month."""
    found = re.search(r"\((v?\d+\.\d+)[^()]*\)$", run["source"].strip())
    return f"{published_rows.source_of(run).name} {found[1] if found else run['date']}"


def chip(run):
    """The GPU and the precision of a run."""
    return f"{run['gpu']} {run['precision']}"


# What a run's like is, by which all of it is left out at once.
LEFT_OUT = {"family": family, "release": release, "chip": chip}


def kind(run):
    """The class in which a row is reported."""
    moe = any(run["model"].startswith(name) for name in MOE)
    source = published_rows.source_of(run).name
    if float(run["seconds"]) < 1:
        return "steps under a second"
    if source in ("llm-foundry", "NeMo Automodel", "TorchTitan") and not moe:
        return "FSDP of PyTorch"
    generation = {"A": "A100", "H": "H100 and H200", "B": "Blackwell", "G": "Blackwell",
                  "M": "AMD"}[run["gpu"][0]]
    if moe:
        return f"MoE on {generation}"
    precision = run["precision"]
    width = ("BF16" if precision in ("BF16", "FP16") else "NVFP4" if precision == "NVFP4"
             else "FP8")
    return generation if generation == "A100" else f"dense on {generation}, {width}"


# Mean and worst error, in per cent, that are aimed at.
GOALS = {
    "A100": (4, 15), "dense on H100 and H200, BF16": (2.5, 8),
    "dense on H100 and H200, FP8": (4.5, 12), "MoE on H100 and H200": (8, 25),
    "dense on Blackwell, FP8": (5, 15), "dense on Blackwell, BF16": (7, 15),
    "dense on Blackwell, NVFP4": (8, 20), "MoE on Blackwell": (10, 30), "FSDP of PyTorch": (7, 20)}


def summary(pairs):
    """A table of (class, error), by class, with all of them last."""
    by = {}
    for name, error in pairs:
        by.setdefault(name, []).append(error)
    lines = ["| class | rows | do not run | mean | worst | bias | goal: mean, worst |",
             "|---|---|---|---|---|---|---|"]
    for name, errors in [*sorted(by.items()), ("all", [error for _, error in pairs])]:
        known = [error for error in errors if error is not None]
        figures = ([f"{100 * statistics.mean(map(abs, known)):.1f} %",
                    f"{100 * max(known, key=abs):+.1f} %", f"{100 * statistics.mean(known):+.1f} %"]
                   if known else ["-"] * 3)
        goal = "{:g}, {:g} %".format(*GOALS[name]) if name in GOALS else "-"
        cells = [name, str(len(errors)), str(len(errors) - len(known)), *figures, goal]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def within(errors, most=MOST):
    """The size that errors of `most` of them do not exceed: of n sorted ones the ceil(most n)th."""
    sizes = sorted(map(abs, errors))
    return sizes[max(0, math.ceil(most * len(sizes)) - 1)]


def told(rows):
    """By class what its errors are told to be: {"mean", "within", "worst", "runs", "families"}, of
    each figure the largest of the ways of leaving out and of the values as shipped. Rows that do
    not run have no error."""
    result = {}
    for name in sorted({row["class"] for row in rows}):
        of_class = [row for row in rows if row["class"] == name]
        ways = [[row["without"][way] for row in of_class] for way in LEFT_OUT]
        ways = [[error for error in errors if error is not None]
                for errors in [*ways, [row["shipped"] for row in of_class]]]
        ways = [errors for errors in ways if errors]
        if ways:
            result[name] = {"mean": max(statistics.mean(map(abs, errors)) for errors in ways),
                            "within": max(map(within, ways)),
                            "worst": max((error for errors in ways for error in errors), key=abs),
                            "runs": max(map(len, ways)),
                            "families": len({row["family"] for row in of_class
                                             if None not in row["without"].values()})}
    return result


def table_of_told(rows):
    """The table of told(), with the mean error by each way of leaving out."""
    means = {way: {name: [] for name in {row["class"] for row in rows}} for way in LEFT_OUT}
    for row in rows:
        for way, error in row["without"].items():
            if error is not None:
                means[way][row["class"]].append(abs(error))
    lines = ["| class | rows | families | without its family | its release | its GPU and precision "
             "| largest: mean | eight in ten within | worst |",
             "|---|---|---|---|---|---|---|---|---|"]
    for name, figures in told(rows).items():
        cells = [name, str(figures["runs"]), str(figures["families"]),
                 *(f"{100 * statistics.mean(means[way][name]):.1f} %" for way in LEFT_OUT),
                 f"{100 * figures['mean']:.1f} %", f"{100 * figures['within']:.1f} %",
                 f"{100 * figures['worst']:+.1f} %"]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def result_of(table, program, rounds):
    """Values, and every row's error: with the values as shipped, fitted, and of fits without its
    like."""
    import numpy
    rows, runs, left = newest(published_rows.read(table))
    if not rows:
        raise measuring.InputError(f"{table}: no run of it can be expressed")
    with tempfile.TemporaryDirectory() as folder:
        every = Rows(rows, program, folder)
        shipped = {row["name"]: row for row in every.run([])}
        fit = Fit(every, rounds)
        likes = {way: [like(runs[row["name"]]) for row in rows] for way, like in LEFT_OUT.items()}
        errors, correlations = fit.errors_of_values(likes["family"])
        predicted = {row["name"]: {} for row in rows}
        for way, names in likes.items():
            for name in sorted(set(names)):
                for row in fit.without(numpy.array([float(other == name) for other in names])):
                    predicted[row["name"]][way] = row["error"]
    fitted = {row["name"]: row for row in fit.found}
    return {
        "values": {k.name: float(v) for k, v in zip(KNOBS, numpy.exp(fit.logs))},
        "relative_errors": {k.name: float(e) for k, e in zip(KNOBS, errors)},
        "correlations": correlations.tolist(),
        "rows": [{"name": name, "class": kind(runs[name]), "family": family(runs[name]),
                  "measured_s": shipped[name]["measured_s"], "shipped": shipped[name]["error"],
                  "fitted": fitted[name]["error"], "without": without,
                  "reason": shipped[name].get("reason")}
                 for name, without in predicted.items()],
        "inexpressible": dict(left)}


def text_of(result):
    lines = [f"{k.name:45s} {result['values'][k.name]:8.4g}{k.unit:3s} +- "
             f"{100 * result['relative_errors'][k.name]:.1f} %" for k in KNOBS]
    for title, key in (("as shipped", "shipped"), ("fitted", "fitted")):
        lines.append(f"\n{title}\n" +
                     summary([(row["class"], row[key]) for row in result["rows"]]).rstrip())
    lines.append("\npredicted without its like\n" + table_of_told(result["rows"]).rstrip())
    return "\n".join(lines) + "\n"


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=pathlib.Path, metavar="TABLE.csv")
    parser.add_argument("--rounds", type=measuring.whole(1, 1000), default=6,
                        help="steps of the fit (default: %(default)s)")
    parser.add_argument("--json", action="store_true", help="values, correlations and rows as JSON")
    parser.add_argument("--program", type=pathlib.Path,
                        default=TOP / "build" / "release" / "bin" / "scaleacross")
    options = parser.parse_args(argv)
    try:
        measuring.need("numpy")
        result = result_of(options.table, options.program, options.rounds)
    except measuring.InputError as error:
        print(f"fit_published.py: error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result, indent=1) if options.json else text_of(result), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
