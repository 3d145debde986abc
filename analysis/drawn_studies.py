# SPDX-License-Identifier: GPL-2.0-only
"""Draws studies as users write them: most values are the defaults, and all words occur.

They are small enough for packets: 8 to 64 GPUs in two to four buildings, and models whose
iteration takes milliseconds. Words come from `scaleacross list fields`, so that a new one is drawn
as soon as it is there. Amounts, of which there is no list, are below; a field of which nothing says
what to draw is an error.
"""

import random
import re

import measuring

# What a kind of study has beside the plain ones, which are what a first study says: RoCE, the
# network's defaults, no losses, no events. `any` takes all fields of plan and network, the others
# these and what they are called by.
KINDS = ("plain", "any", "infiniband", "trimming", "controls", "losses", "limits", "schedulers")

# What holds back a connection until something comes back: one of them in a study of limits.
LIMITS = ("network.outstanding", "network.window", "network.admission", "network.copy")

# Values of fields that take amounts and numbers, beside their defaults.
AMOUNTS = {
    "plan.shard_ranks": (2, 4, 8),
    "plan.prefetch": (0, 1, 4),
    "plan.bucket": ("256KiB", "1MiB", "4MiB"),
    "plan.round": (2, 4),
    "plan.in_flight": (2, 4),
    "plan.recompute": ("selective", "full"),
    "plan.recompute_layers": (1,),
    "network.reorder_tolerance": (1024, 4096),
    "network.qps": (1, 2, 4, 8, 32),
    "network.segment": ("16KiB", "64KiB", "128KiB", "1MiB"),
    "network.outstanding": (1, 2, 8, 128),
    "network.window": ("256KiB", "1MiB", "16MiB"),
    "network.admission": ("256KiB", "1MiB", "8MiB"),
    "network.qp_burst": ("8KiB", "64KiB", "256KiB"),
    "network.collective_chunk": ("64KiB", "256KiB", "1MiB"),
    "network.channels": (2, 4, 8),
    "network.token_start": ("5us",),
    "network.token_message": ("1us",),
    "network.mtu": ("1KiB", "2KiB", "9000B"),
    "network.headers": ("62B", "100B"),
    "network.ack_size": ("64B",),
    "network.ack_every": (1, 16),
    "network.lane_credits": ("64KiB", "1MiB"),
    "network.leaf_buffer": ("16MiB", "256MiB"),
    "network.spine_buffer": ("64MiB", "1GiB"),
    "network.classes.tp": (1,),
    "network.classes.cp": (1,),
    "network.classes.ep": (1, 2),
    "network.classes.pp": (1, 2, 3),
    "network.classes.dp": (1, 2),
    "network.class_weights": ("1:1:1:1", "1:3:1:2"),
    "network.nccl_channels": (2, 8),
    "network.nccl_net_step": ("1us", "10us"),
    "network.nccl_net_long": ("5us",),
    "network.nccl_net_fill": ("100Gbps",),
    "network.nccl_net_flags": ("100Gbps",),
}

# Fields that are not drawn one by one, and why.
OTHERWISE = {
    "plan.tp": "follows from the cluster", "plan.cp": "follows from the cluster",
    "plan.ep": "follows from the cluster", "plan.etp": "follows from the cluster",
    "plan.pp": "follows from the cluster", "plan.dp": "follows from the cluster",
    "plan.crossing": "follows from the degrees", "plan.schedule": "follows from the stages",
    "plan.chunks": "follows from the schedule", "plan.microbatch": "follows from the batch",
    "plan.sharding": "drawn for every plan", "plan.reshard": "drawn with the sharding",
    "plan.layers": "a list for the stages that there are",
    "plan.offload_layers": "nothing that such small models need",
    "network.transport": "the kind of study", "network.control": "the kind of study",
    "network.recovery": "follows from the paths",
    "network.nccl_net_message": "time before any message, the same for all engines",
    "network.nccl_net_inject": "time before any message, the same for all engines",
    "network.qp_scheduler": "the kind of study", "network.qp_burst": "follows from the scheduler",
    "network.timeout_exponent": "time that only losses take", "network.retries": "of failures",
    "network.detection": "of failures", "network.convergence": "of failures",
    "network.keep_at_down_port": "of failures",
}
NCCL = re.compile(r"network\.nccl_\w+")  # drawn with `collective: nccl`, which alone reads them
TIERS = re.compile(r"network\.tiers\.\w+\.(\w+)")  # a value of this field for one tier

# How often a field has another value than its default.
OFTEN, SELDOM, RARELY = 0.3, 0.06, 0.005
OFTEN_SET = ("network.multipath", "network.collective", "network.qps")

CHUNKED = ("interleaved", "breadth-first", "zbv-interleaved", "dorapp")
FOLDED = ("zbv", "zbv-interleaved", "dualpipev")  # stages with two parts of the model


class Registries:
    """What may stand in the fields of plans and networks, by the program's own list."""

    def __init__(self, program):
        _, rows, said = measuring.run([str(program), "list", "fields", "--json"])
        if rows is None:
            raise measuring.InputError(f"{program}: lists no fields: {said}")
        self.fields, self.words = [], {}
        for row in rows:
            name, values = row["field"], row["values"]
            if not name.startswith(("plan.", "network.")):
                continue
            self.fields.append(name)
            if re.fullmatch(r"[\w-]+(, [\w-]+)* or [\w-]+", values):
                self.words[name] = [word for word in re.split(", | or ", values)
                                    if word != row["default"]]

    def values_of(self, name):
        """What a field may have beside its default."""
        tier = TIERS.fullmatch(name)
        if tier:
            return self.values_of(f"network.{tier[1]}")
        if name in AMOUNTS:
            return AMOUNTS[name]
        if name not in self.words:
            raise measuring.InputError(f"{name}: nothing says what to draw; add it to AMOUNTS or "
                                       "OTHERWISE of drawn_studies.py")
        return [word == "true" if word in ("true", "false") else word for word in self.words[name]]

    def drawn(self, part):
        """The fields of plan or network that are drawn one by one."""
        return [name for name in self.fields if name.startswith(f"{part}.") and
                name not in OTHERWISE]


def divisors(number):
    return [i for i in range(1, number + 1) if number % i == 0]


def cluster_of(draw, kind):
    """Two to four buildings, mostly alike, and what is between them."""
    count = draw.choice((2, 2, 2, 2, 3, 3, 4))
    per_node = draw.choice((1, 2, 4, 8, 8))
    most = 64 // count // per_node
    enough = [n for n in (1, 2, 3, 4, 6, 8, 12, 16) if n <= most and n * per_node * count >= 8]
    nodes = draw.choice(enough or [most])
    fabric = {"spines": draw.choice((1, 1, 2, 4))}
    for key, share, values in (("nodes_per_pod", 0.2, divisors(nodes)),
                               ("oversubscription", 0.1, (2, 4)), ("rails", 0.1, (False,))):
        if draw.random() < share:
            fabric[key] = draw.choice(values)
    for key, share, value in (("planes", 0.1, 2), ("dual_tor", 0.05, True),
                              ("shape", 0.05, "full-mesh")):
        if kind != "plain" and draw.random() < share:
            fabric[key] = value
    building = {"gpus": nodes * per_node, "gpus_per_node": per_node, "gpu": "h100"}
    if draw.random() < 0.6:
        building["nic_rate"] = draw.choice(("25Gbps", "50Gbps", "100Gbps", "100Gbps", "200Gbps"))
    buildings = [{"name": "abcd"[i], **building, "fabric": dict(fabric)} for i in range(count)]
    if draw.random() < 0.15:
        one, what = draw.choice(buildings), draw.choice(("rate", "size", "gpu"))
        if what == "rate":
            one["nic_rate"] = draw.choice(("50Gbps", "100Gbps", "200Gbps"))
        elif what == "size":
            one["gpus"] = per_node * draw.randint(1, nodes)
            one["fabric"].pop("nodes_per_pod", None)
        else:
            one["gpu"] = draw.choice(("h800", "a100-80gb", "h200"))
    cross = {"distance": f"{10 ** draw.uniform(-0.5, 2.5):.3g}km"}
    if draw.random() < 0.25:
        cross["capacity"] = draw.choice(("100Gbps", "400Gbps", "800Gbps"))
    else:
        cross["oversubscription"] = draw.choice((1, 1, 2, 2.8, 4, 8, 16))
    if draw.random() < 0.3:
        cross["lanes"] = draw.choice((2, 4))
    if count > 2 and draw.random() < 0.3:
        cross["shape"] = draw.choice(("ring", "line", "hub"))
    if kind == "losses":
        cross["loss"] = draw.choice((1e-6, 1e-5, 1e-4))
    return {"buildings": buildings, "cross": cross}


def model_of(draw):
    model = {"layers": draw.choice((1, 2, 2, 4, 8)), "hidden": draw.choice((256, 512, 1024)),
             "heads": 8, "vocabulary": draw.choice((1024, 4096))}
    if draw.random() < 0.8:
        return {**model, "dense_ffn": draw.choice((1024, 2048))}
    return {**model, "experts": draw.choice((4, 8)), "top_k": draw.choice((1, 2)),
            "expert_ffn": draw.choice((256, 512))}


def crossing_of(draw, kind, plan, model):
    if kind != "plain" and draw.random() < 0.05:
        order = ["tp", "cp", "ep", "pp", "dp"]
        draw.shuffle(order)
        return "-".join(order)
    if "experts" in model and draw.random() < 0.3:
        return "ep"
    return "pp" if plan["pp"] > 1 and draw.random() < 0.6 else "dp"


def plan_of(draw, registries, kind, cluster, model):
    """The plan and its batch; the model gets the layers that the stages need. None where degrees
    do not divide the cluster."""
    buildings = cluster["buildings"]
    gpus = sum(building["gpus"] for building in buildings)
    tp = draw.choice(divisors(buildings[0]["gpus_per_node"]) + [1, 1])
    plan = {"tp": tp, "pp": draw.choice((1, 1, 1, len(buildings), 2, 4))}
    cp = 2 if draw.random() < 0.08 else 1
    if gpus % (tp * cp * plan["pp"]):
        return None
    dp = gpus // (tp * cp * plan["pp"])
    plan["crossing"] = crossing_of(draw, kind, plan, model)
    if cp > 1:
        plan["cp"] = cp
    if "experts" in model:
        plan["ep"] = draw.choice([i for i in divisors(dp) if i <= model["experts"]])
        if kind != "plain" and draw.random() < SELDOM:
            plan["etp"] = draw.choice(divisors(tp))
    if plan["pp"] > 1 and draw.random() < 0.3:
        plan["schedule"] = draw.choice(registries.values_of("plan.schedule"))
    schedule = plan.get("schedule", "1f1b")
    if schedule in CHUNKED:
        plan["chunks"] = 2
    parts = plan["pp"] * plan.get("chunks", 1) * (2 if schedule in FOLDED else 1)
    model["layers"] = parts * max(1, model["layers"] // parts)
    plan["microbatch"] = draw.choice((1, 1, 1, 2))
    count = draw.choice((1, 1, 2, 4) if plan["pp"] == 1 else (1, 2, 4)) * plan["pp"]
    plan["sharding"] = "hsdp" if draw.random() < 0.5 else \
        draw.choice(registries.values_of("plan.sharding"))
    if plan["sharding"] in ("fsdp", "hsdp") and draw.random() < 0.25:
        plan["reshard"] = True
    for name in registries.drawn("plan") if kind != "plain" else ():
        if draw.random() < SELDOM:
            plan[name.split(".")[1]] = draw.choice(registries.values_of(name))
    return plan, dp * plan["microbatch"] * count


def network_of(draw, registries, kind):
    network = {}
    if kind == "plain":
        return network
    if kind in ("infiniband", "trimming"):
        network["transport"] = kind
    if kind == "controls":
        network["control"] = draw.choice(registries.values_of("network.control"))
    if kind == "schedulers":
        network["qp_scheduler"] = draw.choice(registries.values_of("network.qp_scheduler"))
        if network["qp_scheduler"] == "burst":
            network["qp_burst"] = draw.choice(registries.values_of("network.qp_burst"))
    limit = draw.choice(LIMITS) if kind == "limits" else None
    for name in registries.drawn("network"):
        of_nccl = NCCL.fullmatch(name)
        if of_nccl and network.get("collective") != "nccl":
            continue
        rare = TIERS.fullmatch(name) or ".class" in name
        often = of_nccl or name in OFTEN_SET
        if name == limit or draw.random() < (OFTEN if often else RARELY if rare else SELDOM):
            at = network
            *folders, key = name.split(".")[1:]
            for folder in folders:
                at = at.setdefault(folder, {})
            at[key] = draw.choice(registries.values_of(name))
    if kind == "schedulers":  # whole messages on a queue pair are what the schedulers differ by
        network["balance"] = draw.choice(registries.values_of("network.balance"))
    if network.get("multipath", "").startswith(("spray", "entropy", "reps")) or \
            draw.random() < SELDOM:
        network["recovery"] = "selective-repeat"
    return network


def studies_of(number, seed, kind, registries):
    """Study `number` of a draw, and those to take in its place where the program refuses it: what
    is drawn does not always fit together. The same number, seed and kind give the same ones."""
    draw = random.Random(f"{seed}/{kind}/{number}")
    while True:
        cluster, model = cluster_of(draw, kind), model_of(draw)
        drawn = plan_of(draw, registries, kind, cluster, model)
        if drawn is None:
            continue
        plan, batch = drawn
        workload = {"sequence": draw.choice((256, 512, 1024, 2048)), "global_batch": batch}
        study = {"study": f"{kind}-{seed}-{number}", "model": model, "workload": workload,
                 "cluster": cluster, "plan": plan}
        network = network_of(draw, registries, kind)
        yield {**study, "network": network} if network else study
