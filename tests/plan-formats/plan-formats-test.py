#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""`export --format` over plans drawn from all that a study can say: what the frameworks make of its
texts is the plan, and what they cannot make is refused or told."""

import collections
import itertools
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

from drawn_plans import PROGRAM, Drawn, call, vocabulary
from frameworks import Megatron, Nccl, Titan, TitanMain, bash, option_list, order

DRAWS = int(os.environ.get("SCALEACROSS_DRAWS", "400"))
TOP = pathlib.Path(__file__).resolve().parents[2]
PAGE = TOP / "contrib" / "scaleacross" / "doc" / "export-plan.md"
EXAMPLE = "examples/small-two-buildings/study.yaml"
PROGRAMS = {"megatron": "Megatron-LM", "torchtitan": "TorchTitan",
            "torchtitan-main": "TorchTitan"}
ROUNDS = ("interleaved", "dorapp")
SPRAYED = ("spray-random", "spray-rr", "spray-adaptive", "entropy-random", "reps")


def same_groups(ours, theirs):
    """Whether the same GPUs are together."""
    return len(set(zip(ours, theirs))) == len(set(ours)) == len(set(theirs))


class PlanFormats(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        words = vocabulary()
        cls.runs = []
        for seed in range(DRAWS * 40):
            drawn = Drawn(seed, words)
            nccl = call("export", "-", "--format", "nccl", text=drawn.text())
            if nccl.returncode == 0:
                cls.runs.append((drawn, nccl.stdout))
            else:
                # Fields that exclude each other, or degrees that do not fit.
                assert nccl.returncode == 2, (seed, nccl.stderr)
                assert re.search("the plan cannot run|standard input:1:[0-9]+ (plan|network)",
                                 nccl.stderr), (seed, nccl.stderr)
            if len(cls.runs) == DRAWS:
                break
        assert len(cls.runs) == DRAWS, len(cls.runs)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.path = pathlib.Path(folder.name) / "plan.sh"

    def exports(self, name):
        """Every plan that the framework can run; of the others, reasons by field."""
        written, refused = [], {}
        for drawn, _ in self.runs:
            with self.subTest(seed=drawn.seed, plan=drawn.plan):
                done = call("export", "-", "--format", name, text=drawn.text())
                if done.returncode == 0:
                    written.append((drawn, done.stdout))
                    continue
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, f"--format {name}: {PROGRAMS[name]} cannot run this "
                                 "plan: (plan|workload.sequence)")
                self.check_refusal(name, drawn, done.stderr)
                for field in set(re.findall(r"(?:plan: |; )(plan\.\w+) ", done.stderr)):
                    refused[field] = refused.get(field, 0) + 1
        self.assertGreater(len(written), len(self.runs) / 10)
        self.assertGreaterEqual(refused.keys(), {"plan.schedule", "plan.crossing"})
        return written

    def check_coverage(self, seen):
        """Draws are many enough for what matters to occur."""
        for what in ("experts", "other nodes", "other ranks", "chunks", "instances", "layers"):
            self.assertGreater(seen[what], 0, what)

    @staticmethod
    def count(seen, drawn, read):
        seen["experts"] += drawn.ep > 1
        seen["other nodes"] += read.launches and read.gpus != sorted(read.gpus)
        seen["other ranks"] += not read.launches
        seen["chunks"] += drawn.chunks > 1
        seen["instances"] += read.replicas() > 1
        seen["layers"] += drawn.layers is not None and drawn.pp > 1

    def check_refusal(self, name, drawn, text):
        """What every framework has is not refused, and what it has not is refused by its name."""
        refused = set(re.findall(r"(?:plan: |; )((?:plan|workload)\.\w+) ", text))
        expect = lambda what, holds: (self.assertIn if holds else self.assertNotIn)(what, refused)
        self.check_sequence_refusal(name, drawn, expect)
        titan = name != "megatron"
        # A rank of tp has whole heads there; Megatron repeats them.
        expect("plan.tp", titan and drawn.model["kv_heads"] % drawn.tp != 0)
        if drawn.schedule == "1f1b" and drawn.chunks == 1:
            # Schedule1F1B of PyTorch wants a microbatch for each stage; one alone goes by GPipe, in
            # the same order.
            expect("plan.schedule", titan and 1 < drawn.microbatches < drawn.pp)
        if titan and drawn.schedule == "gpipe":
            expect("plan.schedule", drawn.pp == 1 and drawn.microbatches > 1)
        if titan and drawn.schedule == "dualpipev" and drawn.pp > 1:
            # torch.compile, which wraps blocks in v0.2.2, and split backwards exclude each other.
            wrapped = name == "torchtitan" and drawn.plan["async_tp"] and drawn.tp > 1
            expect("plan.schedule", wrapped)
        if (name == "megatron" and drawn.schedule in ROUNDS and drawn.pp > 1 and
                drawn.chunks > 1):
            # schedules.py, forward_backward_pipelining_with_interleaving: a round has pp or more.
            (self.assertIn if drawn.microbatches < drawn.pp else self.assertNotIn)(
                "plan.schedule", text)
        if drawn.ep == 1 and drawn.etp in (0, drawn.tp) and drawn.sharding != "hsdp":
            self.assertNotIn("plan.crossing", text)

    def check_sequence_refusal(self, name, drawn, expect):
        """A plan that can run has what Megatron-LM asks for; the oracle holds its texts to that."""
        tp, cp, tokens = drawn.tp, drawn.cp, drawn.sequence * drawn.microbatch
        expect("workload.sequence",
               {"megatron": False,
                "torchtitan": drawn.sequence % (2 * tp * cp) != 0,
                "torchtitan-main": tokens % (tp * (1 if cp == 1 else 2 * cp)) != 0}[name])

    def check_told(self, drawn, part, text):
        """Every field that the plan says has a setting or a remark."""
        for key in drawn.said(part):
            self.assertRegex(text, rf"{re.escape(key)}\b")

    def check_groups(self, drawn, framework):
        self.assertEqual(framework.world, drawn.ranks)
        ours, theirs = drawn.groups(), framework.groups()
        for family, keys in theirs.items():
            if family in ours:
                self.assertTrue(same_groups(ours[family], keys), family)
        self.assertEqual(theirs["stage"], ours["stage"])

    def check_layers(self, drawn, counts):
        self.assertEqual(sum(counts), drawn.model["layers"])
        self.assertEqual(len(counts), drawn.pp * drawn.chunks)
        if drawn.layers is not None:
            self.assertEqual(counts, drawn.layers)
        elif drawn.plan["apportion"] == "even":
            # Ends that count as a layer have one of what is dealt out, and none has two more.
            dealt = list(counts)
            dealt[0] += drawn.plan["embedding_as_layer"]
            dealt[-1] += drawn.plan["loss_as_layer"]
            self.assertLessEqual(max(dealt) - min(dealt), 1)
            if dealt.count(max(dealt)) <= len(dealt) - 2:
                self.assertEqual({dealt[0], dealt[-1]}, {min(dealt)})

        else:
            # Of every stage, as the program draws it.
            done = call("schedule", "-", "--json", text=drawn.text())
            self.assertEqual(done.returncode, 0, done.stderr)
            vee = drawn.schedule in ("zbv", "zbv-interleaved", "dualpipev")
            stages = [0] * drawn.pp
            for position, count in enumerate(counts):
                chunk, index = divmod(position, drawn.pp)
                stages[drawn.pp - 1 - index if vee and chunk % 2 else index] += count
            shown = [stage["layers"] for stage in json.loads(done.stdout)["stages"]]
            shown[0 if vee else -1] -= drawn.model.get("mtp_layers", 0)
            self.assertEqual(stages, shown)

    def check_passes(self, drawn, name, group):
        p, v, m = drawn.pp, drawn.chunks, drawn.microbatches
        if name == drawn.schedule and name not in ROUNDS:
            return
        plain = ("1f1b", *ROUNDS)
        if drawn.schedule in plain and name in plain:
            own = drawn.round or m // max(1, m // p)
            self.assertEqual(order(drawn.schedule, p, v, own, m), order(name, p, v, group, m))
        else:
            # Orders that are made for the job may be a fixed one; two names may have one order.
            self.assertTrue(drawn.schedule == "latency-aware" or m == 1 or
                            {drawn.schedule, name} in ({"zbv", "zbv-interleaved"},
                                                       {"gpipe", "breadth-first"}),
                            (drawn.schedule, name))

    def test_megatron(self):
        _, known = option_list("megatron")
        seen = collections.Counter()
        for drawn, text in self.exports("megatron"):
            with self.subTest(seed=drawn.seed, plan=drawn.plan):
                read = Megatron(text, drawn, self.path)
                for name, values in read.options.items():
                    self.assertIn(name, known)
                    if known[name]:
                        self.assertLessEqual(set(values), set(known[name]))
                self.check_told(drawn, "plan", text)
                self.check_groups(drawn, read)
                self.check_layers(drawn, read.layers())
                self.assertEqual(read.refusals(drawn.model), [])
                self.check_passes(drawn, *read.passes())
                self.check_megatron_batch(drawn, read)
                self.check_megatron_sharding(drawn, read)
                self.check_megatron_gradients(drawn, read)
                self.check_megatron_overlap(drawn, read, text)
                self.check_megatron_recompute(drawn, read)
                self.count(seen, drawn, read)
                self.count_megatron(seen, drawn, read)
        self.check_coverage(seen)
        for what in ("none in an end", "none between", "MTP layers alone in an end", "fsdp fp32", "fsdp bf16", "ddp bf16",
                     "overlapped tp", "tp that cannot overlap"):
            self.assertGreater(seen[what], 0, what)

    @staticmethod
    def count_megatron(seen, drawn, read):
        layers = read.layers() if drawn.pp > 1 and drawn.chunks == 1 else [1]
        seen["none in an end"] += 0 in (layers[0], layers[-1])
        seen["MTP layers alone in an end"] += layers[-1] == 0 and "mtp_layers" in drawn.model
        seen["none between"] += len(layers) > 2 and not any(layers[1:-1])
        way = "fsdp" if "--use-megatron-fsdp" in read.options else "ddp"
        seen[f"{way} {drawn.gradients}"] += 1
        if drawn.plan["async_tp"] and drawn.tp > 1:
            seen["overlapped tp" if "--tp-comm-overlap" in read.options
                 else "tp that cannot overlap"] += 1

    def check_megatron_gradients(self, drawn, read):
        """mcore_fsdp_adapter.py reads Megatron-FSDP's own formats, which by default are the
        model's; the rest reads --grad-reduce-in-bf16, without which a BF16 model's are FP32."""
        whole = "--use-megatron-fsdp" in read.options
        for name in ("--megatron-fsdp-grad-comm-dtype", "--megatron-fsdp-main-grads-dtype"):
            self.assertEqual(read.options.get(name), [drawn.gradients] if whole else None)
        self.assertEqual("--grad-reduce-in-bf16" in read.options,
                         not whole and drawn.gradients == "bf16")

    def check_megatron_overlap(self, drawn, read, text):
        """Only megatron-core of the drawn stacks cuts activations along the sequence; experts
        always do."""
        cuts = drawn.tp > 1 and (drawn.stack == "megatron-core" or "experts" in drawn.model)
        self.assertEqual("--sequence-parallel" in read.options, cuts)
        self.assertEqual("--tp-comm-overlap" in read.options, drawn.plan["async_tp"] and cuts)
        self.assertEqual("needs sequence parallelism" in " ".join(text.replace("#", "").split()),
                         drawn.plan["async_tp"] and drawn.tp > 1 and not cuts)

    def check_megatron_batch(self, drawn, read):
        micro = read.number("--micro-batch-size")
        self.assertEqual(micro, drawn.microbatch)
        self.assertEqual(read.number("--global-batch-size"), drawn.batch)
        _, dense, _ = read.numbering()
        self.assertEqual(drawn.batch // (micro * dense["dp"]), drawn.microbatches)
        self.assertEqual(read.number("--seq-length"), drawn.sequence)

    def check_megatron_sharding(self, drawn, read):
        """A plan that keeps gathered parameters has them once an iteration, as ZeRO-1 and -2."""
        strategy = read.options.get("--data-parallel-sharding-strategy", [None])[0]
        each = drawn.plan.get("reduce", "microbatch" if drawn.plan.get("reshard") or
                              drawn.sharding == "zero2" else "accumulated") == "microbatch"
        whole = drawn.sharding in ("fsdp", "hsdp")
        expected = ("optim_grads_params" if drawn.plan.get("reshard") else
                    "optim_grads" if drawn.sharding == "zero2" or (whole and each) else None)
        self.assertEqual(strategy, expected)
        self.assertEqual("--use-megatron-fsdp" in read.options, expected is not None)
        self.assertEqual("--use-distributed-optimizer" in read.options,
                         expected is None and drawn.sharding != "ddp")
        self.assertEqual("--overlap-param-gather" in read.options, drawn.sharding != "ddp")
        limit = read.environment["D"]
        if expected:
            self.assertEqual(limit, "")
        elif drawn.tp * drawn.cp > 1 and "--overlap-moe-expert-parallel-comm" not in read.options:
            self.assertEqual(limit, "1")

    MODULES = {"norm": "layernorm", "activation": "moe_act", "mla-up-proj": "mla_up_proj",
               "mlp": "mlp", "moe": "moe", "shared-experts": "shared_experts"}
    WITHOUT = {"mla-up-proj"}  # no drawn model has MLA

    def check_megatron_recompute(self, drawn, read):
        granularity = read.options.get("--recompute-granularity", [None])[0]
        plan = {"selective": "norm+activation", "none": ""}.get(drawn.recompute, drawn.recompute)
        if plan in ("full", "full-but-qkv", "alternate"):
            self.assertEqual(granularity, "full")
            block = "recompute_layers" in drawn.plan
            self.assertEqual(read.options["--recompute-method"],
                             ["block" if block else "uniform"])
            self.assertEqual(read.number("--recompute-num-layers"), 1)
            return
        moe = "experts" in drawn.model
        expected = {self.MODULES[word] for word in plan.split("+") if word} - {"mla_up_proj"}
        if not moe:
            expected -= {"moe_act", "moe"}
        if not drawn.model.get("shared_ffn"):
            expected -= {"shared_experts"}
        self.assertEqual(set(read.options.get("--recompute-modules", [])), expected)
        self.assertEqual(granularity, "selective" if expected else None)
        self.assertEqual(read.number("--cpu-offloading-num-layers"),
                         drawn.plan.get("offload_layers"))

    def test_torchtitan(self):
        """v0.2.2."""
        self.check_titan("torchtitan", Titan)

    def test_torchtitan_main(self):
        self.check_titan("torchtitan-main", TitanMain)

    def check_titan(self, name, framework):
        _, known = option_list(name)
        seen = collections.Counter()
        for drawn, text in self.exports(name):
            with self.subTest(seed=drawn.seed, plan=drawn.plan):
                read = framework(text, drawn)
                for table, values in read.tables.items():
                    if not isinstance(values, dict):
                        self.assertIn(str(values), known[table])
                        continue
                    for option, value in values.items():
                        self.assertIn(f"{table}.{option}", known)
                        if known[f"{table}.{option}"]:
                            self.assertIn(value, known[f"{table}.{option}"])
                self.check_told(drawn, "plan", text)
                self.check_groups(drawn, read)
                self.assertEqual(read.refusals(drawn.model), [])
                if drawn.pp > 1:
                    self.check_layers(drawn, read.layers())
                    self.check_modules(drawn, read)
                self.check_passes(drawn, read.passes(),
                                  drawn.microbatches // max(1, drawn.microbatches // drawn.pp))
                passes = drawn.microbatches if drawn.pp > 1 else 1
                self.assertEqual(read.batch(), (drawn.batch, drawn.microbatch, passes,
                                                drawn.microbatches // passes))
                self.check_titan_memory(drawn, read)
                self.count(seen, drawn, read)
        self.check_coverage(seen)

    def check_modules(self, drawn, read):
        names = [name for part in read.set["module_fqns_per_model_part"] for name in part]
        self.assertEqual(names, ["tok_embeddings", *(f"layers.{i}" for i in
                                                     range(drawn.model["layers"])),
                                 "norm", read.HEAD])

    def check_titan_memory(self, drawn, read):
        replicas = read.replicas()
        # Where each rank of hsdp shares with itself alone all are replicas.
        blocks = drawn.groups().get("shard", [])
        self.assertEqual(replicas > 0, len(set(blocks)) < len(blocks))
        if replicas:
            self.assertIn(drawn.sharding, ("fsdp", "hsdp"))
            self.assertEqual(read.set["fsdp_reshard_after_forward"],
                             "always" if drawn.plan["reshard"] else "never")
        few = {"norm", "activation", "selective", "alternate"}
        expected = ("full" if "offload_layers" in drawn.plan else
                    "none" if drawn.recompute == "none" else
                    "selective" if set(drawn.recompute.split("+")) <= few else "full")
        self.assertEqual(read.recomputation(), expected)

    def test_nccl(self):
        _, known = option_list("nccl")
        seen = set()
        for drawn, text in self.runs:
            with self.subTest(seed=drawn.seed, network=drawn.network, rails=drawn.rails):
                names = re.findall(r"^(?:export|unset) (\w+)", text, re.M)
                self.assertEqual(len(names), len(set(names)))
                self.assertLessEqual(set(names), known.keys())
                # In a shell that has other values.
                dirty = "".join(f"export {name}=other\n" for name in names)
                values = dict(zip(names, bash("".join(
                    f'printf "%s\\0" "${{{name}:-}}"; ' for name in names),
                    dirty + text, self.path)))
                self.assertNotIn("other", values.values())
                # What it does not name is as the site has it.
                site = bash('printf "%s\\0" "${NCCL_IB_TC:-}" "${NCCL_IB_SL:-}"',
                            "export NCCL_IB_TC=site NCCL_IB_SL=site\n" + text, self.path)
                self.assertEqual([value == "site" for value in site],
                                 [name not in names for name in ("NCCL_IB_TC", "NCCL_IB_SL")])
                self.check_told(drawn, "network", text)
                self.check_network(drawn.network, drawn, values, text, known)
                seen |= values.keys()
        self.assertGreaterEqual(seen, {"NCCL_IB_SL", "NCCL_IB_TC", "NCCL_PROTO"})

    def check_network(self, network, drawn, values, text, known):
        widest = network.get("tiers", {}).get("cross" if drawn.buildings > 1 else "building", {})
        qps = widest.get("qps", network.get("qps", 16))
        balance = widest.get("balance", network.get("balance", "split"))
        tier = "cross" if drawn.buildings > 1 else "building"
        given = drawn.given()
        chosen = {what: bool(given & {f"network.{what}", f"network.tiers.{tier}.{what}"})
                  for what in ("qps", "balance", "segment")}
        segment = {"1000B": 1000, "64KiB": 1 << 16, "1MiB": 1 << 20,
                   "64MiB": 1 << 26}.get(network.get("segment"), 1 << 19)
        staged = network.get("copy") == "staged"
        chunk = min(segment, 1 << 19 if staged else 2 << 20)
        # What the study gives, and nothing else: the rest stays as NCCL or the site has it.
        expected = {
            "NCCL_IB_QPS_PER_CONNECTION": chosen["qps"] and str(min(qps, 128)),
            "NCCL_IB_SPLIT_DATA_ON_QPS": chosen["balance"] and ("1" if balance == "split" else "0"),
            "NCCL_P2P_NET_CHUNKSIZE": chosen["segment"] and balance != "split" and str(chunk),
            "NCCL_IB_TIMEOUT": "timeout_exponent" in network and str(network["timeout_exponent"]),
            "NCCL_IB_RETRY_CNT": "retries" in network and str(min(7, network["retries"])),
            "NCCL_IB_ADAPTIVE_ROUTING":
                "multipath" in network and str(int(network["multipath"] in SPRAYED)),
            "NCCL_CROSS_NIC": drawn.rails is not None and ("0" if drawn.rails else "2"),
        }
        for name, value in expected.items():
            self.assertEqual(values.get(name, False), value, name)
            self.assertTrue(name in text or balance == "split", name)
        # Eight chunks are in a buffer, and NCCL makes them smaller if it has to.
        cut = chosen["segment"] and balance != "split"
        self.assertEqual("NCCL_BUFFSIZE" in values, cut or "copy" in network)
        if "NCCL_BUFFSIZE" in values:
            # Copies of the plan have 8 x 512 KiB.
            self.assertEqual(int(values["NCCL_BUFFSIZE"]),
                             max(4 << 20, 8 * chunk if cut and not staged else 0))
        else:
            # The whole of a buffer on both sides: eight usual segments, as NCCL has it.
            self.assertIn("NCCL_BUFFSIZE (NCCL's own: 4 MiB) for 4 MiB", text)
        told = " ".join(text.replace("#", "").split())
        self.assertEqual("of messages between two ranks" in told, cut and chunk < 1 << 19)
        self.assertEqual("eight of which NCCL has" in told, cut and chunk < segment)
        # 1,000 is 1111101000 in binary digits, 1111000000 of its first four.
        self.assertEqual("so 960 bytes" in told, cut and chunk == 1000)
        self.check_algorithm(network, values, text)
        self.check_classes(network, values, text)

    def check_algorithm(self, network, values, text):
        collective = network.get("collective", "hierarchical")
        library = collective == "nccl"
        why = f"only network.collective: nccl reads it, this is {collective}"
        told = " ".join(text.replace("#", "").split())
        for key, value in network.items():
            if key.startswith("nccl_") and value not in ("auto", "false"):
                self.assertEqual(f"network.{key} {value}: {why}" in told, not library, told)
        on = library and network.get("nccl_collnet") == "true"
        self.assertEqual(values.get("NCCL_COLLNET_ENABLE"),
                         ("1" if on else "0") if library and "nccl_collnet" in network else None)
        self.assertEqual(values.get("NCCL_MAX_NCHANNELS"),
                         "8" if library and "nccl_channels" in network else None)
        self.assertEqual("NCCL_PROTO" in values, library)
        if not library:
            fixed = {"ring": "Ring", "tree": "Ring;allreduce:Tree"}
            self.assertEqual(values.get("NCCL_ALGO"),
                             fixed.get(collective, "" if "collective" in network else None))
        self.check_choices(Nccl(values), network if library else {}, on)

    def check_choices(self, nccl, network, on):
        """Every communicator of a process can run all functions, whatever it is: of some servers or
        one, of switches that add up its types or not, and CollNet is off where Megatron-LM turns it
        off. And it can run the algorithm that is asked for where NCCL has it."""
        machines = [(), ("nvls",), *([("collnet",), ("nvls", "collnet")] if on else [])]
        for case in itertools.product(Nccl.FUNCTIONS, (1, 2, 9), (2, 4, 8, 16, 72, 1), machines,
                                      (False, True)):
            self.assertTrue(nccl.choices(*case), case)
        word = network.get("nccl_algorithm", "auto").replace("-", "")
        if not network:
            return
        if word == "auto":
            self.assertEqual(nccl.algorithms, Nccl({}).algorithms)
            return
        protocol = network.get("nccl_protocol", "auto")
        about = {"ring": Nccl.FUNCTIONS, "pat": ("allgather", "reducescatter")}
        for function in Nccl.FUNCTIONS:
            if function not in about.get(word, ("allreduce",)):
                # What the word is not about is NCCL's own choice.
                self.assertEqual(nccl.algorithms[function], set(Nccl.ALGORITHMS))
                continue
            where = [(servers, gpus) for servers in (1, 2) for gpus in (1, 8)
                     if Nccl.runs(word, function, servers, gpus, ("nvls", "collnet"), True)]
            self.assertTrue(where)
            for servers, gpus in where:
                having = nccl.choices(function, servers, gpus, ("nvls", "collnet"), True)
                protocols = {p for algorithm, p in having if algorithm == word}
                self.assertEqual(protocols, self.protocols_of(word, protocol), (function, servers))

    @staticmethod
    def protocols_of(word, protocol):
        """Those of the plan, of which most algorithms have Simple alone."""
        if word not in ("ring", "tree"):
            return {"simple"}
        # LL128 by default is for NCCL to say.
        return {"auto": {"ll", "simple"}, "ll-simple": {"ll", "simple"}}.get(protocol, {protocol})

    def check_classes(self, network, values, text):
        """DSCP 8 c, which is 32 c in the byte of IP's header; on InfiniBand the lane."""
        lanes = network.get("transport") == "infiniband"
        factor, name = (1, "NCCL_IB_SL") if lanes else (32, "NCCL_IB_TC")
        classes = network.get("classes", dict.fromkeys(("tp", "cp", "ep", "pp", "dp"), 0))
        told = " ".join(text.replace("#", "").split())
        if set(classes.values()) == {0}:
            # As where nothing is said of classes: whatever the site has is lossless, and 0 may not be.
            self.assertNotIn("NCCL_IB_TC", values)
            self.assertNotIn("NCCL_IB_SL", values)
            self.assertIn(f"{name} stays as the site has it: network.classes.tp", told)
        elif len(set(classes.values())) == 1:
            self.assertEqual(int(values[name]), factor * classes["tp"])
        else:
            self.assertEqual(values[name], "")
            # A variable keeps the other of the two from following the communicator's class.
            self.assertEqual(values["NCCL_IB_TC" if lanes else "NCCL_IB_SL"], "0")
            self.assertIn(", ".join(f"{comm} {factor * number}"
                                    for comm, number in classes.items()), told)

    def test_page(self):
        """The page has what the program writes for the example, and says which lists it knows."""
        page = PAGE.read_text(encoding="ascii")
        shown = "\n".join(line.removeprefix("    ") for line in page.splitlines()
                          if line.startswith("    ") or not line)
        for name in ("megatron", "torchtitan", "torchtitan-main", "nccl"):
            done = subprocess.run([PROGRAM, "export", EXAMPLE, "--format", name], cwd=TOP,
                                  check=True, capture_output=True, text=True)
            self.assertIn(done.stdout.strip(), shown)
            (version, commit, date), _ = option_list(name)
            self.assertIn(f"For {version} ({commit[:9]}, {date}): ", done.stdout)
            self.assertIn(f"| {version.replace(' ', ' | ')}, {date}", page)


if __name__ == "__main__":
    unittest.main()
