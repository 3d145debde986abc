#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How well the model orders two measured plans of one job.

ln(model / measured) of two plans of one job differ by s t: t is Student's with two degrees of
freedom, and s^2 the sum of the squares of a scale for every kind (KINDS) in which the plans differ.
The scales are the most likely ones of all pairs in tables of published runs (published_rows.py).
One factor for all of them makes probabilities true of models that took no part in the fit. A kind
of which there are no pairs has the largest of the other scales.
"""

import argparse
import itertools
import json
import math
import pathlib
import sys
import tempfile

import fit_published
import measuring
import published_rows

# Keys of a row by the kind of difference they make; "other" has all that stand nowhere else.
KINDS = {"tensor": {"plan.tp", "plan.async_tp"},
         "pipeline": {"plan.pp", "plan.schedule", "plan.chunks", "plan.round", "plan.in_flight",
                      "plan.layers", "plan.embedding_as_layer", "plan.loss_as_layer"},
         "microbatch": {"plan.microbatch", "plan.prefetch", "plan.bucket"}, "other": set()}
PLAN = ("plan.", "network.")  # keys of a plan begin so; all others are of the job
SCALES = (1e-4, 1.0)  # least and most
FACTORS = [round(0.1 * tenths, 1) for tenths in range(10, 41)]  # others do not err by less
BINS = [0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 1.0]
SURE = 0.9
MANY = 10  # plans of a job from which on it says what choosing by the model costs
GOALS = {"regret": 0.03, "correlation": 0.9}


# --- Pairs ----------------------------------------------------------------------------------------

def kinds_between(a, b):
    """A flag for every kind in which two rows' plans differ, or None where something else does:
    the job, or the software that ran it."""
    differ = {key for key in {*a, *b} - {"name", "seconds"} if a.get(key) != b.get(key)}
    if any(not key.startswith(PLAN) for key in differ):
        return None
    named = [bool(differ & keys) for keys in KINDS.values()]
    named[-1] = bool(differ - set().union(*KINDS.values()))
    return named


def pairs_of(plans):
    """Pairs of one job's plans: plans are (row, measured, modelled), seconds. A pair is (kinds,
    ln of measured b over a, the same of modelled)."""
    import numpy
    pairs = []
    for (a, *times), (b, *others) in itertools.combinations(plans, 2):
        kinds = kinds_between(a, b)
        if kinds and any(kinds):
            measured, modelled = (float(numpy.log(y / x)) for x, y in zip(times, others))
            pairs.append((kinds, measured, modelled))
    return pairs


def jobs_of(tables, program, settings=None):
    """Plans by job: (source, its release, model, GPU, GPUs, batch, sequence, precision). Settings are
    values of keys that all rows take."""
    rows, runs, _ = fit_published.newest([run for table in tables
                                          for run in published_rows.read(table)])
    if not rows:
        raise measuring.InputError(f"{tables[0]}: no run of it can be expressed")
    rows = [{**row, **(settings or {})} for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        found = fit_published.Rows(rows, program, folder).run([])
    jobs = {}
    for row, timed in zip(rows, found):
        if timed["error"] is None:
            continue
        run = runs[row["name"]]
        job = (published_rows.source_of(run).name, run["source"],
               *(run[column] for column in ("model", "gpu", "gpus", "gbs", "seq", "precision")))
        jobs.setdefault(job, []).append((row, timed["measured_s"], timed["iteration_time_s"]))
    return jobs


class Pairs:
    """Pairs of all jobs, as arrays; `models` says whose they are."""

    def __init__(self, pairs, models):
        import numpy
        self.kinds = numpy.array([kinds for kinds, _, _ in pairs], float).reshape(-1, len(KINDS))
        self.measured = numpy.array([measured for _, measured, _ in pairs])
        self.modelled = numpy.array([modelled for _, _, modelled in pairs])
        self.models = numpy.array(models)

    def of(self, which):
        """Those of which `which` is true."""
        part = Pairs([], [])
        part.kinds, part.models = self.kinds[which], self.models[which]
        part.measured, part.modelled = self.measured[which], self.modelled[which]
        return part

    def weights(self):
        """A model weighs as the square root of its number of pairs."""
        import numpy
        _, model, count = numpy.unique(self.models, return_inverse=True, return_counts=True)
        return 1 / numpy.sqrt(count[model])


# --- The error ------------------------------------------------------------------------------------

def cumulative(x):
    """P(t <= x) of Student's t with two degrees of freedom."""
    import numpy
    return 0.5 + x / (2 * numpy.sqrt(2 + x ** 2))


def inverse(probability):
    """Its inverse."""
    q = 2 * probability - 1
    return q * (2 / (1 - q * q)) ** 0.5


def scales_of(pairs):
    """The most likely scales, by kind."""
    import numpy
    import scipy.optimize
    weights = pairs.weights()
    squares = (pairs.modelled - pairs.measured) ** 2

    # The density of s t at y is (2 + y^2/s^2)^(-3/2) / s.
    def unlikely(logs):
        scales = numpy.exp(2 * logs)
        variances = pairs.kinds @ scales
        value = 1.5 * numpy.log(2 * variances + squares) - numpy.log(variances)
        slope = 3 / (2 * variances + squares) - 1 / variances
        return weights @ value, pairs.kinds.T @ (weights * slope) * 2 * scales

    found = scipy.optimize.minimize(unlikely, numpy.full(len(KINDS), numpy.log(0.05)), jac=True,
                                    method="L-BFGS-B", options={"ftol": 1e-12, "gtol": 1e-8},
                                    bounds=[numpy.log(SCALES)] * len(KINDS))
    return numpy.exp(found.x)


def said_and_was(pairs, scales):
    """Of every pair the probability of the order that the model gives, and whether it is as
    measured. `scales` is a row for all pairs, or one for each."""
    import numpy
    spread = numpy.sqrt((pairs.kinds * scales ** 2).sum(axis=1))
    return (cumulative(abs(pairs.modelled) / spread),
            (pairs.modelled > 0) == (pairs.measured > 0))


def without_itself(pairs):
    """Of every pair the scales of a fit without the pairs of its model."""
    import numpy
    scales = numpy.empty(pairs.kinds.shape)
    for model in numpy.unique(pairs.models):
        scales[pairs.models == model] = scales_of(pairs.of(pairs.models != model))
    return scales


def factor_of(pairs, scales):
    """Times these scales the orders that were measured are most likely; one of FACTORS. All pairs
    weigh alike: a model that errs by more than others may be the next one."""
    import numpy

    def loss(factor):
        said, was = said_and_was(pairs, factor * scales)
        return -numpy.log(numpy.where(was, said, 1 - said)).sum()
    return min(FACTORS, key=loss)


def calibration_of(said, was):
    """(least, most, pairs, mean of what was said, share of what was) of every one of BINS."""
    lines = []
    for low, high in zip(BINS, BINS[1:]):
        which = (said >= low) & ((said < high) | (high == BINS[-1]))
        count = int(which.sum())
        lines.append((low, high, count, float(said[which].mean()) if count else None,
                      float(was[which].mean()) if count else None))
    return lines


# --- Choosing -------------------------------------------------------------------------------------

def regret_of(plans):
    """What the plan that is the fastest by the model takes longer than the fastest measured."""
    return min(plans, key=lambda plan: plan[2])[1] / min(plan[1] for plan in plans) - 1


def rank_correlation_of(plans):
    """Spearman's, of measured and modelled times."""
    import scipy.stats
    return float(scipy.stats.spearmanr([plan[1] for plan in plans],
                                       [plan[2] for plan in plans]).correlation)


# --- Tables ---------------------------------------------------------------------------------------

def percent(fraction, digits=0):
    return "-" if fraction is None else f"{100 * fraction:.{digits}f} %"


def scales_table(result):
    lines = [f"| plans differ in | pairs | scale | {percent(SURE)} sure from |",
             "|---|---|---|---|"]
    for kind, scale in result["scales"].items():
        longer = math.expm1(scale * inverse(SURE))
        lines.append(f"| {kind} | {result['pairs'][kind]} | {scale:.3f} | {percent(longer)} |")
    return "\n".join(lines) + "\n"


def calibration_table(result):
    lines = ["| said | pairs | said, mean | was |", "|---|---|---|---|"]
    for low, high, count, said, was in result["calibration"]:
        lines.append(f"| {100 * low:.0f} to {100 * high:.0f} % | {count} | {percent(said)} | "
                     f"{percent(was)} |")
    count, said, was = result["sure_without_factor"]
    lines.append(f"| from {percent(SURE)}, without it in the factor | {count} | {percent(said)} | "
                 f"{percent(was)} |")
    return "\n".join(lines) + "\n"


def choice_table(result):
    lines = [f"| job | plans | regret (goal {percent(GOALS['regret'])}) | rank correlation "
             f"(goal {GOALS['correlation']}) |", "|---|---|---|---|"]
    for choice in result["choices"]:
        lines.append(f"| {choice['job']} | {choice['plans']} | {percent(choice['regret'], 1)} | "
                     f"{choice['correlation']:.2f} |")
    return "\n".join(lines) + "\n"


def result_of(tables, program):
    import numpy
    jobs = jobs_of(tables, program)
    pairs, models = [], []
    for (_, _, model, *_), plans in jobs.items():
        found = pairs_of(plans)
        pairs += found
        models += [fit_published.model({"model": model})] * len(found)
    if len(set(models)) < 2:
        raise measuring.InputError(f"{tables[0]}: there are no pairs of plans of two models")
    pairs = Pairs(pairs, models)
    others = without_itself(pairs)
    factor = factor_of(pairs, others)
    # Its pairs are no part of the factor either, where a model is predicted without itself.
    factors = numpy.empty(len(pairs.models))
    for model in numpy.unique(pairs.models):
        rest = pairs.models != model
        factors[~rest] = factor_of(pairs.of(rest), without_itself(pairs.of(rest)))
    said, was = said_and_was(pairs, factors[:, None] * others)
    sure = said >= SURE
    counts = pairs.kinds.sum(axis=0)
    scales = factor * scales_of(pairs)
    scales = numpy.where(counts > 0, scales, scales[counts > 0].max())
    return {"pairs": {"all": len(pairs.models),
                      **{kind: int(n) for kind, n in zip(KINDS, counts)}},
            "models": {str(model): int((pairs.models == model).sum())
                       for model in sorted(set(pairs.models))},
            "factor": factor, "scales": dict(zip(KINDS, map(float, scales))),
            "calibration": calibration_of(*said_and_was(pairs, factor * others)),
            "sure_without_factor": [int(sure.sum()), float(said[sure].mean()),
                                    float(was[sure].mean())],
            "choices": [{"job": f"{job[0]}, {job[2]}", "plans": len(plans),
                         "regret": regret_of(plans), "correlation": rank_correlation_of(plans)}
                        for job, plans in sorted(jobs.items()) if len(plans) >= MANY]}


def text_of(result):
    return (f"{result['pairs']['all']} pairs of {len(result['models'])} models; scales have the "
            f"factor {result['factor']}\n\n" +
            "\n".join([scales_table(result), calibration_table(result), choice_table(result)]))


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="+", type=pathlib.Path, metavar="TABLE.csv",
                        help="published runs, one a line")
    parser.add_argument("--json", action="store_true", help="all figures as JSON")
    parser.add_argument("--program", type=pathlib.Path,
                        default=fit_published.TOP / "build" / "release" / "bin" / "scaleacross")
    options = parser.parse_args(argv)
    try:
        measuring.need("numpy", "scipy.optimize", "scipy.stats")
        result = result_of(options.tables, options.program)
    except measuring.InputError as error:
        print(f"model_error.py: error: {error}", file=sys.stderr)
        return 2
    print(json.dumps(result, indent=1) + "\n" if options.json else text_of(result), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())
