# SPDX-License-Identifier: GPL-2.0-only
"""What Megatron-LM, TorchTitan and NCCL make of the texts that `export --format` writes, by their
documentation: which ranks are a group, which layers a stage has, in which order passes go."""

import pathlib
import re
import subprocess
import tomllib

FOLDER = pathlib.Path(__file__).resolve().parent


def option_list(name):
    """Version, and words (if any) by name."""
    lines = (FOLDER / f"{name}.options").read_text(encoding="ascii").splitlines()
    comments = [line for line in lines if line.startswith("#")]
    found = re.search(r"options of (\S+ \S+), commit (\w+) of (\S+):", comments[1])
    return found.groups(), {line.split()[0]: line.split()[1:] for line in lines[len(comments):]}


def bash(script, text, path):
    """What bash prints after it has sourced the text, split at zeros."""
    path.write_text(text, encoding="utf-8")
    done = subprocess.run(["bash", "-euc", f'source "$1"; {script}', "bash", str(path)],
                          check=True, capture_output=True, text=True)
    assert not done.stderr, done.stderr
    return done.stdout.split("\0")[:-1]


def numbers(text):
    """"0-3,8-12 step 4" as the numbers."""
    result = []
    for part in text.split(","):
        first, last, step = re.fullmatch(r"(\d+)(?:-(\d+)(?: step (-?\d+))?)?", part).groups()
        run = range(int(first), int(last or first) + (1 if int(step or 1) > 0 else -1),
                    int(step or 1))
        assert run[-1] == int(last or first)
        result += run
    return result


def places(text, nodes, per_node):
    """The GPU of every rank, numbered over all buildings of `nodes` servers; and whether nodes are
    what a launcher has to order."""
    gpus = {}
    for line in text.splitlines():
        node = re.fullmatch(r"# +node (.*) = building(\d+) server (.*)", line)
        if node:
            first = (int(node[2]) - 1) * nodes
            for index, server in zip(numbers(node[1]), numbers(node[3]), strict=True):
                for local in range(per_node):
                    gpus[index * per_node + local] = (first + server) * per_node + local
        server = re.fullmatch(r"# +building(\d+) server (.*) = ranks (\S+)(?:, each (-?\d+) "
                              r"further)?", line)
        if server:
            first = (int(server[1]) - 1) * nodes
            for index, number in enumerate(numbers(server[2])):
                for local, rank in enumerate(numbers(server[3])):
                    rank += index * int(server[4] or 0)
                    assert rank not in gpus
                    gpus[rank] = (first + number) * per_node + local
    assert sorted(gpus) == list(range(len(gpus)))
    return [gpus[rank] for rank in range(len(gpus))], "--nnodes" in text


class Framework:
    """Degrees, order of ranks and where they are."""

    def __init__(self, text, drawn):
        self.text = text
        found = re.search(r"on (\d+) nodes of (\d+) GPUs", " ".join(text.split()))
        self.nodes, self.per_node = map(int, found.groups())
        self.world = self.nodes * self.per_node
        self.gpus, self.launches = places(text, drawn.nodes, self.per_node)
        assert sorted(self.gpus) == list(range(self.world))
        assert self.launches != ("WORLD_SIZE" in text)

    def gpu(self, rank):
        return self.gpus[rank]

    def digits(self, order, sizes):
        """By rank, inner to outer."""
        result = []
        for rank in range(self.world):
            one = {}
            for name in order:
                rank, one[name] = divmod(rank, sizes[name])
            result.append(one)
        return result

    def group(self, digits, *within):
        """By GPU, what the members of its group have in common."""
        keys = [None] * self.world
        for rank, one in enumerate(digits):
            keys[self.gpu(rank)] = tuple(value for name, value in one.items()
                                         if name not in within)
        return keys

    def blocks(self, keys, size):
        """Groups cut into blocks of so many neighbouring ranks, by GPU."""
        seen = {}
        result = [None] * self.world
        for rank in range(self.world):
            gpu = self.gpu(rank)
            index = seen.get(keys[gpu], 0)
            seen[keys[gpu]] = index + 1
            result[gpu] = (keys[gpu], index // size)
        return result

    def groups(self):
        order, dense, experts = self.numbering()
        digits = self.digits(order, dense)
        groups = {name: self.group(digits, name) for name in ("tp", "cp", "pp", "dp")}
        groups["stage"] = [None] * self.world
        for rank, one in enumerate(digits):
            groups["stage"][self.gpu(rank)] = one["pp"]
        if experts:
            digits = self.digits(order, experts)
            groups["ep"] = self.group(digits, "ep")
            groups["edp"] = self.group(digits, "dp")
        if self.replicas():
            both = self.group(self.digits(order, dense), "cp", "dp")
            size = dense["cp"] * dense["dp"] // self.replicas()
            groups["shard"] = self.blocks(both, size)
        return groups


# What Megatron's validate_args (megatron/training/arguments.py) and the configurations made of its
# options (TransformerConfig, DistributedDataParallelConfig) ask for beside an option, or beside a
# word of it: one of these.
MEGATRON_NEEDS = [
    ("--overlap-param-gather", "--use-distributed-optimizer", "--use-megatron-fsdp"),
    ("--overlap-param-gather", "--overlap-grad-reduce"),
    ("--tp-comm-overlap", "--sequence-parallel"),
    ("--use-megatron-fsdp", "--ckpt-format fsdp_dtensor"),
    ("--ckpt-format fsdp_dtensor", "--use-megatron-fsdp"),
    # Nothing reads these otherwise.
    ("--data-parallel-sharding-strategy", "--use-megatron-fsdp"),
    ("--megatron-fsdp-grad-comm-dtype", "--use-megatron-fsdp"),
    ("--megatron-fsdp-main-grads-dtype", "--use-megatron-fsdp"),
    ("--num-distributed-optimizer-instances", "--use-distributed-optimizer",
     "--use-megatron-fsdp"),
    ("--expert-model-parallel-size", "--num-experts"),
    ("--moe-flex-dispatcher-backend", "--moe-token-dispatcher-type flex"),
    ("--overlap-moe-expert-parallel-comm", "--moe-token-dispatcher-type alltoall",
     "--moe-token-dispatcher-type flex"),
    ("--recompute-granularity full", "--recompute-method uniform", "--recompute-method block"),
    ("--recompute-granularity full", "--recompute-num-layers"),
    ("--recompute-method", "--recompute-granularity full"),
    ("--recompute-num-layers", "--recompute-granularity full"),
    ("--recompute-modules", "--recompute-granularity selective"),
    ("--recompute-modules moe_act", "--moe-grouped-gemm"),
    ("--microbatch-group-size-per-virtual-pipeline-stage",
     "--num-virtual-stages-per-pipeline-rank", "--pipeline-model-parallel-layout"),
]

# And none of what they refuse beside it, or do not read with it.
MEGATRON_EXCLUDES = [
    ("--use-megatron-fsdp", "--grad-reduce-in-bf16", "--ddp-bucket-size"),
    ("--cpu-offloading-num-layers", "--recompute-granularity"),
    ("--overlap-moe-expert-parallel-comm", "--recompute-granularity full",
     "--recompute-modules moe"),
    ("--pipeline-model-parallel-layout", "--num-virtual-stages-per-pipeline-rank",
     "--decoder-first-pipeline-num-layers", "--decoder-last-pipeline-num-layers",
     "--account-for-embedding-in-pipeline-split", "--account-for-loss-in-pipeline-split"),
    ("--decoder-first-pipeline-num-layers", "--account-for-embedding-in-pipeline-split",
     "--account-for-loss-in-pipeline-split"),
    ("--decoder-last-pipeline-num-layers", "--account-for-embedding-in-pipeline-split",
     "--account-for-loss-in-pipeline-split"),
]


class Megatron(Framework):
    def __init__(self, text, drawn, path):
        super().__init__(text, drawn)
        printed = bash(r'printf "%s\0" "${PLAN[@]}"', text, path)
        self.options = {}
        for word in printed:
            if word.startswith("--"):
                assert word not in self.options, word
                self.options[word] = []
                values = self.options[word]
            else:
                values.append(word)
        self.environment = dict(line.split("=", 1) for line in bash(
            r'printf "%s\0" "D=${CUDA_DEVICE_MAX_CONNECTIONS:-}"', text, path))

    def number(self, name, otherwise=None):
        return int(self.options[name][0]) if name in self.options else otherwise

    def degree(self, kind):
        return self.number(f"--{kind}-parallel-size", 1)

    def numbering(self):
        tp, cp = self.degree("tensor-model"), self.degree("context")
        pp = self.degree("pipeline-model")
        order = ("tp-cp-ep-pp-dp" if "--use-tp-pp-dp-mapping" in self.options
                 else "tp-cp-ep-dp-pp").split("-")
        dense = {"tp": tp, "cp": cp, "ep": 1, "pp": pp, "dp": self.world // (tp * cp * pp)}
        experts = None
        if "--num-experts" in self.options:
            ep = self.degree("expert-model")
            etp = self.number("--expert-tensor-parallel-size", tp)
            experts = {"tp": etp, "cp": 1, "ep": ep, "pp": pp, "dp": self.world // (etp * ep * pp)}
            # parallel_state.py: else the two must have equal data parallelism.
            assert order[-1] == "pp" or pp == 1 or experts["dp"] == dense["dp"]
        return order, dense, experts

    def replicas(self):
        strategy = self.options.get("--data-parallel-sharding-strategy")
        if strategy or "--use-distributed-optimizer" in self.options:
            return self.number("--num-distributed-optimizer-instances", 1)
        return 0

    def has(self, text):
        """Whether it has "--option", or "--option word" with the word among its own."""
        name, *words = text.split()
        return name in self.options and set(words) <= set(self.options[name])

    def refusals(self, model):
        """What of MEGATRON_NEEDS, MEGATRON_EXCLUDES and of its checks of numbers does not hold."""
        found = [row for row in MEGATRON_NEEDS
                 if self.has(row[0]) and not any(map(self.has, row[1:]))]
        found += [row for row in MEGATRON_EXCLUDES
                  if self.has(row[0]) and any(map(self.has, row[1:]))]
        return found + [text for text, holds in self.checks(model).items() if not holds]

    def checks(self, model):
        tp, cp, pp = (self.degree(kind) for kind in ("tensor-model", "context", "pipeline-model"))
        _, dense, experts = self.numbering()
        ep = self.degree("expert-model")
        chunks = len(self.layers()) // pp
        micro = self.number("--micro-batch-size") * dense["dp"]
        microbatches = self.number("--global-batch-size") // micro
        group = self.number("--microbatch-group-size-per-virtual-pipeline-stage", pp)
        instances = self.number("--num-distributed-optimizer-instances", 1)
        first = self.number("--decoder-first-pipeline-num-layers")
        last = self.number("--decoder-last-pipeline-num-layers")
        between = self.number("--num-layers") - (first or 0) - (last or 0)
        offloaded = self.number("--cpu-offloading-num-layers", 0)
        limit = self.environment["D"]
        overlaps = "--overlap-moe-expert-parallel-comm" in self.options
        return {
            "heads over tp": model["heads"] % tp == 0,
            "keys over tp": model["kv_heads"] % tp == 0 or tp % model["kv_heads"] == 0,
            "two parts of a sequence for each rank of cp":
                cp == 1 or self.number("--seq-length") % (2 * cp) == 0,
            "experts and tp with sequence parallelism":
                not experts or tp == 1 or "--sequence-parallel" in self.options,
            "whole experts over ep": ep == 1 or self.number("--num-experts") % ep == 0,
            "whole microbatches": self.number("--global-batch-size") % micro == 0,
            "layers in the ends": first != 0 and last != 0,
            "layers between the ends, or nothing between":
                first is None or bool(between) == (pp > 2) and (pp == 2 or
                                                                between % (pp - 2) == 0),
            "virtual stages in a pipeline": chunks == 1 or pp > 1,
            "a round of pp microbatches at least, and no more than there are":
                chunks == 1 or pp <= group <= microbatches,
            "a last round of pp microbatches at least":
                chunks == 1 or not 0 < microbatches % group < pp,
            "some layers offloaded, without a pipeline":
                offloaded == 0 or offloaded < self.number("--num-layers") and pp == 1,
            "whole instances of the optimizer":
                dense["cp"] * dense["dp"] % instances == 0,
            "whole instances of the experts' optimizer":
                not experts or experts["dp"] % instances == 0,
            "overlap of experts over ep": not overlaps or ep > 1,
            "overlap of experts in virtual stages": not overlaps or pp == 1 or chunks > 1,
            "overlap of experts with one MTP layer":
                not overlaps or self.number("--mtp-num-layers", 0) <= 1,
            "more connections for Megatron-FSDP":
                "--use-megatron-fsdp" not in self.options or limit != "1",
            "one connection with tp or cp, before Blackwell":
                tp * cp == 1 or limit == "1" or overlaps or
                "--use-megatron-fsdp" in self.options,
        }

    def layers(self):
        """By position."""
        total, pp = self.number("--num-layers"), self.degree("pipeline-model")
        layout = self.options.get("--pipeline-model-parallel-layout")
        if layout:
            stages = self.unrolled(layout[0]).split("|")
            assert stages[0].startswith("E") and stages[-1].endswith("L")
            assert "".join(stages).count("m") == self.number("--mtp-num-layers", 0)
            return [stage.count("t") for stage in stages]
        first = self.number("--decoder-first-pipeline-num-layers")
        if first is not None:
            last = self.number("--decoder-last-pipeline-num-layers")
            rest = total - first - last
            return [first, *[rest // (pp - 2)] * (pp - 2), last] if pp > 2 else [first, last]
        chunks = self.number("--num-virtual-stages-per-pipeline-rank", 1)
        begin = int("--account-for-embedding-in-pipeline-split" in self.options)
        end = int("--account-for-loss-in-pipeline-split" in self.options)
        assert (total + begin + end) % (pp * chunks) == 0
        counts = [(total + begin + end) // (pp * chunks)] * (pp * chunks)
        counts[0] -= begin
        counts[-1] -= end
        return counts

    @staticmethod
    def unrolled(layout):
        """"(t*2|)*3" as "tt|tt|tt|": what stands in parentheses first, then single letters."""
        layout = re.sub(r"\(([^)]+)\)\*(\d+)", lambda m: m[1] * int(m[2]), layout)
        return re.sub(r"(.)\*(\d+)", lambda m: m[1] * int(m[2]), layout)

    def passes(self):
        """Name and rounds of the schedule that it runs."""
        chunks = len(self.layers()) // self.degree("pipeline-model")
        group = self.number("--microbatch-group-size-per-virtual-pipeline-stage",
                            self.degree("pipeline-model"))
        if "--overlap-moe-expert-parallel-comm" in self.options:
            return "1f1b-overlapped", group
        return ("1f1b", 0) if chunks == 1 else ("dorapp", group)


class Titan(Framework):
    SCHEDULES = {"1F1B": "1f1b", "GPipe": "gpipe", "Interleaved1F1B": "dorapp",
                 "LoopedBFS": "breadth-first", "InterleavedZeroBubble": "zb1p",
                 "ZBVZeroBubble": "zbv", "DualPipeV": "dualpipev"}

    def __init__(self, text, drawn):
        super().__init__(text, drawn)
        self.tables = tomllib.loads(text)
        self.set = self.tables["parallelism"]

    def numbering(self):
        tp, cp = self.set["tensor_parallel_degree"], self.set["context_parallel_degree"]
        pp = self.set["pipeline_parallel_degree"]
        replicate = self.set["data_parallel_replicate_degree"]
        shard = self.set["data_parallel_shard_degree"]
        dense = {"tp": tp, "cp": cp, "ep": 1, "pp": pp, "dp": replicate * shard}
        ep = self.set.get("expert_parallel_degree", 1)
        etp = self.set.get("expert_tensor_parallel_degree", 1) if ep > 1 else tp
        assert etp in (1, tp)
        # The mesh of experts cuts what shares: (pp, dp_replicate, efsdp, ep, etp).
        assert shard * cp * tp % (ep * etp) == 0
        experts = {"tp": etp, "cp": 1, "ep": ep, "pp": pp,
                   "dp": self.world // (etp * ep * pp)}
        return "tp-cp-ep-dp-pp".split("-"), dense, experts

    def replicas(self):
        shares = self.set["data_parallel_shard_degree"] * self.set["context_parallel_degree"] > 1
        return self.set["data_parallel_replicate_degree"] if shares else 0

    def layers(self):
        return [sum(name.startswith("layers.") for name in part)
                for part in self.set["module_fqns_per_model_part"]]

    def passes(self):
        return self.SCHEDULES[self.set.get("pipeline_parallel_schedule", "1F1B")]


def order(name, ranks, chunks, group, microbatches):
    """Passes of every rank, as doc/schedules.md has them, of schedules without split backwards."""
    orders = []
    steps = microbatches * chunks
    for rank in range(ranks):
        warmup = {"gpipe": steps, "breadth-first": steps, "1f1b": ranks - 1 - rank}.get(
            name, (chunks - 1) * group + 2 * (ranks - 1 - rank))
        warmup = min(warmup, steps)
        around = microbatches if name in ("gpipe", "breadth-first", "1f1b") else group

        def step(number, forward):
            within = number % (around * chunks)
            chunk = within // around
            return ("F" if forward else "B", chunk if forward else chunks - 1 - chunk,
                    number // (around * chunks) * around + within % around)

        one = []
        for number in range(steps + warmup):
            if number < steps:
                one.append(step(number, True))
            if number >= warmup:
                one.append(step(number - warmup, False))
        orders.append(one)
    return orders
