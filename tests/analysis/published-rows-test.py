#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Tables of published runs become rows that the program reads, or a reason why not."""

import contextlib
import csv
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
TABLE = TOP / "tests" / "validation" / "iteration-time" / "published.csv"

sys.path.insert(0, str(TOP / "analysis"))
import published_rows  # noqa: E402

# A run that every rule can be tried on.
RUN = {"id": "a", "source": "NVIDIA/dgxc-benchmarking:llama3.1/README.md", "date": "2025-01",
       "model": "Llama3.1-70B", "gpu": "GB200-NVL72", "gpus": "128", "precision": "FP8",
       "seq": "8192", "gbs": "256", "mbs": "1", "tp": "4", "pp": "4", "cp": "2", "ep": "",
       "etp": "", "vp": "5", "dp": "4", "fsdp_sharding": "dist-opt", "recompute": "none",
       "overlap_notes": "TP userbuffer overlap on", "seconds": "10", "notes": ""}
# Words that are refused, by what a user is told.
REFUSED = {
    "precision": ["FP8 or NVFP4 (not stated in the log)", "INT4"],
    "fsdp_sharding": ["FSDP+DP (split not published)", "HYBRID", "FSDP 3 x DP 4"],
    "recompute": ["CPU offload of activations, 20 layers", "CPU offload of experts", "mla_up_proj,mlp,router", "some",
                  "modules attn", "full+mlp", "full, 0 layers"],
    "model": ["Llama3.1-8B proxy some layers", "GPT-3.6B", "T5"],
    "date": ["yesterday", "2024-13", "2024-00", "2024-1", "24-01", "2024-01-31"],
    # The model has no experts.
    "ep": ["8"], "etp": ["2"],
    "gpu": ["TPU"], "gpus": ["0", "many", ""], "tp": ["-1"], "source": ["a blog"],
    "dp": ["3"], "seconds": ["", "soon", "0", "inf"],
    # A new word among known ones, a known one that goes on, and one that means the contrary.
    "overlap_notes": ["dispatcher foo", "TP off; optimizer offload", "CUDA graphs on, 2-batch",
                      "dispatcher deepepx", "TP off by mistake", "no DeepEP",
                      "no full CUDA graph",
                      "CUDA graph transformer_engine:foo",
                      "CUDA graph transformer_engine:attn+foo",
                      # Of other software.
                      "XLA", "XLA latency-hiding", "compile", "eager", "no compile", "float8",
                      "torch FSDP default prefetch", "FSDP2 prefetch"]}
# Pairs of phrases that say unlike things of one key, in either order.
CONTRADICTIONS = [("CUDA graphs on", "CUDA graphs off"),
                  ("CUDA graph local:full_iteration", "no CUDA graph"),
                  ("full CUDA graph", "CUDA graph transformer_engine:attn"),
                  ("CUDA graph transformer_engine:attn", "CUDA graph transformer_engine:mlp"),
                  ("TP off", "TP userbuffer overlap on"), ("async TP", "vanilla TP"),
                  ("grad/param and TP overlap", "yaml: ub_tp_comm_overlap False"),
                  ("compile", "eager"), ("torch.compile", "no compile"),
                  ("dispatcher deepep", "dispatcher hybridep"), ("DeepEP", "dispatcher nccl"),
                  ("8x200 Gb/s TCPXO", "8x400 Gb/s RoCE"), ("CP2 ring", "CP4 ring"),
                  ("pp_layout Et*40/t*40L", "pp_layout Et*39/t*41L")]
NIC_RATE = "cluster.buildings.0.gpu.nic_rate"


class PublishedRows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def table(self, *runs):
        path = self.folder / f"table-{len(list(self.folder.iterdir()))}.csv"
        with path.open("w", newline="") as file:
            writer = csv.DictWriter(file, published_rows.COLUMNS)
            writer.writeheader()
            writer.writerows(runs)
        return path

    def call(self, table, output):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            try:
                code = published_rows.main([str(table), "-o", str(output)])
            except SystemExit as end:
                code = end.code
        return code, said.getvalue()

    def test_ends_count_as_layers_where_that_makes_stages_equal(self):
        # 126 + 2 layers over 16 x 8 = 128 positions or 8 x 8; 80 over 4 x 5; 80 over 8 x 4 neither.
        ends = {"plan.embedding_as_layer": "true", "plan.loss_as_layer": "true"}
        for model, pp, vp, said in [("Llama3.1-405B", "16", "8", ends),
                                    ("Llama3.1-405B", "8", "8", ends), ("Llama3.1-70B", "4", "5", {}),
                                    ("Llama3.1-70B", "8", "4", {}),
                                    ("Llama3.1-405B proxy 62 layers", "8", "8", ends),
                                    ("Llama4-Maverick-400B", "8", "6", {})]:
            row = published_rows.row_of({**RUN, "model": model, "gpus": "1024", "pp": pp, "vp": vp,
                                         "dp": ""})
            self.assertEqual({key: row[key] for key in ends if key in row}, said, (model, pp, vp))

    def test_a_row_says_what_the_run_says(self):
        row = published_rows.row_of(RUN)
        site = "cluster.buildings.0."
        expected = {"model": "llama3-70b", site + "gpu": "gb200", site + "gpus": "128",
                    # 64 of a rack's 72: what 128 GPUs fill evenly.
                    site + "gpus_per_node": "64", "workload.precision": "fp8-delayed",
                    "workload.sequence": "8192", "workload.global_batch": "256", "plan.tp": "4",
                    "plan.pp": "4", "plan.cp": "2", "plan.ep": "1", "plan.chunks": "5",
                    "plan.schedule": "interleaved", "plan.microbatch": "1",
                    "plan.sharding": "zero1", "plan.recompute": "none", "plan.async_tp": "true",
                    "workload.stack": "megatron-core", "workload.gradients": "bf16", "name": "a",
                    "seconds": "10"}
        self.assertEqual(row, expected)

    def test_rules_follow_words(self):
        def row(**changed):
            return published_rows.row_of({**RUN, **changed})
        self.assertEqual(row(model="Llama3.1-405B proxy 21 layers")["model.layers"], "21")
        self.assertNotIn("plan.async_tp", row(overlap_notes="TP off"))
        self.assertNotIn("plan.async_tp", row(tp="1", dp=""))
        self.assertEqual(row(model="Grok1-314B")["workload.capacity_factor"], "1")
        experts = {"model": "Mixtral-8x7B", "ep": "8"}
        self.assertEqual(row(**experts, overlap_notes="dispatcher deepep")["network.all_to_all"],
                         "once")
        self.assertNotIn("network.all_to_all", row(overlap_notes="dispatcher deepep"))
        graph = "CUDA graph local:full_iteration"
        self.assertEqual(row(overlap_notes=graph)["workload.stack.cuda_graphs"], "iteration")
        for word in ("FSDP2 full", "FSDP 4", "FSDP2 8", "Megatron FSDP 8"):  # dp, or dp x cp
            self.assertEqual(row(fsdp_sharding=word)["plan.reshard"], "true", word)
        shared = row(fsdp_sharding="FSDP 2 (8 in node x 16) x DP 4")
        self.assertEqual((shared["plan.sharding"], shared["plan.shard_ranks"]), ("hsdp", "2"))
        for text, words in [("modules mlp", "mlp"), ("mla_up_proj,mlp,moe", "mla-up-proj+mlp+moe"),
                            ("modules layernorm+moe_act", "norm+activation"),
                            ("core_attn, shared_experts", "shared-experts"),
                            ("core_attn", "none")]:
            self.assertEqual(row(recompute=text)["plan.recompute"], words, text)
        one_stage = {"pp": "1", "vp": "", "dp": "16"}
        for text, layers in [("CPU offload of activations, 79 layers", "79"),
                             ("CPU offload of 20 layers in recipe", "20")]:
            offload = row(recompute=text, **one_stage)
            self.assertEqual((offload["plan.offload_layers"], offload["plan.recompute"]),
                             (layers, "none"))
        with self.assertRaisesRegex(published_rows.Inexpressible, "a model with 80 layers"):
            row(recompute="CPU offload of activations, 80 layers", **one_stage)
        with self.assertRaisesRegex(published_rows.Inexpressible, "with pp 4"):
            row(recompute="CPU offload of activations, 20 layers")
        self.assertEqual(row(**experts, etp="1")["plan.etp"], "1")
        self.assertEqual(row(model="Mixtral-8x7B", etp="1")["plan.etp"], "1")  # with ep 1 as well
        self.assertNotIn("plan.etp", row(**experts, etp="4"))
        for usual in ("1", "4"):  # of recipes, and Megatron's default: nothing without experts
            self.assertNotIn("plan.etp", row(etp=usual))

    def test_recipes_say_what_a_run_does_not(self):
        bridge = "github NVIDIA-NeMo/Megatron-Bridge:docs/x.md@0 (26.02)"
        experts = {**RUN, "source": bridge, "date": "2026-02", "gpus": "64", "tp": "1", "pp": "1",
                   "cp": "1", "vp": "", "dp": "64", "ep": "64", "gbs": "1280",
                   "overlap_notes": ""}

        def row(**changed):
            return published_rows.row_of({**experts, **changed})

        def dispatch(**changed):
            found = row(**changed)
            return found["workload.stack"], found.get("network.all_to_all")
        nccl, once = ("megatron-core-nccl", None), ("megatron-core", "once")
        oss = {"model": "GPT-OSS-120B"}
        self.assertEqual(dispatch(**oss, gpu="B200-SXM"), nccl)
        self.assertEqual(dispatch(**oss, gpu="B200-SXM", overlap_notes="dispatcher hybridep"), once)
        self.assertEqual(dispatch(**oss, gpu="GB200-NVL72", date="2026-08"), once)
        qwen = {"model": "Qwen3-30B-A3B"}
        self.assertEqual(dispatch(**qwen, gpu="H100-SXM-80"), once)
        self.assertEqual(dispatch(**qwen, gpu="H100-SXM-80", date="2025-12"), nccl)
        self.assertEqual(dispatch(**qwen, gpu="GB200-NVL72", date="2025-12"), once)
        # Where notes say something, they say all that is not the default.
        self.assertEqual(dispatch(**qwen, gpu="B200-SXM", overlap_notes="CUDA graph "
                                  "transformer_engine:moe_router"), nccl)
        recorded = row(**oss, gpu="GB200-NVL72", date="2026-08")
        self.assertEqual((recorded["workload.stack.cuda_graphs"],
                          recorded["workload.stack.fuses_experts"]), ("iteration", "true"))
        # DeepSeek-V3: 64 / 16 layers on each position, its module and the loss on the last; in NeMo
        # v2.3.0 less on both ends, and tokens are dropped.
        deep = {"model": "DeepSeek-V3-671B", "gpus": "1024", "pp": "16", "dp": "64", "ep": "64"}
        found = row(**deep, gpu="H100-SXM-80")
        self.assertEqual((found["model.mtp_layers"], found["plan.layers"]),
                         ("1", "+".join(["4"] * 15 + ["1"])))
        nemo = "github NVIDIA/dgxc-benchmarking:deepseek_v3/pretraining/README.md@0"
        old = row(**{**deep, "tp": "2", "dp": "32"}, gpu="H100-SXM-80",
                  source=nemo + "(v25.05.05)", date="2025-06")
        self.assertEqual((old["plan.layers"], old["workload.stack"], old["workload.capacity_factor"]),
                         ("+".join(["3"] + ["4"] * 14 + ["2"]), "megatron-core-padded", "1"))
        self.assertNotIn("plan.async_tp", old)
        self.assertEqual(dispatch(**deep, gpu="H100-SXM-80", source=nemo + "(v25.08)",
                                  date="2025-09"), once)
        # Automodel's gate: 8 experts that follow each other, one of 256 / 8 groups.
        gate = row(**{**deep, "pp": "1", "dp": "1024"}, gpu="H100-SXM-80",
                   source="NVIDIA-NeMo/Automodel:x", overlap_notes="DeepEP")
        self.assertEqual((gate["model.expert_groups"], gate["model.top_k_groups"]), ("32", "1"))
        for run, reason in (({**oss, "gpu": "GB200-NVL72", "source": "Megatron-Bridge (26.06.01)"},
                             "footnote"),
                            ({**oss, "gpu": "B200-SXM", "source": "Megatron-Bridge (25.11)"},
                             "64 in the recipe")):
            with self.assertRaisesRegex(published_rows.Inexpressible, reason):
                row(**run)

    def test_a_layout_of_megatrons_is_layers_of_positions(self):
        run = {**RUN, "model": "DeepSeek-V3-671B", "gpus": "256", "tp": "1", "pp": "4", "cp": "1",
               "vp": "4", "dp": "64", "ep": "64"}
        notes = "EP a2a overlapped (1F1B) ; dispatcher deepep ; pp_layout "
        row = published_rows.row_of({**run, "overlap_notes": notes + "Et*4/(t*4/)*14tmL"})
        self.assertEqual(row["plan.layers"], "+".join(["4"] * 15 + ["1"]))  # 61 in all
        self.assertEqual(row["model.mtp_layers"], "1")
        parted = published_rows.row_of({**run, "overlap_notes": "pp_layout E|(t*4|)*13t*5|t*4mL"})
        self.assertEqual(parted["plan.layers"], "+".join(["0"] + ["4"] * 13 + ["5", "4"]))
        for layout, why in [("Et*4/(t*4/)*14L", "has 60 of the model's 61 layers"),
                            ("Et*4/(t*4/)*13t*5mL", "has 15 positions of the row's 16"),
                            ("t*4/E(t*4/)*14tmL", "does not begin with E"),
                            ("Et*4/(t*4/)*14tLm", "does not end with L"),
                            ("t*4/(t*4/)*14tmL", "has no E"), ("Et*4/(t*4/)*14tm", "has no L"),
                            ("EEt*4/(t*4/)*14tmL", "has 2 E"), ("Et*4/(t*4/)*14tmLL", "has 2 L"),
                            ("Et*4/(t*4/)*13t*4m/tL", "has m .* elsewhere"),
                            ("Et*4/(t*4/)*14mtL", "has m .* elsewhere"),
                            ("Et*4/(t*4/)*14(tmL", "is none of E, t, m and L"),
                            ("Et*4/((t*2)*2/)*14tmL", "is none of E, t, m and L"),
                            ("Et*4/(t*4/)*14tm*17L", "has more than .* 16 modules")]:
            with self.assertRaisesRegex(published_rows.Inexpressible, why):
                published_rows.row_of({**run, "overlap_notes": "pp_layout " + layout})

    def test_a_comma_or_semicolon_ends_a_layout(self):
        layout = "pp_layout Et*4/(t*4/)*18t*4L"  # 80 layers over 4 x 5 positions
        alone = published_rows.row_of({**RUN, "overlap_notes": layout})
        self.assertEqual(alone["plan.layers"], "+".join(["4"] * 20))
        for rest in ("; p2p", ";p2p", ",p2p", " ,p2p;"):
            self.assertEqual(published_rows.row_of({**RUN, "overlap_notes": layout + rest}), alone)

    def test_a_long_layout_is_refused_at_once(self):
        # 20 positions, 80 layers, and 16 modules at most: 19 + 80 + 16 + 2 letters.
        for layout in ("Et*4/(t*4/)*100000tmL", "Et*4/(t*4/)*1000000000tmL", "Em*1000000000L",
                       "E(t*100/)*" + "9" * 5000 + "L", "Et*4/" + "(t*4/)*20" * 1000 + "L"):
            with self.assertRaisesRegex(published_rows.Inexpressible,
                                        "has more than 20 positions, 80 layers") as caught:
                published_rows.row_of({**RUN, "overlap_notes": "pp_layout " + layout})
            self.assertLess(len(str(caught.exception)), 250)
        most = "(t*4/)*0" * 5 + "E" + "t*0" * 200 + "t*4/(t*04/)*18t*4m*16L"
        row = published_rows.row_of({**RUN, "overlap_notes": "pp_layout " + most})
        self.assertEqual((row["plan.layers"], row["model.mtp_layers"]),
                         ("+".join(["4"] * 20), "16"))

    def test_modules_of_a_layout_are_those_of_the_model(self):
        # Megatron: as many m's as mtp_num_layers, which any model may have.
        def modules(layout, **changed):
            row = published_rows.row_of({**RUN, "overlap_notes": "pp_layout " + layout, **changed})
            return row.get("model.mtp_layers"), row.get("plan.async_tp")
        llama = "Et*4/(t*4/)*18t*4"
        self.assertEqual(modules(llama + "L"), (None, "true"))
        self.assertEqual(modules(llama + "mL"), ("1", "true"))
        deep = {"model": "DeepSeek-V3-671B", "vp": "4", "ep": "4"}
        for count in (None, "1", "2"):
            layout = "Et*4/(t*4/)*14t" + "m" * int(count or 0) + "L"
            self.assertEqual(modules(layout, **deep), (count, None))  # tp_comm_overlap=False
        for word, layout in (("w/ MTP", llama + "L"), ("w/o MTP", llama + "mL")):
            with self.assertRaisesRegex(published_rows.Inexpressible, f"contradicts '{word}'"):
                modules(layout, notes=word)

    def test_words_of_notes(self):
        def row(notes):
            return published_rows.row_of({**RUN, "overlap_notes": notes})
        plain = row("")
        self.assertEqual(row("grad RS/param AG, p2p, SP; schedule interleaved 1F1B"), plain)
        # A switch of a recipe, of which a model without experts has nothing.
        self.assertEqual(row("dispatcher deepep"), plain)
        self.assertEqual(row("yaml: ub_tp_comm_overlap True"), plain)
        off = row("yaml: ub_tp_comm_overlap False")
        self.assertEqual(set(plain) - set(off), {"plan.async_tp"})
        for notes in ("TP off", "no async TP", "vanilla TP"):
            self.assertEqual(row(notes), off, notes)
        # Notes count with every source, and it only where they are silent.
        bridge = {**RUN, "source": "NVIDIA-NeMo/Megatron-Bridge:docs"}
        titan = {**RUN, "source": "pytorch/torchtitan:benchmarks", "vp": "", "pp": "1", "dp": "16"}
        for run, notes, beside in ((bridge, "", True), (bridge, "TP off", False),
                                   (titan, "", False), (titan, "async TP", True)):
            found = published_rows.row_of({**run, "overlap_notes": notes})
            self.assertEqual("plan.async_tp" in found, beside, notes)
        for notes, stack in (("", "compile"), ("torch.compile", "compile"), ("eager", "eager"),
                             ("no compile", "eager")):
            found = published_rows.row_of({**titan, "overlap_notes": notes})
            self.assertEqual(found["workload.stack"], "torch-" + stack)

    def test_nics_of_notes_count_where_the_preset_has_others(self):
        def rate(gpu, notes, **changed):
            return published_rows.row_of({**RUN, "gpu": gpu, "overlap_notes": notes, **changed}
                                         ).get(NIC_RATE)
        roce, tcpxo = "8x400 Gb/s RoCE", "8x200 Gb/s TCPXO"
        # Presets: 400 Gb/s of H100 and H200, 800 of B300, 200 of A100.
        self.assertEqual([rate(gpu, roce) for gpu in ("H100-SXM-80", "H200-SXM-141 (A3 Ultra)",
                                                      "B300-SXM", "A100-SXM-80")],
                         [None, None, "400Gbps", "400Gbps"])
        self.assertEqual([rate(gpu, tcpxo) for gpu in ("H100-SXM-80", "H100-SXM-80 (A3 Mega)",
                                                       "A100-SXM-80")],
                         ["200Gbps", "200Gbps", None])
        for gpu, why in (("GB300-NVL72", "gpu 'GB300-NVL72', of which 72 are joined"),
                         ("H100-SXM-80 (A3 Mega)", "which has 200Gbps")):
            with self.assertRaisesRegex(published_rows.Inexpressible, f"contradicts .*{why}"):
                rate(gpu, roce)

    def test_phrases_that_contradict_each_other_are_refused(self):
        for pair in CONTRADICTIONS:
            for first, second in (pair, pair[::-1]):
                with self.assertRaises(published_rows.Inexpressible, msg=(first, second)) as caught:
                    published_rows.row_of({**RUN, "overlap_notes": f"{first}; {second}"})
                self.assertEqual(str(caught.exception),
                                 f"overlap_notes: {second!r} contradicts {first!r}")

    def test_phrases_that_contradict_columns_or_the_source_are_refused(self):
        vtrain = {"source": "vTrain", "model": "GPT-18.4B", "gpu": "A100-SXM-80",
                  "precision": "FP16"}
        titan = {"source": "pytorch/torchtitan:benchmarks", "precision": "BF16"}
        for notes, changed, where in [
                ("schedule interleaved 1F1B", {"vp": ""}, "pp 4 and vp 1"),
                ("schedule interleaved 1F1B", {"vp": "1"}, "pp 4 and vp 1"),
                ("schedule interleaved 1F1B", {"pp": "1", "dp": ""}, "pp 1 and vp 5"),
                ("CP4 ring", {}, "cp 2"),
                ("EP a2a overlapped", {"model": "Mixtral-8x7B"}, "ep 1"),
                ("CUDA graph transformer_engine:attn+moe_router", {}, "has no experts"),
                ("float8", titan, "precision 'BF16'"),
                ("grad/param overlap", vtrain, "source 'vTrain'"),
                ("8x400 Gb/s RoCE", vtrain, "source 'vTrain', which has 100Gbps"),
                ("TP overlap on", vtrain, None),
                ("pp_layout EtL", titan, None), ("TP userbuffer overlap on", titan, None)]:
            why = (f"contradicts .*{where}" if where else
                   "is not expressed of software that is modelled as ")
            with self.assertRaisesRegex(published_rows.Inexpressible, why, msg=notes) as caught:
                published_rows.row_of({**RUN, **changed, "overlap_notes": notes})
            self.assertTrue(str(caught.exception).startswith(f"overlap_notes: {notes!r} "))

    def test_what_is_not_expressed_is_named(self):
        for column, words in REFUSED.items():
            for word in words:
                with self.assertRaises(published_rows.Inexpressible, msg=(column, word)) as caught:
                    published_rows.row_of({**RUN, column: word})
                self.assertTrue(str(caught.exception).startswith(f"{column}: "), caught.exception)
        table = self.table(RUN, {**RUN, "id": "b", "gpu": "TPU"})
        code, said = self.call(table, self.folder / "rows.csv")
        self.assertEqual((code, said), (0, f"{table}:3: b: gpu: 'TPU' is not expressed\n"))
        with self.assertRaisesRegex(published_rows.Inexpressible, "module 'router' of"):
            published_rows.row_of({**RUN, "recompute": "mla_up_proj,mlp,router"})

    def test_wrong_tables_are_refused(self):
        output = self.folder / "rows.csv"
        short = self.folder / "short.csv"
        short.write_text("id,source\na,b\n")
        ragged = self.folder / "ragged.csv"
        ragged.write_text(",".join(published_rows.COLUMNS) + "\na,b\n")
        for table, says in [(self.folder / "none.csv", "No such file"),
                            (short, "there is no column date"),
                            (ragged, "ragged.csv:2: not as many cells"),
                            (self.table({**RUN, "id": "a,b"}), "'a,b' is no name"),
                            (self.table({**RUN, "gpu": "TPU"}), "no run of it can be expressed")]:
            code, said = self.call(table, output)
            self.assertEqual(code, 2, says)
            self.assertIn(says, said)
            self.assertFalse(output.exists())
        code, said = self.call(self.table(RUN), self.folder / "no" / "rows.csv")
        self.assertEqual(code, 2)
        self.assertIn("cannot be written", said)

    def test_the_program_reads_the_rows_of_the_shipped_table_from_any_folder(self):
        output = self.folder / "rows.csv"
        code, said = self.call(TABLE, output)
        self.assertEqual(code, 0)
        with TABLE.open() as file:
            runs = {run["id"]: run for run in csv.DictReader(file)}
        left = {line.split(": ")[1] for line in said.splitlines()}
        printed = subprocess.run([PROGRAM, "iterations", output, "--json"], check=True,
                                 capture_output=True, text=True).stdout
        rows = json.loads(printed)
        self.assertEqual({row["name"] for row in rows} | left, set(runs))
        self.assertFalse({row["name"] for row in rows} & left)
        for row in rows:
            if row["error"] is None:
                self.assertIn("needs", row["reason"])  # so much memory
            else:
                modelled = float(runs[row["name"]]["seconds"]) * (1 + row["error"])
                self.assertAlmostEqual(row["iteration_time_s"] / modelled, 1, delta=1e-9)
        # At least 95 % of the configurations: of rows that differ in more than their date.
        def configuration(run):
            return tuple(run[column] for column in published_rows.COLUMNS
                         if column not in ("id", "source", "date", "seconds", "notes",
                                           "overlap_notes", "recompute"))
        every = {configuration(run) for run in runs.values()}
        said_in_rows = {configuration(runs[row["name"]]) for row in rows}
        self.assertGreaterEqual(len(said_in_rows) / len(every), 0.95)


if __name__ == "__main__":
    unittest.main()
