# SPDX-License-Identifier: GPL-2.0-only
"""Lines of a table of measured collectives, and the run of the program that each one becomes.

The table has the columns of COLUMNS; tests/validation/collectives/README.md says what they hold. A
line becomes a run by rules for the words of its columns, never by itself nor by its setup's name:

gpu         The first of GPUS that its word begins with. Others have no preset, or nothing tells
            which GPU it is.
intra_link  How many GPUs a server has and how many share its scale-up network, by SHAPES. Machines
            that `list machines` has with both and the GPU are candidates.
fabric      What FABRICS has for its words: keys of the network, and a machine whose values of NCCL's
            plugin hold. A candidate that has them all is taken before others; a key that the machine has otherwise is set. Words without an entry
            leave the machine's network as it is.
nic         Number and rate, by nics_of. A candidate that has these is taken before others. If none
            has, it is the best one with these NICs in place of its own. Where all ranks share a
            scale-up network, NICs play no part, and so the column need not say them. Else the line
            is left out.
env         GPUs with an architecture that NCCL knows run `network.collective: nccl`, by NCCL's own
            choice, or with ALGO=Ring or ALGO=Tree, or one of these words alone, by that, and with
            NVLS_ENABLE=0 by rings; others run a ring that copies through slots
            (`network.copy: staged`). A message takes one queue pair, as NCCL has it unless
            NCCL_IB_SPLIT_DATA_ON_QPS is 1. A line that says that no plugin for the network was there
            was measured over TCP sockets, which are not modelled, and is left out.
note        A line of a system that is called faulty, slow or underperforming is left out.
op          By OPERATIONS; others are left out.

Tokens that go to experts and back (ep_dispatch, ep_combine, and with _ll those for low latency) are
`--op dispatch` and `combine`, by the kernel of the operation's name:

env, note   "4096 tokens", "tokens x 7168" or a hidden size by itself, "top 8", "in 4 groups" (without:
            any server), "256 experts", "FP8 out" and "BF16 back". What is not said is DeepEP's: 4,096
            tokens, 8,192 with its second release (by NCCL's device API), 128 for low latency, 256
            experts, or 288 or the next number that lies evenly.
nccl, note  Library and network have what TOKEN_COSTS says. Where a note begins with "DeepEP" its
            kernels ran beside others that were to be compared, over NICs inside servers as well: every
            GPU is a server of its own.
time_us     Without one it follows from busbw and the bytes that the program counts as DeepEP does.

alltoall_torch is the all-to-all that pplx compares itself with, whose buffer has room for all tokens
at every expert: tokens x experts x (hidden size and scales) bytes.
"""

import collections
import math
import pathlib
import re

import measuring

COLUMNS = ["id", "setup", "gpu", "gpus_per_node", "nodes", "gpus", "intra_link", "nic", "fabric",
           "env", "nccl", "op", "bytes", "time_us", "busbw", "note"]


class Inexpressible(Exception):
    """A line that no run says; the text is the reason."""


# --- Words ----------------------------------------------------------------------------------------

# By the beginning of a word, up to a blank or a dash.
GPUS = {"A100-40": "a100-40g", "A100-80": "a100-80g", "A100": "a100-80g", "H100": "h100",
        "H200": "h200", "GH200": "gh200", "B200": "b200", "B300": "b300", "GB200": "gb200",
        "GB300": "gb300", "MI300X": "mi300x", "MI325X": "mi325x", "MI350X": "mi350x",
        "MI355X": "mi355x", "H800": "h800", "SM90": "h100", "SM100": "b200"}

# GPUs of a server, and of its scale-up network.
SHAPES = [(r"NVL72", (4, 72)), (r"4-GPU mesh", (4, 4)), (r"NVLink\d\+NVSwitch", (8, 8)),
          (r"NVLink\d \(\d+ GB/s H800\)", (8, 8)), (r"xGMI", (8, 8))]

ANY_ORDER = {"network.recovery": "selective-repeat"}
LOSSY = {**ANY_ORDER, "network.pfc": "false"}


# The first whose words are in the column, its keys of the network, and a machine that has NCCL's
# plugin for it: its values of PLUGIN hold for all such networks.
Fabric = collections.namedtuple("Fabric", "words keys like")
FABRICS = [
    Fabric(r"Slingshot", {"network.transport": "roce", "network.multipath": "spray-adaptive",
                          **LOSSY}, "alps"),
    Fabric(r"EFA|SRD", {"network.transport": "roce", "network.multipath": "entropy-random",
                        **LOSSY}, "aws-p4de"),
    Fabric(r"TCPXO", {"network.transport": "roce", "network.multipath": "e-ecmp", **LOSSY},
           "gcp-a3-mega"),
    Fabric(r"TCPX", {"network.transport": "roce", "network.multipath": "e-ecmp", **LOSSY},
           "gcp-a3-high"),
    Fabric(r"UEC", {"network.transport": "roce", "network.multipath": "reps", **ANY_ORDER},
           "mi355x-server"),
    Fabric(r"RoCE(v2)?", {"network.transport": "roce", "network.multipath": "e-ecmp"},
           "gcp-a3-ultra"),
    Fabric(r"InfiniBand|IB", {"network.transport": "infiniband",
                              "network.multipath": "spray-adaptive", **ANY_ORDER}, "dgx-h100")]
PLUGIN = ["network.nccl_net_step", "network.nccl_net_long", "network.nccl_net_fill",
          "network.nccl_net_flags", "network.nccl_net_message", "network.nccl_net_inject",
          "network.nccl_algorithm", "network.nccl_protocol"]

# The program's name, bus over algorithm bandwidth of n ranks, and whether the size is divided among
# them, so that each has whole elements of 4 bytes.
Operation = collections.namedtuple("Operation", "name factor divides")
# As Operation, but of tokens: the kernel.
TokenOperation = collections.namedtuple("TokenOperation", "name kernel")
TOKEN_OPERATIONS = {f"ep_{name}{suffix}": TokenOperation(name, kernel)
                    for name in ("dispatch", "combine")
                    for suffix, kernel in (("", "throughput"), ("_ll", "low-latency"))}

# Words of `nccl` and note, of `fabric`, and of the kernel's name: what it costs to send tokens. The
# first whose words are there; none: what the program has. Fitted by hand to the lines of
# TOKEN_FITTED, all others are left out of the fit.
TOKEN_COSTS = [
    (r"UCCL", r"EFA", r"throughput", {"network.token_start": "450us"}),
    (r"UCCL", r"EFA", r"low-latency", {"network.token_start": "30us",
                                       "network.token_message": "280ns"}),
    (r"UCCL", r"", r"low-latency", {"network.token_message": "80ns"}),
    (r"pplx", r"", r"low-latency", {"network.token_start": "35us",
                                    "network.token_message": "80ns"})]
TOKEN_FITTED = ["deepep1-h800-ep8", "deepep1-h800-ep16", "deepep1-h800-ll-ep8",
                "deepep1-h800-ll-ep16", "uccl-mi300x-cx7-ll-ep32", "uccl-p5en-ep24",
                "uccl-p5en-ll-ep24", "pplx-ep64"]

OPERATIONS = {
    "all_reduce": Operation("all_reduce", lambda n: 2 * (n - 1) / n, False),
    "all_gather": Operation("all_gather", lambda n: (n - 1) / n, True),
    "reduce_scatter": Operation("reduce_scatter", lambda n: (n - 1) / n, True),
    "alltoall": Operation("all_to_all", lambda n: (n - 1) / n, True),
    "alltoall_torch": Operation("all_to_all", lambda n: (n - 1) / n, True),
    "sendrecv": Operation("sendrecv", lambda n: 1, False)}

LARGE = 16 << 20  # bytes; the tables have a class from here on


def whole(line, column):
    if not re.fullmatch(r"[1-9]\d*", line[column]):
        raise Inexpressible(f"{column}: {line[column]!r} is no number")
    return int(line[column])


def gpu_of(line):
    for word, preset in GPUS.items():
        if re.match(rf"{word}(?![A-Za-z0-9])", line["gpu"]):
            return preset
    raise Inexpressible(f"gpu: there is no preset for {line['gpu']!r}")


def shape_of(line):
    for words, shape in SHAPES:
        if re.search(words, line["intra_link"]):
            return shape
    raise Inexpressible(f"intra_link: {line['intra_link']!r} is not expressed")


def network_of(line, machines):
    for fabric in FABRICS:
        if re.search(rf"(?<![A-Za-z])({fabric.words})(?![A-Za-z])", line["fabric"]):
            like = next(machine for machine in machines if machine.name == fabric.like)
            return {**fabric.keys, **{key: like.values[key] for key in PLUGIN}}
    return {}


def nics_of(line, gpus):
    """NICs of a server and Gb/s of each, or None where the column does not say both.

    "4x200G/node" and "400G x8/node" are a number and a rate, "8x2x400G" has two ports to a NIC, and
    "400G class, 1 HCA/GPU" a number for each GPU."""
    text = line["nic"]
    if found := re.search(r"\b(\d+)x(?:(\d+)x)?(\d+)G\b", text):
        return int(found[1]), int(found[2] or 1) * int(found[3])
    if found := re.search(r"\b(\d+)G x(\d+)/node", text):
        return int(found[2]), int(found[1])
    if found := re.search(r"\b(\d+)G class, (\d+) HCAs?/(GPU|node)", text):
        return int(found[2]) * (gpus if found[3] == "GPU" else 1), int(found[1])
    return None


def library_of(line, architecture):
    """Keys of the network that say which library's collectives run, and how."""
    found = re.search(r"(?<![-\w])(?:ALGO=)?(Ring|Tree)(?![-\w])", line["env"], re.IGNORECASE)
    algorithm = found[1].lower() if found else None
    if re.search(r"\bNVLS_ENABLE=0\b", line["env"]):
        algorithm = algorithm or "ring"
    splits = re.search(r"\bSPLIT_DATA_ON_QPS=1\b", line["env"])
    balance = {"network.balance": "split" if splits else "round-robin"}
    if architecture == "other":
        return {"network.collective": algorithm or "ring", "network.copy": "staged", **balance}
    return {"network.collective": "nccl", **balance,
            **({"network.nccl_algorithm": algorithm} if algorithm else {})}


def tokens_of(line, ranks):
    """What a line says of tokens; what it does not say is DeepEP's."""
    text = f"{line['note']}; {line['env']}"

    def number(pattern, usual):
        found = re.search(pattern, text)
        return int(found[1]) if found else usual
    low = TOKEN_OPERATIONS.get(line["op"], TokenOperation("", "low-latency")).kernel != "throughput"
    experts = next((count for count in (256, 288) if count % ranks == 0),
                   ranks * math.ceil(256 / ranks))
    usual = 128 if low else 8192 if "device API" in line["nccl"] else 4096
    return {"tokens": number(r"\b(\d+) tokens?\b", usual),
            "hidden": number(r"(?:\btokens x |(?:^|; ))(\d+)(?=;|$)", 7168),
            "top-k": number(r"\btop (\d+)\b", 8),
            "experts": number(r"\b(\d+) experts\b", experts),
            "max-nodes": number(r"\bin (\d+) groups\b", 0)}


def token_run(line, ranks):
    """Options and settings of a dispatch or combine, and whether NICs are used inside servers."""
    operation = TOKEN_OPERATIONS[line["op"]]
    options = {**tokens_of(line, ranks), "kernel": operation.kernel}
    way = "out" if operation.name == "dispatch" else "back"
    if found := re.search(rf"\b(FP8|BF16) {way}\b", line["env"]):
        options["precision"] = found[1].lower()
    library = f"{line['nccl']}; {line['note']}"
    costs = next((keys for words, fabric, kernel, keys in TOKEN_COSTS
                  if re.search(words, library) and re.search(fabric, line["fabric"]) and
                  re.fullmatch(kernel, operation.kernel)), {})
    return options, costs, line["note"].startswith("DeepEP")


# --- Machines -------------------------------------------------------------------------------------

GIGABITS = {"Mbps": 1e-3, "Gbps": 1, "Tbps": 1e3}


def gigabits(text):
    """Of a rate as the program prints it, Gb/s."""
    rate, unit = re.fullmatch(r"([\d.]+)(.*)", text).groups()
    return float(rate) * GIGABITS[unit]


class Machine:
    """A row of `list machines`, and what keys of the network are where it says nothing."""

    def __init__(self, row, defaults, gpus):
        values = row["values"]
        self.name = row["machine"]
        self.gpu = row["gpu"]
        self.architecture = gpus[self.gpu].get("architecture", "other")
        self.link = gigabits(gpus[self.gpu]["scale_up_bandwidth"]) / 8  # GB/s of a GPU
        self.shape = (int(values["gpus_per_node"]), int(values["gpu.scale_up_domain"]))
        self.nics = (int(values["nics"]), gigabits(values["nic_rate"]))  # and Gb/s of each
        self.values = {**defaults, **values}

    def lacks(self, keys):
        """Those of the network's keys that the machine has otherwise."""
        return {key: value for key, value in keys.items() if self.values[key] != value}


def listed(program, what):
    code, rows, said = measuring.run([str(program), "list", what, "--json"])
    if code != 0:
        raise measuring.InputError(f"{program} list {what}: {said}")
    return rows


def machines_of(program):
    defaults = {row["field"]: row["default"] for row in listed(program, "fields")}
    gpus = {row["gpu"]: row["values"] for row in listed(program, "gpus")}
    return [Machine(row, defaults, gpus) for row in listed(program, "machines")]


# A run but for its size: arguments of `collective`, the NICs of a file of its own or None, ranks.
# Of tokens: their options, from which the size follows; of others none.
Run = collections.namedtuple("Run", "machine nics nodes used op settings ranks tokens",
                             defaults=((),))


def run_of(line, machines):
    if found := re.search(r"faulty|underperforming|slow", line["note"]):
        raise Inexpressible(f"note: {found[0]}")
    if re.search(r"\bno plugin\b", line["env"]):
        raise Inexpressible("env: TCP sockets are not modelled")
    if line["op"] not in OPERATIONS and line["op"] not in TOKEN_OPERATIONS:
        raise Inexpressible(f"op: {line['op']!r} is not expressed")
    gpu, shape = gpu_of(line), shape_of(line)
    used, nodes = whole(line, "gpus_per_node"), whole(line, "nodes")
    if used * nodes != whole(line, "gpus"):
        raise Inexpressible(f"gpus: {line['gpus']} are not {nodes} x {used}")
    if used > shape[0]:
        raise Inexpressible(f"gpus_per_node: {used} of {shape[0]}")
    keys, nics = network_of(line, machines), nics_of(line, shape[0])
    candidates = [machine for machine in machines
                  if machine.gpu == gpu and machine.shape == shape]
    if not candidates:
        raise Inexpressible(f"intra_link: no machine has {gpu} with {line['intra_link']!r}")
    crosses = nodes * shape[0] > shape[1]
    if crosses and not nics:
        raise Inexpressible(f"nic: {line['nic']!r} says no rate")
    best = min(candidates, key=lambda machine: (nics is not None and machine.nics != nics,
                                                bool(machine.lacks(keys)), machine.name))
    own = nics if crosses and best.nics != nics else None
    network = best.lacks(keys) if crosses else {}
    if line["op"] in TOKEN_OPERATIONS:
        options, costs, apart = token_run(line, used * nodes)
        settings = {**network, **(costs if nodes > 1 else {})}
        if apart and not nics:
            raise Inexpressible(f"nic: {line['nic']!r} says no rate")
        if apart:
            own, nodes, used = nics if best.nics != nics else None, used * nodes, 1
        return Run(best.name, own, nodes, used, line["op"], tuple(settings.items()), used * nodes,
                   tuple(options.items()))
    settings = {**network, **library_of(line, best.architecture)}
    return Run(best.name, own, nodes, used, line["op"], tuple(settings.items()), used * nodes)


# --- What was measured -------------------------------------------------------------------------

def rounded(size, run):
    """The size as the program takes it; None for tokens, whose size it finds out."""
    if run.tokens:
        return None
    unit = 4 * (run.ranks if OPERATIONS[run.op].divides else 1)
    return size // unit * unit


def positive(text):
    """A number above 0, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if 0 < value < math.inf else None


def measured_of(line):
    """Time in us, from the bus bandwidth where none is published; None where neither is."""
    if positive(line["time_us"]):
        return positive(line["time_us"])
    busbw, factor = positive(line["busbw"]), OPERATIONS[line["op"]].factor(whole(line, "gpus"))
    return whole(line, "bytes") / (1e3 * busbw / factor) if busbw else None


def size_of(line):
    """Bytes of a line; of torch's all-to-all those of pplx's buffer."""
    if line["op"] != "alltoall_torch":
        return whole(line, "bytes")
    of = tokens_of(line, whole(line, "gpus"))
    return of["tokens"] * of["experts"] * (of["hidden"] + 4 * math.ceil(of["hidden"] / 128))
