#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Curves and stacks fitted to iteration times: known ones come back."""

import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]
CURVES = TOP / "contrib" / "scaleacross" / "data" / "curves"

sys.path.insert(0, str(TOP / "analysis"))
import fit_curve  # noqa: E402

STUDY = """\
model: {layers: 2, hidden: 4096, heads: 32, dense_ffn: 16384, vocabulary: 4096}
workload: {sequence: 4096, global_batch: 64, stack: torch-compile}
cluster: {buildings: [{name: site, gpus: 8, gpu: h100}]}
plan: {sharding: zero1}
"""
# Wide and narrow layers, in which GEMMs and element-wise kernels have their time in different
# proportions, and the optimizer, which is HBM's alone, with little work and with much.
# Name, fitted, hidden, batch, microbatch.
ROWS = [("a", "yes", 512, 64, 8), ("b", "yes", 1024, 512, 8), ("c", "yes", 4096, 64, 4),
        ("d", "yes", 8192, 8, 1), ("e", "yes", 12288, 256, 4), ("f", "no", 2048, 64, 8)]
TRUE = {"gemm_efficiency": "0.61", "hbm_efficiency": "0.7", "workload.stack.elementwise": "2.5"}


class FitCurve(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "study.yaml").write_text(STUDY)

    def call(self, *options):
        """Exit code, standard output and standard error."""
        printed, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            try:
                code = fit_curve.main([*map(str, options), "--program", PROGRAM])
            except SystemExit as end:
                code = end.code
        return code, printed.getvalue(), said.getvalue()

    def fitted(self, *options):
        code, printed, said = self.call(*options, "--json")
        self.assertEqual((code, said), (0, ""))
        return json.loads(printed)

    def write_rows(self, seconds, rows=tuple(ROWS)):
        lines = ["# made", "name,fitted,seconds,study,model.hidden,model.dense_ffn,"
                 "workload.global_batch,plan.microbatch"]
        for (name, fitted, hidden, batch, microbatch), time in zip(rows, seconds):
            lines.append(f"{name},{fitted},{time:.9g},study.yaml,{hidden},{4 * hidden},{batch},"
                         f"{microbatch}")
        path = self.folder / "rows.csv"
        path.write_text("\n".join(lines) + "\n")
        return path

    def curve(self, values):
        path = self.folder / "known.yaml"
        path.write_text(fit_curve.Curve(CURVES / "h100.yaml").with_values(values))
        return path

    def made_rows(self, factors=(1,) * len(ROWS)):
        """Rows that take as long as the model says with the values TRUE, times the factors."""
        path = self.write_rows([1] * len(ROWS))
        curve = self.curve({k: v for k, v in TRUE.items() if "." not in k})
        stack = [f"{k}={v}" for k, v in TRUE.items() if "." in k]
        out = subprocess.run(
            [PROGRAM, "iterations", path, "--json", "--set", *stack,
             "--set", f"cluster.buildings.0.gpu.curve={curve}"],
            check=True, capture_output=True, text=True).stdout
        return self.write_rows([row["iteration_time_s"] * factor
                                for row, factor in zip(json.loads(out), factors)])

    FIT = ["--curve", CURVES / "h100.yaml", "--fit", "gemm_efficiency", "--fit", "hbm_efficiency",
           "--fit", "workload.stack.elementwise=1.2:1:20"]

    def test_a_known_curve_comes_back(self):
        rows = self.made_rows()
        found = self.fitted(rows, *self.FIT, "-o", self.folder / "mine.yaml")
        for key, value in TRUE.items():
            self.assertAlmostEqual(found["values"][key] / float(value), 1, delta=0.003, msg=key)
        for row in found["rows"]:
            self.assertLess(abs(row["error"]), 0.001, row["name"])
        self.assertEqual([row["fitted"] for row in found["rows"]], [True] * 5 + [False])
        mine = fit_curve.Curve(self.folder / "mine.yaml")
        self.assertIn("the rest as h100", mine.text)
        self.assertNotIn("NVLink", mine.text)  # the whole of the text that it replaces
        self.assertEqual(float(mine.value("gemm_efficiency")), found["values"]["gemm_efficiency"])
        # What was not fitted stays, and so do comments; the program reads the file.
        self.assertEqual(mine.value("tiles"), fit_curve.Curve(CURVES / "h100.yaml").value("tiles"))
        subprocess.run([PROGRAM, "iterations", rows, "--set",
                        f"cluster.buildings.0.gpu.curve={self.folder / 'mine.yaml'}"],
                       check=True, capture_output=True)

    def test_errors_of_measurement_stay_in_the_standard_errors(self):
        # One per cent up and down: values are within three standard errors of the true ones, and
        # an efficiency, to which most of the time is inversely proportional, within three per cent.
        found = self.fitted(self.made_rows((1.01, 0.99, 0.99, 1.01, 1.01, 1)),
                            "--curve", self.curve({"hbm_efficiency": TRUE["hbm_efficiency"]}),
                            "--fit", "gemm_efficiency", "--fit", "workload.stack.elementwise=4")
        for key in ("gemm_efficiency", "workload.stack.elementwise"):
            off = abs(found["values"][key] - float(TRUE[key]))
            self.assertLess(off, 3 * found["standard_errors"][key], key)
        self.assertAlmostEqual(found["values"]["gemm_efficiency"] / 0.61, 1, delta=0.03)

    def test_refuses(self):
        rows = self.made_rows()
        h100 = ["--curve", CURVES / "h100.yaml"]
        for options, says in [
                ([rows, *h100, "--fit", "tiles"], "--fit tiles: keys of a curve are"),
                ([rows, "--fit", "gemm_depth"], "give the curve to start from"),
                ([rows, *h100, "--fit", "workload.stack.elementwise"], "give a value to start from"),
                ([rows, *h100, "--fit", "gemm_efficiency=2"], "start 2 is not in 0.01 to 1"),
                ([rows, *h100, "--fit", "gemm_efficiency=2:0.1:1"], "0 < LEAST <= START <= MOST"),
                ([rows, *h100, "--fit", "gemm_efficiency=a"], "--fit gemm_efficiency=a: 'a' is no"),
                ([rows, *h100, "--fit", "gemm_depth=1e999"], "'1e999' is no number"),
                ([rows, *h100, "--fit", "workload.stack.host_per_layer=2us:1ms:3us"], "in one unit"),
                ([rows, "--only", "(", *h100, "--fit", "gemm_depth"], "no regular expression"),
                ([rows, *h100, "--fit", "workload.stack.elementwis=2"],
                 "\n  remedy: did you mean elementwise?"),
                ([rows, *h100, "--fit", "workload.stack.slowness=2"], "slowness"),
                ([rows, *h100, "--fit", "fp8_efficiency"], "depends on fp8_efficiency"),
                ([rows, "--only", "f", *h100, "--fit", "gemm_efficiency"], "fewer than the 1"),
                ([self.folder / "none.csv", *h100, "--fit", "gemm_efficiency"], "none.csv"),
                ([rows, "--curve", "/nothing.yaml", "--fit", "gemm_efficiency"], "/nothing.yaml"),
                ([rows, "--fit", "plan.tp=2", "-o", "a.yaml"], "-o writes a curve")]:
            code, table, said = self.call(*options)
            self.assertEqual((code, table), (2, ""), options)
            self.assertIn(says, said)


if __name__ == "__main__":
    unittest.main()
