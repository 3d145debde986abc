# SPDX-License-Identifier: GPL-2.0-only
"""Plans drawn from everything that a study can say, and where their ranks are by the pages alone
(doc/study-file.md "Order of ranks", doc/models.md "Where experts lie")."""

import json
import math
import os
import random
import re
import subprocess

PROGRAM = os.environ["SCALEACROSS_PROGRAM"]

ORDERS = {"dp": "tp-cp-ep-pp-dp", "pp": "tp-cp-ep-dp-pp", "ep": "tp-cp-pp-dp-ep"}

DENSE = {"name": "dense", "layers": 12, "hidden": 512, "heads": 16, "kv_heads": 16, "head_dim": 32,
         "dense_ffn": 2048, "vocabulary": 4096}
MODELS = [
    DENSE,
    {**DENSE, "layers": 13},
    {**DENSE, "name": "grouped", "kv_heads": 4},
    {**DENSE, "name": "moe", "dense_ffn": 0, "experts": 16, "top_k": 2, "expert_ffn": 512, "moe_every": 1,
     "shared_ffn": 512},
    {**DENSE, "name": "mixed", "experts": 16, "top_k": 2, "expert_ffn": 512, "moe_every": 2},
    {**DENSE, "name": "mtp", "dense_ffn": 0, "experts": 16, "top_k": 2, "expert_ffn": 512, "moe_every": 1,
     "mtp_layers": 1},
]


def call(*arguments, text=None):
    return subprocess.run([PROGRAM, *arguments], input=text, capture_output=True, text=True,
                          check=False)


def vocabulary():
    """Words of every field that takes words, by field; and what fields are by default."""
    rows = json.loads(call("list", "fields", "--json").stdout)
    words = {"defaults": {row["field"]: row["default"] for row in rows}}
    for row in rows:
        values = row["values"].removeprefix("same, or ")
        if re.fullmatch(r"[a-z0-9-]+(, [a-z0-9-]+)*( or [a-z0-9-]+)?", values):
            words[row["field"]] = re.split(", | or ", values)
    alone, modules = next(
        row["values"] for row in rows if row["field"] == "plan.recompute").split(", or of the modules ")
    words["plan.recompute"] = re.split(", | or ", alone)
    words["modules"] = re.split(", | or ", modules.removesuffix(" any joined by +"))
    return words


def divisors(number):
    return [d for d in range(1, number + 1) if number % d == 0]


class Drawn:
    """A study that fixes a plan. What the program is asked is its text alone."""

    def __init__(self, seed, words):
        self.seed = seed
        self.draw = random.Random(seed)
        self.words = words
        self.model = self.draw.choice(MODELS)
        self.per_node = self.draw.choice([2, 4, 8])
        self.buildings = self.draw.choice([1, 1, 2, 2, 4])
        self.nodes = self.draw.choice([1, 2, 3, 4, 4])
        self.ranks = self.per_node * self.buildings * self.nodes
        self.plan = {}
        self.network = {}
        self.draw_degrees()
        self.draw_pipeline()
        self.draw_memory()
        self.draw_network()
        self.draw_workload()

    def maybe(self, share=0.5):
        return self.draw.random() < share

    def word(self, field):
        return self.draw.choice(self.words[field])

    def draw_degrees(self):
        left = self.ranks
        for name in ("tp", "pp", "cp"):
            most = {"tp": 8, "pp": 8, "cp": 4}[name]
            degree = self.draw.choice([d for d in divisors(left) if d <= most])
            setattr(self, name, degree)
            left //= degree
        self.dp = left
        self.ep, self.etp = 1, 0
        if "experts" in self.model and self.maybe(0.9):
            if self.maybe():
                self.ep = self.draw.choice([d for d in divisors(self.dp) if d <= 16])
            else:
                self.etp = self.draw.choice(divisors(self.tp))
                stage = self.tp * self.cp * self.dp // self.etp
                self.ep = self.draw.choice([d for d in divisors(stage) if 16 % d == 0])
        self.crossing = self.draw.choice(["dp", "dp", "pp", "pp", "ep", "tp-cp-pp-ep-dp",
                                          "tp-ep-cp-dp-pp", "tp-cp-dp-ep-pp", "cp-tp-ep-pp-dp",
                                          "dp-tp-cp-ep-pp"])
        self.plan.update(tp=self.tp, pp=self.pp, cp=self.cp, dp=self.dp, ep=self.ep, etp=self.etp,
                         crossing=self.crossing)

    def draw_pipeline(self):
        self.schedule = self.word("plan.schedule") if self.maybe() else "1f1b"
        one = self.schedule in ("gpipe", "1f1b", "zb-h1", "zb-h2")
        two = self.schedule in ("zbv", "dualpipev")
        self.chunks = 1 if one else 2 if two else self.draw.choice([1, 2, 2, 3])
        self.microbatch = self.draw.choice([1, 1, 2])
        rounds = self.draw.choice([1, 2, 3, 4])
        self.microbatches = self.draw.choice([1, self.pp, self.pp * rounds, 2 * self.pp * rounds])
        self.round = 0
        if self.schedule in ("dorapp", "zb1p", "1f1b-overlapped") and self.maybe(0.4):
            self.round = self.draw.choice(divisors(self.microbatches))
        self.plan.update(schedule=self.schedule, chunks=self.chunks, microbatch=self.microbatch,
                         round=self.round)
        self.batch = self.microbatch * self.microbatches * self.dp
        positions = self.pp * self.chunks
        self.layers = None
        if self.maybe(0.4):
            self.layers = self.draw_layers(self.model["layers"], positions)
            self.plan["layers"] = "+".join(map(str, self.layers))
        else:
            self.plan.update(embedding_as_layer=self.maybe(0.3), loss_as_layer=self.maybe(0.3),
                             apportion=self.draw.choice(["even", "even", "even", "time"]))

    def draw_layers(self, layers, positions):
        """Anything; or ends apart and all between alike, with none in some of them."""
        if positions == 1 or self.maybe():
            cuts = sorted(self.draw.randrange(layers + 1) for _ in range(positions - 1))
            return [b - a for a, b in zip([0, *cuts], [*cuts, layers])]
        between = positions - 2
        each = self.draw.randrange(layers // between + 1) if between else 0
        ends = layers - each * between
        first = self.draw.choice([0, ends, self.draw.randrange(ends + 1)])
        return [first, *[each] * between, ends - first]

    def draw_memory(self):
        self.sharding = self.word("plan.sharding") if self.maybe() else "hsdp"
        self.plan["sharding"] = self.sharding
        if self.sharding in ("fsdp", "hsdp"):
            self.plan["reshard"] = self.maybe()
        if self.sharding == "hsdp" and self.maybe(0.6):
            self.plan["shard_ranks"] = self.draw.choice(divisors(self.cp * self.dp))
        if self.maybe(0.3):
            self.plan["reduce"] = self.word("plan.reduce")
        if self.maybe(0.3):
            self.plan["prefetch"] = self.draw.randrange(4)
        if self.maybe(0.3):
            self.plan["bucket"] = f"{self.draw.randrange(1, 9)}MiB"
        self.recompute = self.word("plan.recompute")
        if self.maybe(0.3):
            self.recompute = "+".join(self.draw.sample(self.words["modules"],
                                                       self.draw.randrange(1, 4)))
        self.plan["recompute"] = self.recompute
        if self.recompute.startswith("full") and self.maybe():
            self.plan["recompute_layers"] = 1
        if self.pp * self.chunks == 1 and self.recompute == "none" and self.maybe():
            self.plan["offload_layers"] = self.draw.randrange(1, 5)
        self.plan["async_tp"] = self.maybe(0.3)

    def draw_network(self):
        for field in sorted(self.words):
            name = field.removeprefix("network.")
            if field.startswith("network.") and "." not in name and self.maybe(0.3):
                self.network[name] = self.word(field)
        if "multipath" in self.network and self.maybe(0.8):
            self.network["recovery"] = "selective-repeat"  # which goes with all of them
        if self.maybe():
            self.network["qps"] = self.draw.choice([1, 4, 64, 128, 512])
            self.network["segment"] = self.draw.choice(["1000B", "64KiB", "1MiB", "64MiB"])
        if self.maybe(0.3):
            self.network["retries"] = self.draw.choice([3, 7, 20])
        if self.maybe(0.3):
            self.network["timeout_exponent"] = self.draw.randrange(12, 17)
        if self.maybe(0.3):
            one = self.draw.choice([None, None, 0, 1, 3])
            self.network["classes"] = {name: self.draw.randrange(4) if one is None else one
                                       for name in ("tp", "cp", "ep", "pp", "dp")}
        if self.maybe(0.3):
            tier = self.draw.choice(["leaf", "zone", "building", "cross"])
            self.network["tiers"] = {tier: {"qps": self.draw.choice([2, 8, 32]),
                                            "balance": self.word("network.balance")}}
        for name, value in (("nccl_channels", 8), ("channels", 4), ("window", "1MiB"),
                            ("mtu", "1KiB"), ("outstanding", 16)):
            if self.maybe(0.2):
                self.network[name] = value

    def draw_workload(self):
        """Without sequence parallelism Megatron has less of what tp can do."""
        self.stack = self.draw.choice(["megatron-core", "megatron-2022"])
        self.gradients = self.draw.choice(["fp32", "bf16"])
        # Most is a multiple of whatever may cut it; the others are of 4 and of 2 alone.
        self.sequence = self.draw.choice([512, 512, 512, 4100, 514])
        self.rails = self.draw.choice([True, False, None])

    def text(self):
        fabric = {"spines": 2} if self.rails is None else {"rails": self.rails, "spines": 2}
        building = {"count": self.buildings, "gpus": self.per_node * self.nodes,
                    "gpus_per_node": self.per_node, "gpu": "h100", "fabric": fabric}
        cluster = {"buildings": building}
        if self.buildings > 1:
            cluster["cross"] = {"distance": "10km", "oversubscription": 2}
        return json.dumps({"study": "drawn", "model": self.model,
                           "workload": {"sequence": self.sequence, "global_batch": self.batch,
                                        "memory_limit": False, "stack": self.stack,
                                        "gradients": self.gradients},
                           "cluster": cluster, "network": self.network, "plan": self.plan})

    def given(self):
        """Keys of the network's fields that the study gives, be it as they usually are."""
        keys = set()
        for name, value in self.network.items():
            below = value if name in ("classes", "tiers") else {"": value}
            for inner, last in below.items():
                innermost = last if name == "tiers" else {"": last}
                keys |= {".".join(filter(None, ("network", name, inner, leaf)))
                         for leaf in innermost}
        return keys

    def said(self, part):
        """Keys of what the study says and is not as it is without."""
        usual = dict(self.words["defaults"])
        usual["plan.reduce"] = ("microbatch" if self.plan.get("reshard") or self.sharding == "zero2"
                                else "accumulated")
        usual["network.pfc"] = str(self.network.get("transport", "roce") == "roce").lower()
        says = {f"{part}.{name}": value for name, value in getattr(self, part).items()
                if not isinstance(value, dict)}
        return [key for key, value in says.items()
                if str(value).lower() != usual[key] and key != "plan.dp"]

    # Where ranks are.

    def folds(self):
        return self.etp not in (0, self.tp) or (self.etp != 0 and self.cp > 1 and self.ep > 1)

    def order(self):
        return ORDERS.get(self.crossing, self.crossing).split("-")

    def inner(self):
        """What ep stands for in the order: as much of dp as whole groups of experts take."""
        if not self.folds():
            return self.ep
        if self.order().index("ep") > self.order().index("dp"):
            return math.gcd(self.ep, self.dp)
        dense, experts = self.tp * self.cp, self.etp * self.ep
        return math.lcm(dense, experts) // dense

    def digits(self, gpu):
        counts = {"tp": self.tp, "cp": self.cp, "pp": self.pp, "ep": self.inner(),
                  "dp": self.dp // self.inner()}
        digits = {}
        for name in self.order():
            digits[name] = gpu % counts[name]
            gpu //= counts[name]
        return digits

    def expert_digits(self):
        """etp, ep, edp by GPU."""
        all_digits = [self.digits(gpu) for gpu in range(self.ranks)]
        if not self.folds():
            return [{"etp": d["tp"], "ep": d["ep"], "edp": (d["cp"], d["dp"])} for d in all_digits]
        counts = {"tp": self.etp, "ep": self.ep,
                  "dp": self.tp * self.cp * self.dp // (self.etp * self.ep)}
        names = {"tp": "etp", "ep": "ep", "dp": "edp"}
        seen = [0] * self.pp
        result = []
        for digits in all_digits:
            number = seen[digits["pp"]]
            seen[digits["pp"]] += 1
            one = {}
            for name in self.order():
                if name in counts:
                    one[names[name]] = number % counts[name]
                    number //= counts[name]
            result.append(one)
        return result

    def groups(self):
        """By family, for each GPU a value that the members of its group have in common."""
        dense = [self.digits(gpu) for gpu in range(self.ranks)]
        experts = self.expert_digits()
        both = list(zip(dense, experts))
        shard = {"tp": [(d["cp"], d["ep"], d["dp"], d["pp"]) for d in dense],
                 "cp": [(d["tp"], d["ep"], d["dp"], d["pp"]) for d in dense],
                 "pp": [(d["tp"], d["cp"], d["ep"], d["dp"]) for d in dense],
                 "dp": [(d["tp"], d["cp"], d["pp"]) for d in dense],
                 "stage": [d["pp"] for d in dense]}
        if "experts" in self.model:
            shard["ep"] = [(d["pp"], e["etp"], e["edp"]) for d, e in both]
            shard["edp"] = [(d["pp"], e["etp"], e["ep"]) for d, e in both]
        if self.sharding in ("fsdp", "hsdp"):
            shard["shard"] = self.shards(dense)
        return shard

    def shards(self, dense):
        """Members of cp x dp that share, by GPU: neighbours, or those of a building."""
        members = {}
        for gpu, d in enumerate(dense):
            members.setdefault((d["tp"], d["pp"]), []).append(gpu)
        wanted = self.plan.get("shard_ranks", 0)
        blocks = [None] * self.ranks
        for group in members.values():
            for index, gpu in enumerate(group):
                if self.sharding == "fsdp":
                    block = 0
                elif wanted:
                    block = index // wanted
                else:
                    block = gpu // (self.per_node * self.nodes)
                blocks[gpu] = (group[0], block)
        return blocks
