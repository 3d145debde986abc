# SPDX-License-Identifier: GPL-2.0-only
"""What Megatron-LM, TorchTitan and NCCL make of the texts that `export --format` writes, by their
documentation: which ranks are a group, which layers a stage has, in which order passes go."""

import pathlib
import re
import subprocess
import sys
import tomllib
import types

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
            # scatter_to_sequence_parallel_region (megatron/core/tensor_parallel/mappings.py).
            "equal parts of a rank's sequence for each rank of tp":
                "--sequence-parallel" not in self.options or
                self.number("--seq-length") // cp % tp == 0,
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


# What torch.distributed.pipelining (schedules.py) asks of a schedule: whether a rank has one stage
# (PipelineScheduleSingle) or several (PipelineScheduleMulti), how many microbatches there are at
# least for each stage, and whether a stage may be a compiled module (OptimizedModule).
PIPELINING = {"1F1B": ("one", 1, True), "GPipe": ("one", 0, True),
              "Interleaved1F1B": ("several", 0, True), "LoopedBFS": ("several", 0, True),
              "InterleavedZeroBubble": ("several", 0, False),
              "ZBVZeroBubble": ("two", 0, False), "DualPipeV": ("two", 1, False)}


class Titan(Framework):
    """v0.2.2, which reads TOML."""

    SCHEDULES = {"1F1B": "1f1b", "GPipe": "gpipe", "Interleaved1F1B": "dorapp",
                 "LoopedBFS": "breadth-first", "InterleavedZeroBubble": "zb1p",
                 "ZBVZeroBubble": "zbv", "DualPipeV": "dualpipev"}
    HEAD = "output"

    def __init__(self, text, drawn):
        super().__init__(text, drawn)
        self.tables = self.read(text)
        self.set = self.tables["parallelism"]

    @staticmethod
    def read(text):
        return tomllib.loads(text)

    def numbering(self):
        tp, cp = self.set["tensor_parallel_degree"], self.set["context_parallel_degree"]
        pp = self.set["pipeline_parallel_degree"]
        replicate = self.set["data_parallel_replicate_degree"]
        shard = self.set["data_parallel_shard_degree"]
        dense = {"tp": tp, "cp": cp, "ep": 1, "pp": pp, "dp": replicate * shard}
        ep = self.set.get("expert_parallel_degree", 1)
        etp = self.expert_tensor(tp, ep)
        assert etp in (1, tp)
        # The mesh of experts cuts what shares: (pp, dp_replicate, efsdp, ep, etp).
        assert shard * cp * tp % (ep * etp) == 0
        experts = {"tp": etp, "cp": 1, "ep": ep, "pp": pp,
                   "dp": self.world // (etp * ep * pp)}
        return "tp-cp-ep-dp-pp".split("-"), dense, experts

    def expert_tensor(self, tp, ep):
        return self.set.get("expert_tensor_parallel_degree", 1) if ep > 1 else tp

    def replicas(self):
        shares = self.set["data_parallel_shard_degree"] * self.set["context_parallel_degree"] > 1
        return self.set["data_parallel_replicate_degree"] if shares else 0

    def layers(self):
        return [sum(name.startswith("layers.") for name in part)
                for part in self.set["module_fqns_per_model_part"]]

    def schedule(self):
        return self.set.get("pipeline_parallel_schedule", "1F1B")

    def passes(self):
        return self.SCHEDULES[self.schedule()]

    def recomputation(self):
        table = self.tables["activation_checkpoint"]
        assert table.get("selective_ac_option") == ("op" if table["mode"] == "selective" else None)
        return table["mode"]

    def batch(self):
        """Sequences of a step and of a microbatch, microbatches of a pass through the pipeline, and
        how many such passes a step has."""
        training, data = self.tables["training"], self.data()
        local = training["local_batch_size"]
        micro = (self.set["pipeline_parallel_microbatch_size"]
                 if self.set["pipeline_parallel_degree"] > 1 else local)
        whole = training["global_batch_size"]
        assert whole % (local * data) == 0 and local % micro == 0
        return whole, micro, local // micro, whole // (local * data)

    def data(self):
        return (self.set["data_parallel_replicate_degree"] *
                self.set["data_parallel_shard_degree"])

    def refusals(self, model):
        """What of its checks, and of PyTorch's, does not hold."""
        return [text for text, holds in self.checks(model).items() if not holds]

    def checks(self, model):
        tp, cp, pp = (self.set[f"{kind}_parallel_degree"]
                      for kind in ("tensor", "context", "pipeline"))
        ep = self.set.get("expert_parallel_degree", 1)
        checks = {
            # A rank of tp views its part of the projection as whole heads.
            "heads over tp": model["heads"] % tp == 0 and model["kv_heads"] % tp == 0,
            "experts over ep": ep == 1 or model["experts"] % ep == 0,
            **self.own_checks(tp, cp, pp, ep),
        }
        if pp > 1:
            stages, least, compiled = PIPELINING[self.schedule()]
            parts = len(self.set["module_fqns_per_model_part"])
            microbatches = self.batch()[2]
            checks.update({
                "stages of a schedule": parts % pp == 0 and {
                    "one": parts == pp, "two": parts == 2 * pp,
                    "several": parts >= 2 * pp}[stages],
                "microbatches for stages": microbatches >= least * parts,
                # Rounds of pp or more (Interleaved1F1B, InterleavedZeroBubble).
                "whole rounds": stages != "several" or self.schedule() == "LoopedBFS" or
                    microbatches % max(1, microbatches // pp) == 0,
                "stages that are not compiled": compiled or not self.wraps_compiled(),
            })
        return checks

    def wraps_compiled(self):
        return self.tables.get("compile", {}).get("enable", False)

    def own_checks(self, tp, cp, pp, ep):
        """Of parallelize_llama() and the other models' (seq_len_divisor), and parallel_dims.py."""
        shard = self.set["data_parallel_shard_degree"]
        alone = shard == 1 and self.set["data_parallel_replicate_degree"] > 1 and cp == 1
        return {
            "a sequence over tp and twice cp":
                self.tables["training"]["seq_len"] % (2 * tp * cp) == 0,
            "DDP alone": not alone or tp * pp * ep == 1,
            "DeepEP with whole experts":
                self.set.get("expert_parallel_comm_backend") != "deepep" or
                (ep > 1 and self.expert_tensor(tp, ep) == 1),
            "asynchronous tp of a compiled model":
                not self.set.get("enable_async_tensor_parallel") or
                "model" in self.tables["compile"]["components"],
        }


class Table:
    """A part of a configuration, which takes any name."""

    def __getattr__(self, name):
        self.__dict__[name] = Table()
        return self.__dict__[name]


class TitanMain(Titan):
    """main of 2026-08-21, which is configured in Python."""

    HEAD = "lm_head"

    @staticmethod
    def read(text):
        """Runs the file as Python, with the classes that it imports by their names."""
        module = "torchtitan.distributed.activation_checkpoint"
        policies = types.ModuleType(module)
        for name in ("SelectiveAC", "FullAC", "MemoryBudgetAC"):
            setattr(policies, name, types.SimpleNamespace(Config=lambda name=name: name))
        before = dict(sys.modules)
        sys.modules.update({"torchtitan": types.ModuleType("torchtitan"),
                            "torchtitan.distributed": types.ModuleType("torchtitan.distributed"),
                            module: policies})
        try:
            names = {}
            exec(compile(text, "plan.py", "exec"), names)  # pylint: disable=exec-used
            config = Table()
            assert names["apply_plan"](config) is config
        finally:
            sys.modules.clear()
            sys.modules.update(before)
        return {table: vars(value) if isinstance(value, Table) else value
                for table, value in vars(config).items()}

    def expert_tensor(self, tp, ep):
        """Experts take whole ranks of tp, and are split over them without ep."""
        return tp if ep == 1 else 1

    def recomputation(self):
        return {"SelectiveAC": "selective", "FullAC": "full",
                None: "none"}[self.tables["activation_checkpoint"]]

    def batch(self):
        training = self.tables["training"]
        sequence = training["max_context_length"]
        micro = training["num_tokens_per_microbatch_per_dp_rank"]
        passes = (self.set["num_pp_microbatches"]
                  if self.set["pipeline_parallel_degree"] > 1 else 1)
        step = training["num_tokens_per_train_step"]
        assert micro % sequence == 0 and step % (micro * passes * self.data()) == 0
        return (step // sequence, micro // sequence, passes,
                step // (micro * passes * self.data()))

    def wraps_compiled(self):
        return False  # Module.compile() leaves the type as it is

    def own_checks(self, tp, cp, pp, ep):
        """Of Trainer.Config, CompileConfig and ParallelDims, and of equal parts of the tokens."""
        training, compiled = self.tables["training"], self.tables.get("compile", {})
        tokens = training["num_tokens_per_microbatch_per_dp_rank"]
        return {
            "tokens over tp, and twice cp": tokens % (tp * (1 if cp == 1 else 2 * cp)) == 0,
            # Trainer.Config._validate_cuda_graphs(), for PyTorch's all-to-all and DeepEP.
            "no CUDA graphs with a pipeline or experts":
                (pp == 1 and ep == 1) or training.get("disable_cuda_graphs") is True,
            "asynchronous tp of a compiled model":
                not compiled.get("enable_async_tensor_parallel") or
                (compiled["enable"] and "model" in compiled["components"]),
        }


class Nccl:
    """Which algorithms and protocols NCCL 2.30.7 can choose among, by ncclTopoTuneModel() of
    src/graph/tuning.cc and updateCollCostTable() of src/enqueue.cc."""

    FUNCTIONS = ("broadcast", "reduce", "allgather", "reducescatter", "allreduce")
    ALGORITHMS = ("tree", "ring", "collnetdirect", "collnetchain", "nvls", "nvlstree", "pat")
    PROTOCOLS = ("ll", "ll128", "simple")

    def __init__(self, values):
        self.algorithms = self.listed(values.get("NCCL_ALGO", ""), self.ALGORITHMS)
        self.protocols = self.listed(values.get("NCCL_PROTO", ""), self.PROTOCOLS)
        # Which by default depends on how GPUs and NICs are joined.
        if not values.get("NCCL_PROTO"):
            for words in self.protocols.values():
                words.discard("ll128")

    def listed(self, text, words):
        """As parseList() reads it: a list for all functions, lists for some of them."""
        lists = {function: set(words) for function in self.FUNCTIONS}
        for index, entry in enumerate(filter(None, text.lower().split(";"))):
            prefix, _, names = entry.rpartition(":")
            assert prefix or index == 0, text
            assert not prefix or prefix in self.FUNCTIONS, text
            listed = set(names.split(","))
            assert listed <= set(words), text
            for function in [prefix] if prefix else self.FUNCTIONS:
                lists[function] = set(listed)
        return lists

    @staticmethod
    def runs(algorithm, function, servers, gpus, machine, plain):
        """`machine` is what it has of "nvls" and "collnet"; `plain` whether the type is one that
        switches add up."""
        nvls = "nvls" in machine and plain and gpus > 4
        collnet = "collnet" in machine and plain and servers > 1
        if function in ("broadcast", "reduce"):
            return algorithm == "ring"
        gathers = function != "allreduce"
        return {"ring": True,
                "tree": not gathers,
                # That switches gather is for the network's plugin to say.
                "collnetdirect": not gathers and collnet and gpus <= 8,
                "collnetchain": not gathers and collnet and gpus <= 8,
                "nvls": nvls and (servers == 1 or (collnet and not gathers)),
                "nvlstree": not gathers and nvls and servers > 1,
                "pat": gathers and plain and servers > 1 and gpus == 1}[algorithm]

    def choices(self, function, servers, gpus, machine, plain):
        return {(algorithm, protocol)
                for algorithm in self.algorithms[function]
                for protocol in self.protocols[function]
                if self.runs(algorithm, function, servers, gpus, machine, plain) and
                (algorithm in ("ring", "tree") or protocol == "simple")}


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
