#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Values that tables of runs were made with come back, and rows that are left out count nothing."""

import contextlib
import csv
import io
import json
import os
import pathlib
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["SCALEACROSS_PROGRAM"]

sys.path.insert(0, str(TOP / "analysis"))
import fit_published  # noqa: E402
import published_rows  # noqa: E402

RUN = {"source": "NVIDIA/dgxc-benchmarking:x", "date": "2025-01", "gpu": "H100-SXM-80",
       "gpus": "8", "precision": "BF16", "seq": "8192", "gbs": "16", "mbs": "1", "tp": "1",
       "pp": "1", "cp": "1", "ep": "", "etp": "", "vp": "", "dp": "8",
       "fsdp_sharding": "Megatron FSDP", "recompute": "full", "overlap_notes": "", "notes": ""}
# Narrow and wide, long and short: what takes the time differs.
RUNS = [{**RUN, "id": f"{model}-{seq}-{mbs}-{precision}", "model": model, "seq": seq, "mbs": mbs,
         "precision": precision}
        for model in ("Llama3-8B", "MPT-1B", "MPT-125M", "Llama2-13B")
        for seq, mbs in (("2048", "2"), ("16384", "1"))
        for precision in ("BF16", "FP8")]
HOPPER = fit_published.GPU + "."


def knob(key):
    return next(i for i, k in enumerate(fit_published.KNOBS)
                if k.key == key and k.pattern == fit_published.HOPPER)


class FitPublished(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def made(self, changed):
        """The runs with the seconds that the program finds with the priors, but for `changed`."""
        rows, left = published_rows.rows_of([{**run, "seconds": "1"} for run in RUNS])
        self.assertEqual(left, [])
        values = [k.prior for k in fit_published.KNOBS]
        for key, value in changed.items():
            values[knob(HOPPER + key)] = value
        found = fit_published.Rows(rows, PROGRAM, self.folder).run(values)
        return [{**run, "seconds": str(row["iteration_time_s"])} for run, row in zip(RUNS, found)]

    def fitted(self, table):
        path = self.folder / "table.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, published_rows.COLUMNS)
            writer.writeheader()
            writer.writerows(table)
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = fit_published.main([str(path), "--program", PROGRAM, "--json"])
        self.assertEqual(code, 0)
        return json.loads(printed.getvalue())

    def test_priors_that_fit_stay(self):
        found = self.fitted(self.made({}))
        for k in fit_published.KNOBS:
            self.assertAlmostEqual(found["values"][k.name] / k.prior, 1, delta=1e-3, msg=k.name)
        for row in found["rows"]:
            self.assertLess(abs(row["fitted"]), 1e-3, row)
            self.assertLess(abs(row["predicted"]), 1e-3, row)

    def test_values_come_back(self):
        # 12 % from the prior whose spread is 10 %: 16 rows of which each knows the value to some 5 %
        # outweigh it by far, so that most of the way is gone, and rows fit.
        true = {"gemm_efficiency": 0.60, "fp8_efficiency": 0.70}
        found = self.fitted(self.made(true))
        for key, value in true.items():
            k = fit_published.KNOBS[knob(HOPPER + key)]
            self.assertAlmostEqual(found["values"][k.name] / value, 1, delta=0.04, msg=key)
        for row in found["rows"]:
            self.assertLess(abs(row["fitted"]), 0.02, row)

    def test_a_model_is_predicted_without_its_own_rows(self):
        # One model's runs take half as long again. A fit without them, which all other models
        # agree with, sees them 1 / 1.5 - 1 = -33 % off and itself nowhere off.
        table = [{**run, "seconds": str(float(run["seconds"]) *
                                        (1.5 if run["model"] == "Llama3-8B" else 1))}
                 for run in self.made({})]
        for row in self.fitted(table)["rows"]:
            if row["family"] == "Llama3-8B":
                self.assertAlmostEqual(row["predicted"], 1 / 1.5 - 1, delta=0.02)

    def test_of_several_releases_the_newest_counts(self):
        old, new = ({**RUNS[0], "id": name, "date": date, "seconds": "1"}
                    for name, date in (("old", "2024-12"), ("new", "2025-03")))
        other = {**RUNS[0], "id": "other", "mbs": "8", "seconds": "1"}
        names = [row["name"] for row in fit_published.newest([new, old, other])[0]]
        self.assertEqual(names, ["new", "other"])
        # What a row says of the software is part of the configuration, and what cannot be said is
        # left out by name.
        titan = [{**RUNS[0], "id": word, "source": "pytorch/torchtitan:x", "overlap_notes": word,
                  "seconds": "1"} for word in ("eager", "torch.compile")]
        rows, _, left = fit_published.newest([*titan, {**titan[0], "id": "x", "source": "a blog"}])
        self.assertEqual((len(rows), [name for name, _ in left]), (2, ["x"]))

    def test_classes(self):
        def kind(**changed):
            return fit_published.kind({**RUNS[0], "seconds": "2", **changed})
        self.assertEqual(kind(), "dense on H100 and H200, BF16")
        self.assertEqual(kind(precision="MXFP8", gpu="GB200-NVL72"), "dense on Blackwell, FP8")
        self.assertEqual(kind(model="Grok1-314B proxy 2 layers"), "MoE on H100 and H200")
        self.assertEqual(kind(seconds="0.5"), "steps under a second")
        self.assertEqual(kind(source="mosaicml/llm-foundry"), "FSDP of PyTorch")

    def test_the_page_has_what_the_shipped_table_gives(self):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            code = fit_published.main([str(TOP / "tests/validation/iteration-time/published.csv"),
                                       "--program", PROGRAM])
        self.assertEqual(code, 0)
        head = "| class | rows | do not run | mean | worst | bias |"
        page = (TOP / "contrib/scaleacross/doc/compute.md").read_text()

        def table(text):
            lines = text.split(head)[-1].splitlines()[2:]
            cells = [[cell.strip() for cell in line.strip("|").split("|")]
                     for line in lines[:next(i for i, line in enumerate(lines) if not line)]]
            return {row[0]: [float(cell.split()[0]) for cell in row[1:]] for row in cells}
        found, said = table(printed.getvalue()), table(page)
        self.assertEqual(list(found), list(said))
        for name, figures in said.items():
            for figure, again in zip(figures, found[name]):
                # In tenths: linear algebra of other machines may round the last one otherwise.
                self.assertAlmostEqual(figure, again, delta=0.15, msg=name)

    def test_refuses(self):
        for arguments, says in [([self.folder / "none.csv"], "none.csv"),
                                ([TOP / "README.md"], "there is no column")]:
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                code = fit_published.main([str(a) for a in arguments])
            self.assertEqual(code, 2)
            self.assertIn(says, said.getvalue())


if __name__ == "__main__":
    unittest.main()
