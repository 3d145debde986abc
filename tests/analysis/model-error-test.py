#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""How sure the model's order of plans is: worked cases, known scales, and what the page prints."""

import contextlib
import io
import json
import os
import pathlib
import re
import sys
import tempfile
import unittest

import numpy

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
TABLES = [TOP / "tests" / "validation" / "iteration-time" / name
          for name in ("published.csv", "vtrain-large.csv")]

sys.path.insert(0, str(TOP / "analysis"))
import fit_published  # noqa: E402
import model_error  # noqa: E402
import published_rows  # noqa: E402
from model_error import Pairs  # noqa: E402


def row(**keys):
    return {"name": str(keys), "seconds": "1", "plan.tp": "4", "plan.pp": "2",
            "plan.microbatch": "1", "workload.stack": "megatron-core",
            **{key.replace("_", ".", 1): value for key, value in keys.items()}}


def made(count, scales, seed):
    """Pairs of five models with errors of the scales. What the model says is drawn and what was
    measured follows, so that the order is right as often as the error says."""
    random = numpy.random.default_rng(seed)
    pairs, models = [], []
    for model in range(5):
        for _ in range(count):
            kinds = random.random(4) < 0.4
            kinds[model % 4] = True
            s = numpy.sqrt((numpy.array(scales)[kinds] ** 2).sum())
            modelled = random.normal(0, 0.2)
            pairs.append((kinds, modelled + s * random.standard_t(2), modelled))
            models.append(f"m{model}")
    return Pairs(pairs, models)


class ModelError(unittest.TestCase):
    def test_kinds_of_differences(self):
        def kinds(**keys):
            return model_error.kinds_between(row(), row(**keys))
        self.assertEqual(kinds(), [False] * 4)
        self.assertEqual(kinds(plan_tp="8"), [True, False, False, False])
        self.assertEqual(kinds(plan_async_tp="true"), [True, False, False, False])
        self.assertEqual(kinds(plan_pp="1", plan_chunks="2"), [False, True, False, False])
        self.assertEqual(kinds(plan_microbatch="2", plan_cp="2"), [False, False, True, True])
        self.assertEqual(kinds(network_all_to_all="once"), [False, False, False, True])
        # Other software, or another job, is no other plan.
        self.assertIsNone(kinds(plan_tp="8", workload_stack="torch-te"))
        self.assertIsNone(kinds(**{"workload_stack.cuda_graphs": "iteration"}))

    def test_pairs(self):
        # a, b and c take 1, 2 and 4 s, modelled 1, 4 and 2; b and c differ in software only.
        plans = [(row(), 1.0, 1.0), (row(plan_tp="8"), 2.0, 4.0),
                 (row(plan_tp="8", workload_stack="torch-te"), 4.0, 2.0)]
        pairs = model_error.pairs_of(plans)
        self.assertEqual(len(pairs), 1)
        kinds, measured, modelled = pairs[0]
        self.assertEqual(kinds, [True, False, False, False])
        self.assertAlmostEqual(measured, numpy.log(2))
        self.assertAlmostEqual(modelled, numpy.log(4))
        self.assertEqual(model_error.pairs_of([(row(), 1.0, 1.0), (row(), 2.0, 2.0)]), [])

    def test_cumulative(self):
        # Tables of Student's t with two degrees of freedom: 1.886 at 90 %, 4.303 at 97.5 %.
        self.assertEqual(model_error.cumulative(0), 0.5)
        self.assertAlmostEqual(model_error.cumulative(1.886), 0.9, delta=1e-4)
        self.assertAlmostEqual(model_error.cumulative(4.303), 0.975, delta=1e-4)
        self.assertAlmostEqual(model_error.cumulative(-4.303), 0.025, delta=1e-4)
        # The page's worked case.
        self.assertAlmostEqual(model_error.cumulative(numpy.log(1.1) / 0.149), 0.71, delta=0.005)
        self.assertAlmostEqual(model_error.inverse(0.9), 1.886, delta=1e-3)
        self.assertAlmostEqual(model_error.inverse(0.975), 4.303, delta=1e-3)

    def test_weights(self):
        pairs = Pairs([([True] * 4, 0, 0)] * 5, ["a"] * 4 + ["b"])
        self.assertEqual(list(pairs.weights()), [0.5] * 4 + [1])

    def test_said_and_was(self):
        # One kind of scale 0.1 and one of 0.2: together 0.2236. The model says 0.2236 x 1.886.
        pairs = Pairs([([True, True, False, False], 0.1, 0.4217),
                       ([True, False, False, False], 0.1, -0.1886)], ["a", "b"])
        said, was = model_error.said_and_was(pairs, numpy.array([0.1, 0.2, 1, 1]))
        self.assertAlmostEqual(said[0], 0.9, delta=1e-3)
        self.assertAlmostEqual(said[1], 0.9, delta=1e-3)
        self.assertEqual(list(was), [True, False])

    def test_most_likely_scale_of_one_error(self):
        # d/ds of -ln((2 + y^2/s^2)^(-3/2) / s) is zero at s = y.
        pairs = Pairs([([True, False, False, False], 0.0, 0.07)], ["a"])
        self.assertAlmostEqual(model_error.scales_of(pairs)[0], 0.07, delta=1e-4)

    def test_known_scales_come_back(self):
        true = [0.10, 0.02, 0.05, 0.07]
        pairs = made(4000, true, seed=1)
        for found, scale in zip(model_error.scales_of(pairs), true):
            self.assertAlmostEqual(found / scale, 1, delta=0.06)
        # Where all models err alike, those left out err as said: a factor of 1.
        others = model_error.without_itself(pairs)
        self.assertAlmostEqual(model_error.factor_of(pairs, others), 1, delta=0.11)
        for _, _, count, said, was in model_error.calibration_of(
                *model_error.said_and_was(pairs, others)):
            # Three standard errors of a share of so many.
            self.assertAlmostEqual(said, was, delta=3 * 0.5 / count ** 0.5)

    def test_the_factor_makes_up_for_models_that_err_more(self):
        # Half the scales with which the pairs were made are half too few; twice too many stay, since
        # no factor is below 1.
        true = numpy.array([0.10, 0.02, 0.05, 0.07])
        pairs = made(4000, true, seed=2)
        for wrong in (0.5, 0.7):
            self.assertAlmostEqual(model_error.factor_of(pairs, wrong * true) * wrong, 1,
                                   delta=0.11)
        self.assertEqual(model_error.factor_of(pairs, 2 * true), 1)

    def test_left_out_is_every_model_of_its_own(self):
        one = [([True] * 4, 0.0, 0.1)] * 3
        pairs = Pairs(one + [([True] * 4, 0.0, 0.3)] * 3, ["a"] * 3 + ["b"] * 3)
        scales = model_error.without_itself(pairs)
        # All four kinds differ: the squares of the scales add up to the other model's error.
        for which, error in ((0, 0.3), (3, 0.1)):
            self.assertAlmostEqual(numpy.sqrt((scales[which] ** 2).sum()), error, delta=1e-3)

    def test_calibration(self):
        lines = model_error.calibration_of(numpy.array([0.52, 0.58, 0.9, 1.0]),
                                           numpy.array([True, False, True, True]))
        low, high, count, said, was = lines[0]
        self.assertEqual((low, high, count, was), (0.5, 0.6, 2, 0.5))
        self.assertAlmostEqual(said, 0.55)
        self.assertEqual(lines[1], (0.6, 0.7, 0, None, None))
        self.assertEqual(lines[4][2:], (1, 0.9, 1.0))
        self.assertEqual(lines[5][2:], (1, 1.0, 1.0))

    def test_choosing(self):
        # The model chooses the one of 1.2 s where the best takes 1.0. Ranks 1, 2, 3 of measured
        # are 2, 1, 3 of modelled: 1 - 6 (1 + 1 + 0) / (3 (9 - 1)) = 1/2.
        plans = [(None, 1.0, 5.0), (None, 1.2, 4.0), (None, 1.5, 6.0)]
        self.assertAlmostEqual(model_error.regret_of(plans), 0.2)
        self.assertAlmostEqual(model_error.rank_correlation_of(plans), 0.5)

    def test_refuses(self):
        for arguments, says in [([TOP / "none.csv"], "none.csv"),
                                ([TOP / "README.md"], "there is no column")]:
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                code = model_error.main([*map(str, arguments), "--program", PROGRAM])
            self.assertEqual(code, 2)
            self.assertIn(says, said.getvalue())


class Shipped(unittest.TestCase):
    """What is found in the tables that are part of the project."""

    @classmethod
    def setUpClass(cls):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = model_error.main([*map(str, TABLES), "--program", PROGRAM, "--json"])
        assert code == 0, code
        cls.result = json.loads(printed.getvalue())

    def test_the_page_prints_what_is_found(self):
        page = (TOP / "contrib" / "scaleacross" / "doc" / "compute.md").read_text()
        first, *tables = model_error.text_of(self.result).strip().split("\n\n")
        self.assertEqual(len(tables), 3)
        for table in tables:
            self.assertTrue(table in page, table)
        pairs, models, factor = re.match(r"(\d+) pairs of (\d+) models; .* ([\d.]+)$",
                                         first).groups()
        said = f"{int(pairs):,} pairs of plans of {models} models"
        flat = " ".join(page.split())
        self.assertTrue(said in flat, said)
        self.assertTrue(f"The factor is {factor}." in flat, factor)

    def test_bins_that_are_off_are_named(self):
        self.assertEqual(sum(line[2] for line in self.result["calibration"]),
                         self.result["pairs"]["all"])
        page = (TOP / "contrib" / "scaleacross" / "doc" / "compute.md").read_text()
        off = [f"{100 * low:.0f} to {100 * high:.0f} %"
               for low, high, count, said, was in self.result["calibration"]
               if count and abs(said - was) > 0.05]
        named = next(line for line in page.splitlines()
                     if line.startswith("More than five points off: "))
        self.assertEqual(named.removeprefix("More than five points off: ").split(".")[0],
                         ", ".join(off) or "none")
        validation = (TOP / "contrib/scaleacross/doc/validation.md").read_text()
        pairs, points = re.search(r"([\d,]+) pairs.*probabilities that hold to (\d+) points",
                                  validation).groups()
        self.assertEqual(int(pairs.replace(",", "")), self.result["pairs"]["all"])
        self.assertEqual(int(points), max(round(100 * abs(said - was)) for _, _, count, said, was
                                          in self.result["calibration"] if count))

    def test_the_program_has_the_scales(self):
        header = (TOP / "contrib/scaleacross/core/explore/model-error.h").read_text()
        for kind, scale in self.result["scales"].items():
            said = float(re.search(rf"k{kind.capitalize()}Scale = ([\d.]+);", header)[1])
            self.assertAlmostEqual(said, scale, delta=1e-3, msg=kind)
        self.assertEqual(float(re.search(r"kSure = ([\d.]+);", header)[1]), model_error.SURE)

    def test_the_page_has_vtrain_s_errors_by_tensor_parallelism(self):
        page = (TOP / "contrib" / "scaleacross" / "doc" / "compute.md").read_text()
        runs = {run["id"]: run for table in TABLES for run in published_rows.read(table)
                if "vTrain" in run["source"]}
        rows, left = published_rows.rows_of(runs.values())
        self.assertEqual(left, [])
        with tempfile.TemporaryDirectory() as folder:
            found = fit_published.Rows(rows, PROGRAM, folder).run([])
        errors = {}
        for row in found:
            run = runs[row["name"]]
            errors.setdefault(run["model"], []).append((run["tp"], row["error"]))
        self.assertEqual(len(errors), 4)
        for model, of in errors.items():
            every = [error for _, error in of]
            cells = [model, str(len(every)), f"{100 * numpy.mean(numpy.abs(every)):.1f} %",
                     f"{100 * max(every, key=abs):+.1f} %"]
            for tp in ("1", "2", "4", "8", "16"):
                some = [error for other, error in of if other == tp]
                cells.append(f"{len(some)}: {100 * numpy.mean(some):+.1f} %" if some else "")
            line = "| " + " | ".join(cells) + " |"
            self.assertTrue(line in page, line)


if __name__ == "__main__":
    unittest.main()
