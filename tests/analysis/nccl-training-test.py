#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What `nccl` changes in training is what the page prints, and its figures are made as they say."""

import contextlib
import io
import json
import os
import pathlib
import re
import statistics
import sys
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = pathlib.Path(os.environ["SCALEACROSS_PROGRAM"])
TABLES = [TOP / "tests" / "validation" / "iteration-time" / name
          for name in ("published.csv", "vtrain-large.csv")]
PAGE = TOP / "contrib" / "scaleacross" / "doc" / "collectives.md"

sys.path.insert(0, str(TOP / "analysis"))
import measuring  # noqa: E402
import nccl_training  # noqa: E402

MAVERICK = "llama4-maverick-two-buildings"


def made(name, default, nccl, **keys):
    """A row of 10 s of computing, of which nothing is communicated by default. Errors are given."""
    def found(error, iteration):
        return {"error": error, "iteration_time_s": iteration, "compute_s": 10.0, "bubble_s": 0.0,
                "classes": {part: {"exposed_s": iteration - 10.0 if part == "tp" else 0.0}
                            for part in ("tp", "cp", "ep", "pp", "dp")}}
    run = {"gpu": "H100-SXM-80", "source": "vTrain", "model": name}
    row = {"plan.tp": "1", "plan.ep": "1", "plan.sharding": "zero1",
           "cluster.buildings.0.gpus": "16", "cluster.buildings.0.gpus_per_node": "8",
           **{key.replace("__", "."): value for key, value in keys.items()}}
    return nccl_training.Row(name, run, row, found(default, 10.0), found(nccl, 10.0 + 10 * (
        0 if nccl is None else nccl - default)))


class NcclTraining(unittest.TestCase):
    def call(self, *arguments):
        printed, said = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said):
            code = nccl_training.main([*map(str, arguments), "--program", str(PROGRAM)])
        return code, printed.getvalue(), said.getvalue()

    def test_errors_by_hand(self):
        # Sizes 1, 2, 6 % and 2, 4, 4 %: medians 2 and 4, the 90th percentiles 4/5 of the way from
        # the second to the third, biases (1 - 2 + 6) / 3 and (2 - 4 + 4) / 3. Only the third is nearer.
        # A row that does not run with `nccl` counts nowhere.
        rows = [made("a", 0.01, 0.02), made("b", -0.02, -0.04), made("c", 0.06, 0.04),
                made("d", 0.5, None)]
        self.assertEqual(nccl_training.errors_table(rows).splitlines()[-1],
                         "| all | 3 | 2.0 % | 4.0 % | 5.2 % | 4.0 % | +1.7 % | +0.7 % | 1 |")

    def test_parts_by_hand(self):
        # 10 s become 11 and 9.8 s, all of it TP; of one model the row that changes most is printed.
        rows = [made("a", 0.0, -0.02), made("b", 0.0, 0.1), made("c", 0.0, 0.001)]
        rows[2] = rows[2]._replace(run={**rows[2].run, "model": "b"})
        self.assertEqual(nccl_training.parts_table(rows).splitlines()[2:],
                         ["| `b` | +0.0 % | +10.0 % |  | +10.0 |  |  |  |  |  |",
                          "| `a` | +0.0 % | -2.0 % |  | -2.0 |  |  |  |  |  |"])

    def test_what_communicates(self):
        def traffic(**keys):
            return nccl_training.traffic_of(made("a", 0, 0, **keys))
        self.assertEqual(traffic(), "DP, PP and CP only")
        self.assertEqual(traffic(plan__tp="8"), "TP that blocks, in servers")
        self.assertEqual(traffic(plan__tp="16"), "TP that blocks, over servers")
        self.assertEqual(traffic(plan__tp="8", plan__async_tp="true"), "TP beside its GEMMs")
        self.assertEqual(traffic(plan__ep="8"), "EP by NCCL")
        self.assertEqual(traffic(plan__ep="8", network__all_to_all="once"), "EP by a dispatcher")
        self.assertEqual(traffic(plan__sharding="hsdp"), "FSDP over servers")
        self.assertEqual(traffic(plan__sharding="fsdp", cluster__buildings__0__gpus="8"),
                         "FSDP over one server")

    def test_labels(self):
        self.assertEqual(
            set(nccl_training.settings_of("TP8 CP2 PP4x6 DP112 PP-out HSDP interleaved b2 "
                                          "recompute=selective async-tp")),
            {"plan.tp=8", "plan.cp=2", "plan.ep=1", "plan.pp=4", "plan.chunks=6",
             "plan.crossing=pp", "plan.sharding=hsdp", "plan.reshard=false",
             "plan.schedule=interleaved", "plan.microbatch=2", "plan.recompute=selective",
             "plan.async_tp=true"})
        self.assertIn("plan.schedule=1f1b", nccl_training.settings_of("TP2 PP1 DP32 DP-out FSDP b1"))
        with self.assertRaisesRegex(measuring.InputError, "'offload=3' is no word"):
            nccl_training.settings_of("TP2 PP1 DP32 DP-out FSDP b1 offload=3")

    def test_refuses(self):
        for arguments, says in [([], "name a table of published runs, or --studies"),
                                ([TOP / "none.csv"], "none.csv"),
                                ([TOP / "README.md"], "there is no column")]:
            code, _, said = self.call(*arguments)
            self.assertEqual(code, 2)
            self.assertIn(says, said)


class Page(unittest.TestCase):
    """The section, computed again."""

    @classmethod
    def setUpClass(cls):
        page = PAGE.read_text()
        cls.page = page[page.index("\n## In training\n"):page.index("\n## Left out\n")]
        cls.flat = " ".join(cls.page.split())
        cls.rows = nccl_training.rows_of(TABLES[:1], PROGRAM)
        cls.named = {row.name: row for row in cls.rows}

    def figures(self, pattern):
        found = re.search(pattern, self.flat)
        self.assertTrue(found, pattern)
        return [float(figure.replace(",", "")) for figure in found.groups()]

    def test_tables(self):
        for table in (nccl_training.errors_table, nccl_training.parts_table):
            self.assertIn("\n\n" + table(self.rows) + "\n\n", self.page)

    def test_every_row_runs(self):
        count, = self.figures(r"All (\d+) run with `nccl`")
        self.assertEqual(sum(map(nccl_training.runs_with_both, self.rows)), count)
        self.assertEqual(len(self.rows), count)

    def test_parts_are_the_whole_change(self):
        for row in self.rows:
            self.assertAlmostEqual(
                sum(nccl_training.changes_of(row).values()),
                row.nccl["iteration_time_s"] / row.default["iteration_time_s"] - 1, delta=1e-9,
                msg=row.name)

    def test_few_rows_change_much(self):
        changes = [abs(row.nccl["iteration_time_s"] / row.default["iteration_time_s"] - 1)
                   for row in self.rows]
        rows, little, much = self.figures(r"Of (\d+) rows (\d+) change by less than 1 %, and (\d+) "
                                          "by more than 3 %")
        self.assertEqual(len(changes), rows)
        self.assertEqual(sum(change < 0.01 for change in changes), little)
        self.assertEqual(sum(change > 0.03 for change in changes), much)

    def test_mean_of_the_other_page(self):
        page = " ".join((PAGE.parent / "compute.md").read_text().split())
        found = re.search(r"the errors are as large, ([\d.]+) % in the mean", page)
        self.assertTrue(found)
        self.assertEqual(f"{100 * statistics.fmean(abs(r.nccl['error']) for r in self.rows):.1f}",
                         found[1])

    def test_orders(self):
        pairs, default, nccl, both = self.figures(
            r"of ([\d,]+) pairs of plans ([\d,]+) are in the order that was measured, with `nccl` "
            r"([\d,]+), ([\d,]+) of them the same")
        self.assertEqual(nccl_training.orders_of(TABLES, PROGRAM), (pairs, default, nccl, both))

    def test_rows_of_the_prose(self):
        def busy(name, part):
            row = self.named[name]
            return [round(1e3 * found["classes"][part]["busy_s"]) for found in
                    (row.nccl, row.default)]
        self.assertEqual(busy("dgxc-jax-llama2-70b-256-h100-fp8", "dp"),
                         self.figures(r"take ([\d,]+) in place of ([\d,]+) ms, and slow"))
        self.assertEqual(busy("nemo-automodel-llama3-70b-64-h100-bf16", "cp"),
                         self.figures(r"inside a server take (\d+) in place of (\d+) ms"))

    def test_computing_beside_collectives(self):
        server, servers, positions, rack = self.figures(
            r"each channel: (\d+) where eight GPUs of a server gather, (\d+) over eight such servers, "
            r"(\d+) among equal positions of these. In a rack of GB200 (\d+) are laid")
        for words, channels in ((["dgx-h100"], server), (["dgx-h100", "--nodes", "8"], servers),
                                (["dgx-h100", "--nodes", "8", "--group", "rail"], positions),
                                (["gb200-nvl72", "--nodes", "18"], rack)):
            _, found, error = measuring.run(
                [str(PROGRAM), "collective", "--op", "all_gather", "-b", "64M", "-e", "64M", "--json",
                 "--set", "network.collective=nccl", "--machine", *words])
            self.assertIsNotNone(found, error)
            self.assertEqual(found[0]["channels"], channels, words)
        limit, processors, count = self.figures(r"of which ([\d.]+) of (\d+) count, (\d+)\.")
        self.assertEqual(int(limit * processors), count)
        changes = [row.nccl["compute_s"] / row.default["compute_s"] - 1 for row in self.rows]
        self.assertEqual([sum(change > 0.001 for change in changes), round(100 * max(changes), 1),
                          sum(change < -0.001 for change in changes), round(-100 * min(changes), 1)],
                         self.figures(r"by more than 0.1 % in (\d+) rows, by ([\d.]+) % at most, and "
                                      r"is that much shorter in (\d+), by ([\d.]+) % at most"))

    def test_rows_of_maxtext(self):
        rows = [row for row in self.rows if "MaxText" in
                nccl_training.published_rows.source_of(row.run).name]
        nearer = [abs(row.nccl["error"]) < abs(row.default["error"]) for row in rows]
        self.assertEqual([sum(nearer), len(rows)],
                         self.figures(r"All of MaxText's rows become faster: (\d+) of (\d+) nearer"))
        for row, closer in zip(rows, nearer):
            self.assertLess(row.nccl["error"], row.default["error"])
            self.assertEqual(closer, row.default["error"] > 0, row.name)

    def test_exchanges_of_experts_take_longer(self):
        percent, = self.figures(r"exchanges of experts.\*\* They take up to (\d+) % longer")
        ratios = [row.nccl["classes"]["ep"]["busy_s"] / row.default["classes"]["ep"]["busy_s"]
                  for row in self.rows if row.default["classes"]["ep"]["busy_s"] > 0 and
                  "network.all_to_all" not in row.keys]
        self.assertEqual(round(100 * (max(ratios) - 1)), percent)
        self.assertGreater(min(ratios), 1)

    def test_tensor_parallelism_over_servers(self):
        # 1,024 sequences over dp 16 in microbatches of 2 are 32 of these. In each, two halves of 40
        # layers reduce and gather forward, computed again and backward, and embedding and head once
        # each: 32 (40 x 6 + 2) pairs, of 2 x 2,048 tokens of 6,144 elements of 2 bytes.
        pairs = 32 * (40 * 6 + 2)
        size = 2 * 2048 * 6144 * 2
        row = self.named["vtrain-18.4b-gpt-18.4b-256-a100-fp16-15"]
        said, tree, levels = self.figures(
            r"two rings of 50 MB take ([\d.]+) ms; an all-reduce would go by a tree and take "
            r"([\d.]+) ms. In levels either takes ([\d.]+) ms")
        for found, figure in ((row.nccl, said), (row.default, levels)):
            self.assertAlmostEqual(1e3 * found["classes"]["tp"]["busy_s"] / pairs, figure,
                                   delta=0.005)
        with tempfile.TemporaryDirectory() as folder:
            study = pathlib.Path(folder) / "two-servers.yaml"
            study.write_text("cluster: {buildings: [{name: a, gpus: 16, gpu: {preset: a100-80g, "
                             "nic_rate: 100Gbps}, gpus_per_node: 8}]}\n")
            for word, how, figure in (("nccl", "tree", tree), ("hierarchical", "hierarchical",
                                                               levels)):
                _, found, error = measuring.run(
                    [str(PROGRAM), "collective", str(study), "--op", "all_reduce", "-b", str(size),
                     "-e", str(size), "--json", "--set", f"network.collective={word}"])
                self.assertIsNotNone(found, error)
                self.assertEqual(found[0]["algorithm"], how)
                self.assertAlmostEqual(found[0]["time_us"] / 1e3, figure, delta=0.005)

    def studies(self):
        """Study, label, where it is the best one, and the line."""
        for line in self.page.splitlines():
            if found := re.match(r"\| `([\w-]+-buildings?)` \| ([^|]+) \| ([^|]*) \|", line):
                yield found[1], found[2], found[3].strip(), line

    def test_plans_of_studies(self):
        studies = set()
        for study, label, where, line in self.studies():
            plan = None if label == "the study's own" else label
            times = nccl_training.times_of(study, plan, PROGRAM)
            self.assertEqual(line, nccl_training.study_line(study, plan, where, times))
            studies.add(study)
        self.assertEqual(studies, set(nccl_training.STUDIES))
        self.assertEqual(studies, {file.parent.name for file in TOP.glob("examples/*/study.yaml")})

    def test_the_small_study_is_searched(self):
        study = "small-two-buildings"
        best = {label: where for of, label, where, _ in self.studies() if of == study and where}
        for settings in ([], ["network.collective=nccl"]):
            found = nccl_training.search(study, PROGRAM, settings)
            self.assertEqual({label for label, _ in found}, set(best))
        self.assertEqual(set(best.values()), {"default and `nccl`"})

    def best(self, study, word, place):
        """The time of the best plan of a placement with the default (0) or `nccl` (1)."""
        label, = (label for of, label, where, _ in self.studies()
                  if of == study and f"{place}-out" in label and
                  ("default", "`nccl`")[word] in where)
        return label, nccl_training.times_of(study, label, PROGRAM)[word]

    def test_margins_and_growth(self):
        said = self.figures(r"margin is ([\d.]+) % in place of ([\d.]+) % for Maverick, ([\d.]+) % in "
                            r"place of ([\d.]+) % for Llama 3 405B over two buildings, ([\d.]+) % in "
                            r"place of ([\d.]+) % over three")
        longer = self.figures(r"by (\d+) % for Maverick and by (\d+) % for the small study")
        less = self.figures(r"takes less for Llama 3 405B\*\*, by ([\d.]+) % over two buildings and by "
                            r"([\d.]+) % over three")
        grown = {MAVERICK: longer[0], "small-two-buildings": longer[1],
                 "llama3-405b-two-buildings": -less[0],
                 "llama3-405b-three-unequal-buildings": -less[1]}
        for i, study in enumerate((MAVERICK, "llama3-405b-two-buildings",
                                   "llama3-405b-three-unequal-buildings")):
            for word in (0, 1):
                margin = self.best(study, word, "PP")[1] / self.best(study, word, "DP")[1] - 1
                self.assertAlmostEqual(100 * margin, said[2 * i + 1 - word], delta=0.051)
        for study, percent in grown.items():
            growth = self.best(study, 1, "DP")[1] / self.best(study, 0, "DP")[1] - 1
            self.assertEqual(round(100 * growth, 0 if growth > 0 else 1), percent, study)

    def test_what_processors_do_to_llama(self):
        # The buildings of the second study have a key each, those of the first one for both.
        gpu = "gpu={preset: h100, collective_processors: 0}"
        said = self.figures(r"the same plan takes ([\d.]+) and ([\d.]+) % longer by `nccl`")
        for percent, study, buildings in (
                (said[0], "llama3-405b-two-buildings", [""]),
                (said[1], "llama3-405b-three-unequal-buildings", [".0", ".1", ".2"])):
            label, _ = self.best(study, 1, "DP")
            default, nccl = (nccl_training.call(
                "run", study, [*nccl_training.settings_of(label), f"network.collective={word}",
                               *(f"cluster.buildings{which}.{gpu}" for which in buildings)],
                PROGRAM, "--no-store")["iteration_time_s"] for word in ("hierarchical", "nccl"))
            self.assertEqual(round(100 * (nccl / default - 1), 1), percent, study)

    def test_where_placements_flip(self):
        # The best plans of the search at the values around the flip. In between their difference is
        # taken as linear, as `explore --sweep` does.
        unequal = "llama3-405b-three-unequal-buildings"
        maverick = [self.best(MAVERICK, 1, place)[0] for place in ("DP", "PP")]
        maverick = [maverick, ["TP4 CP2 EP64 PP4x8 DP512 DP-out HSDP interleaved b1 async-tp",
                               "TP4 CP2 EP64 PP4x6 DP512 PP-out FSDP interleaved b1 async-tp"]]
        three = [self.best(unequal, 1, place)[0] for place in ("DP", "PP")]
        three = [[three[0], "TP8 CP2 PP7x9 DP128 PP-out FSDP interleaved b1 recompute=selective "
                            "async-tp"],
                 ["TP8 CP2 PP16x4 DP56 DP-out FSDP interleaved b1 async-tp",
                  "TP8 CP2 PP7x4 DP128 PP-out FSDP interleaved b1 recompute=selective async-tp"]]
        said = self.figures(r"of about (\d+) for Maverick, where the default says (\d+), and of about "
                            r"(\d+) over three buildings, where it says (\d+)")
        default = json.loads((TOP / "analysis" / "claims.json").read_text())["studies"]
        for i, (name, study, values, plans) in enumerate((
                ("maverick", MAVERICK, (16, 64), maverick), ("three", unequal, (16, 64), three))):
            differences = []
            for value, labels in zip(values, plans):
                dp, pp = (nccl_training.call(
                    "run", study, [*nccl_training.settings_of(label), "network.collective=nccl",
                                   f"cluster.cross.oversubscription={value}"], PROGRAM,
                    "--no-store")["iteration_time_s"] for label in labels)
                differences.append(dp - pp)
            about = values[0] + (values[1] - values[0]) * differences[0] / (
                differences[0] - differences[1])
            flip, = default[name]["sweep"]["flips"]
            self.assertEqual([round(about), round(flip["about"])], said[2 * i:2 * i + 2], study)
        self.assertIn("the same by the default, which does not flip", self.flat)
        self.assertEqual(default["llama"]["sweep"]["flips"], [])

    def test_a_ring_over_buildings(self):
        # Two of 2,047 messages are under way in a round trip, which is 1 ms longer at 200 km than at
        # 100 km: 1.0235 s for each ring that follows another.
        label, _ = self.best(MAVERICK, 0, "DP")
        times = [nccl_training.call("run", MAVERICK, [*nccl_training.settings_of(label),
                                                      "network.collective=nccl",
                                                      f"cluster.cross.distance={distance}"],
                                    PROGRAM, "--no-store")["iteration_time_s"]
                 for distance in ("100km", "200km")]
        self.assertEqual(self.figures(r": ([\d.]+) s for a plan that takes ([\d.]+) s by levels"),
                         [round(times[0], 1), round(self.best(MAVERICK, 0, "DP")[1], 2)])
        self.assertIn("a dozen of these follow each other", self.flat)
        self.assertAlmostEqual((times[1] - times[0]) / (2047 / 2 * 1e-3), 12, delta=1)


if __name__ == "__main__":
    unittest.main()
