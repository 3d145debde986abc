#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Turns a table of published training iterations into rows for `scaleacross iterations`.

The table has a line for each run, with the columns that COLUMNS names; doc/compute.md says what
they hold. A run becomes a row by rules for its source, its software and its words, never by itself.
What no rule expresses is named on stderr with the reason, and has no row.
"""

import argparse
import math
import os
import pathlib
import re
import sys

import measuring
import published_layouts
import published_notes
from published_notes import Inexpressible

BASE = pathlib.Path(__file__).resolve().parent / "published-row.yaml"
DATA = BASE.parents[1] / "contrib" / "scaleacross" / "data"

COLUMNS = ["id", "source", "date", "model", "gpu", "gpus", "precision", "seq", "gbs", "mbs", "tp",
           "pp", "cp", "ep", "etp", "vp", "dp", "fsdp_sharding", "recompute", "overlap_notes",
           "seconds", "notes"]
# What a row may set, in the order of its columns.
MODEL_KEYS = ["layers", "hidden", "heads", "dense_ffn", "vocabulary", "gated_mlp", "tied_embedding"]
SITE = "cluster.buildings.0."


# --- Words ----------------------------------------------------------------------------------------

MODELS = {
    "DeepSeek-V3-671B": "deepseek-v3", "GPT-OSS-120B": "gpt-oss-120b", "GPT-OSS-20B": "gpt-oss-20b",
    "GPT3-175B": "gpt3-175b", "GPT3-20B": "gpt3-20b", "GPT3-5B": "gpt3-5b",
    "Grok1-314B": "grok1-314b", "Kimi-K2-1T": "kimi-k2", "Llama2-7B": "llama2-7b",
    "Llama2-13B": "llama2-13b", "Llama2-70B": "llama2-70b", "Llama3-8B": "llama3-8b",
    "Llama3-70B": "llama3-70b", "Llama3.1-8B": "llama3-8b", "Llama3.1-70B": "llama3-70b",
    "Llama3.1-405B": "llama3-405b", "Llama4-Maverick-400B": "llama4-maverick",
    "Mixtral-8x7B": "mixtral-8x7b", "Nemotron-8B": "nemotron-8b", "Nemotron-22B": "nemotron-22b",
    "Nemotron4-15B": "nemotron4-15b", "Nemotron4-340B": "nemotron4-340b",
    "Qwen3-235B-A22B": "qwen3-235b-a22b", "Qwen3-30B-A3B": "qwen3-30b-a3b",
    **{f"MPT-{size}": f"mpt-{size.lower()}"
       for size in ("125M", "350M", "760M", "1B", "3B", "7B", "13B", "30B", "70B")}}

# Layers, hidden size and heads of the GPT models of Megatron's papers: SC21 (arXiv:2104.04473,
# table 1; 310.1B to 1008B with it), arXiv:2205.05198 (table 3) and Megatron-LM's README of 2024.
GPT = {"1.7B": (24, 2304, 24), "3.6B": (30, 3072, 32), "7.5B": (36, 4096, 32),
       "18.4B": (40, 6144, 48), "39.1B": (48, 8192, 64), "76.1B": (60, 10240, 80),
       "145.6B": (80, 12288, 96), "310.1B": (96, 16384, 128), "529.6B": (105, 20480, 128),
       "1008B": (128, 25600, 160)}
GPT_2022 = {"22B": (48, 6144, 64), "175B": (96, 12288, 96), "530B": (105, 20480, 128),
            "1T": (128, 25600, 160)}
GPT_2024 = {"1.7B": (24, 2048, 16), "7.1B": (30, 4096, 32), "16B": (32, 6144, 48),
            "32B": (48, 7168, 56), "70B": (84, 8192, 64)}

# The preset, what a run's words add to it, and the GPUs of one scale-up network.
GPUS = {
    "A100-SXM-80": ("a100-80g", {}, 8), "B200-SXM": ("b200", {}, 8), "B300-SXM": ("b300", {}, 8),
    "GB200-NVL72": ("gb200", {}, 72), "GB300-NVL72": ("gb300", {}, 72),
    "H100-SXM-80": ("h100", {}, 8), "H200-SXM-141": ("h200", {}, 8),
    "H100-96 HBM2e 2.4TB/s 500W": ("h100-96g", {}, 8),
    "H100-SXM-80 (A3 Mega)": ("h100", {"nic_rate": "200Gbps"}, 8),
    "H200-SXM-141 (A3 Ultra)": ("h200", {}, 8),
    "MI350X": ("mi350x", {}, 8), "MI355X": ("mi355x", {}, 8)}

PRECISIONS = {"BF16": "bf16", "FP16": "fp16", "FP8": "fp8-delayed", "FP8 hybrid": "fp8-delayed",
              "FP8-CS": "fp8-current", "FP8 tensorwise": "fp8-current",
              "FP8 rowwise": "fp8-rowwise", "MXFP8": "mxfp8", "NVFP4": "nvfp4"}

# What is kept for backward, but for lists of modules.
RECOMPUTE = {"": "none", "none": "none", "none listed": "none", "full": "full",
             "selective (core attention)": "none",
             "selective + sequence parallel": "none",
             "selective (every 2nd layer op policy)": "alternate", "selective per op": "alternate",
             "selective": "none", "yes (PP local batch 8)": "full"}

# Megatron-Core's modules. Attention is flash attention wherever core attention is recomputed by
# itself, and keeps no scores: nothing is left to do.
RECOMPUTE_MODULES = {"core_attn": None, "layernorm": "norm", "moe_act": "activation",
                     "mla_up_proj": "mla-up-proj", "mlp": "mlp", "moe": "moe",
                     "shared_experts": "shared-experts"}


def check_source(run):
    """What a source contradicts itself in, or calls a defect of the software."""
    if run["model"] == "GPT-OSS-120B" and "(26.06.01)" in run["source"]:
        raise Inexpressible("source: its footnote calls the figure a regression that the next "
                            "container mends (cudnn-frontend, issue 256)")
    if run["model"] == "GPT-OSS-120B" and run["gpu"] == "B200-SXM" and "(25.11)" in run["source"]:
        raise Inexpressible("ep: 8 in the table, 64 in the recipe of its release (v0.2.0), and a "
                            "microbatch takes as long as with 64 in 26.02, not as with 8 in 26.02.01")


def check_date(run):
    if not re.fullmatch(r"([0-9]{4}(-(0[1-9]|1[0-2]))?)?", run["date"]):
        raise Inexpressible(f"date: {run['date']!r} is no year and month, such as 2025-06")


def model_of(run, source):
    word = run["model"]
    keys = {}
    if found := re.fullmatch(r"(.*) proxy (\d+) layers", word):
        word, keys["layers"] = found[1], found[2]
    if word in MODELS:
        return {"model": MODELS[word], **{f"model.{k}": v for k, v in keys.items()}}
    shape = word.startswith("GPT-") and source.shapes.get(word[len("GPT-"):])
    if not shape:
        raise Inexpressible(f"model: {word!r} is not known of {source.name}")
    layers, hidden, heads = shape
    keys = {"layers": layers, "hidden": hidden, "heads": heads, "dense_ffn": 4 * hidden,
            "gated_mlp": "false", "vocabulary": source.vocabulary[0],
            "tied_embedding": source.vocabulary[1], **keys}
    return {f"model.{k}": str(v) for k, v in keys.items()}


def word_of(run, column, words, source=None):
    if source and run[column] in source.words.get(column, {}):
        return source.words[column][run[column]]
    if run[column] not in words:
        raise Inexpressible(f"{column}: {run[column]!r} is not expressed")
    return words[run[column]]


OFFLOAD = re.compile(r"CPU offload of (?:activations, )?([1-9]\d*) layers(?: in recipe)?")


def modules_of(text):
    """The modules of a list of Megatron's, in our words; None of a text that is no such list."""
    found = re.fullmatch(r"(modules )?(\w+(?:\s*[,+]\s*\w+)*)", text)
    if not found:
        return None
    names = re.split(r"\s*[,+]\s*", found[2])
    unknown = [name for name in names if name not in RECOMPUTE_MODULES]
    if unknown and not found[1] and len(names) == 1:
        return None  # a word of RECOMPUTE, or of none
    if unknown:
        raise Inexpressible(f"recompute: module {unknown[0]!r} of {text!r} is not expressed")
    ours = (RECOMPUTE_MODULES[name] for name in names)
    return list(dict.fromkeys(module for module in ours if module))


def recompute_of(run, source):
    if found := re.fullmatch(r"full, ([1-9]\d*) layers", run["recompute"]):
        return {"plan.recompute": "full", "plan.recompute_layers": found[1]}
    if found := OFFLOAD.fullmatch(run["recompute"]):
        if whole(run, "pp", 1) > 1:
            raise Inexpressible(f"recompute: {run['recompute']!r} with pp {run['pp']} is not "
                                "expressed")
        return {"plan.recompute": "none", "plan.offload_layers": found[1]}
    if (modules := modules_of(run["recompute"])) is not None:
        return {"plan.recompute": "+".join(modules) or "none"}
    return {"plan.recompute": word_of(run, "recompute", RECOMPUTE, source)}


# --- Sharding -------------------------------------------------------------------------------------

def sharding_of(run, source):
    """plan.sharding and plan.reshard."""
    word = run["fsdp_sharding"]
    if not word:
        return source.sharding
    if word == "dist-opt":
        return {"plan.sharding": "zero1"}
    if word == "FSDP SHARD_GRAD_OP":
        return {"plan.sharding": "fsdp", "plan.reshard": "false"}
    dp = whole(run, "dp", 1)
    ranks = dp * whole(run, "cp", 1)
    resharded = {"plan.sharding": "fsdp", "plan.reshard": "true"}
    if word in ("FSDP FULL_SHARD", "FSDP2 full", "Megatron FSDP"):
        return resharded
    if word == "FSDP+DP (split not published)" and source.shards:
        return {"plan.sharding": "hsdp", "plan.reshard": "true", "plan.shard_ranks": source.shards}
    found = re.fullmatch(r"(?:Megatron )?FSDP2? (\d+)(?: \(8 in node x \d+\))?(?: x DP (\d+))?",
                         word)
    if found and int(found[1]) in (ranks, dp):
        return resharded
    if found and int(found[1]) * int(found[2] or 0) == ranks:
        return {"plan.sharding": "hsdp", "plan.reshard": "true", "plan.shard_ranks": found[1]}
    raise Inexpressible(f"fsdp_sharding: {word!r} is not expressed")


# --- Sources --------------------------------------------------------------------------------------

class Source:
    """What a source's runs have in common. `overlaps` says whether tensor-parallel communication
    goes beside its GEMMs where a run's notes do not."""

    def __init__(self, name, pattern, keys=None, sharding=None, overlaps=lambda run: False,
                 shapes=None, vocabulary=(51200, "true"), shards=0, words=None):
        self.name = name
        self.pattern = re.compile(pattern)
        self.keys = keys or {}
        self.sharding = sharding or {"plan.sharding": "zero1"}
        self.overlaps = overlaps
        self.shapes = shapes or {}
        self.vocabulary = vocabulary
        self.words = words or {}  # by column, what a word means there and not elsewhere
        self.shards = shards  # ranks that share parameters where a run's words do not say it

    def row_keys(self, run):
        return self.keys(run) if callable(self.keys) else self.keys


def always(run):
    return True


def not_nvfp4(run):
    return run["precision"] != "NVFP4"


WHOLE_GRADIENTS = "16TiB"  # one bucket, reduced after backward
DDP = {"plan.sharding": "ddp"}


def drops(run):
    """Whether experts drop and pad tokens to a capacity: by a run's notes, and Grok-1 as NVIDIA
    runs it (capacity factor 1)."""
    return (bool(re.search(r"(?<!no )token drop", run["notes"])) or
            run["model"].startswith("Grok1") or
            # MegatronTokenDropCallback of NeMo's recipe, as long as it is not with DeepEP.
            (run["model"].startswith("DeepSeek") and "25.05" in run["source"]))


def dispatcher_of(run):
    """What brings a run's tokens to their experts: what it says, and else what the recipe of its
    release has for its model and GPU."""
    if said := published_notes.value_of(run, "dispatcher"):
        return said
    if "dgxc-benchmarking" in run["source"] and not run["model"].startswith("GPT-OSS"):
        # NeMo's scripts/performance/llm: v2.3.0 (dgxc-benchmarking of May 2025) sets none; v2.4.0
        # DeepEP on H100.
        return ("deepep" if "DeepSeek" in run["model"] and run["gpu"].startswith("H100") and
                run["date"] >= "2025-08" and "25.05" not in run["source"] else "alltoall")
    # Megatron-Bridge's scripts/performance, of which notes say what is not the default. Of runs
    # here of which they say nothing: GPT-OSS has none before v0.5.0; DeepSeek-V3 and Qwen3 30B have
    # one on GB200 and GB300 from the beginning, on H100 from v0.3.0 (February 2026).
    if recorded_moe(run):
        return "hybridep"
    if run["overlap_notes"] or run["model"].startswith("GPT-OSS"):
        return "alltoall"
    return "hybridep" if run["gpu"].startswith("G") or run["date"] >= "2026-02" else "alltoall"


def megatron(run):
    by_nccl = whole(run, "ep", 1) > 1 and dispatcher_of(run) == "alltoall"
    stack = ("megatron-core-padded" if drops(run) else
             "megatron-core-nccl" if by_nccl else "megatron-core")
    return {"workload.stack": stack, "workload.gradients": "bf16"}


def sc21(run):
    # Whether gradients are reduced beside backward: the scripts published with the paper.
    return {"workload.stack": "megatron-2021", "workload.gradients": "bf16",
            **({"plan.bucket": WHOLE_GRADIENTS} if whole(run, "pp", 1) > 1 else {})}


def torchtitan(run):
    eager = published_notes.value_of(run, "compiled") == "no"
    return {"workload.stack": "torch-eager" if eager else "torch-compile",
            "workload.gradients": "fp32"}


def llm_foundry(run):
    # FlashAttention-2, and Triton's kernel with ALiBi.
    hopper = run["gpu"].startswith("H100")
    return {"workload.stack": "torch-fsdp", "workload.gradients": "bf16",
            **({SITE + "gpu.curve": "h100-flash2"} if hopper else {})}


SOURCES = [
    # maxtext/configure.sh of the same release: remat_policy=save_qkv_proj.
    Source("NVIDIA's dgxc-benchmarking, MaxText", r"dgxc-benchmarking:maxtext",
           {"workload.stack": "maxtext", "workload.gradients": "fp32",
            "plan.recompute": "full-but-qkv"},
           {"plan.sharding": "fsdp", "plan.reshard": "true"}),
    # paxml/configure.sh: FSDP=1 between servers, so that those of a server share.
    Source("NVIDIA's dgxc-benchmarking, PaxML", r"dgxc-benchmarking:paxml",
           {"workload.stack": "paxml", "workload.gradients": "fp32"}, shards=8),
    Source("NVIDIA's dgxc-benchmarking", r"dgxc-benchmarking", megatron, overlaps=always),
    Source("Megatron-Bridge", r"Megatron-Bridge", megatron, overlaps=not_nvfp4),
    Source("NeMo 24.07", r"NVIDIA/NeMo:", megatron, overlaps=always),
    Source("MLPerf, AMD", r"training_results.*AMD", megatron),
    Source("MLPerf", r"training_results", megatron, overlaps=always),
    Source("gpu-recipes", r"gpu-recipes", megatron, overlaps=always),
    Source("NeMo Automodel", r"Automodel", {"workload.stack": "torch-te",
                                            "workload.gradients": "bf16"}),
    Source("TorchTitan", r"torchtitan", torchtitan,
           # float8 scales by tensor, with its own magnitude; "selective" is its policy by operation.
           words={"precision": {"FP8": "fp8-current"}, "recompute": {"selective": "alternate"}}),
    Source("llm-foundry", r"llm-foundry", llm_foundry),
    Source("Megatron-LM's README", r"Megatron-LM README", megatron, shapes=GPT_2024,
           vocabulary=(131072, "false"), overlaps=always),
    Source("arXiv:2205.05198", r"2205\.05198",
           {"workload.stack": "megatron-2022", "workload.gradients": "bf16",
            "plan.bucket": WHOLE_GRADIENTS}, DDP, shapes=GPT_2022),
    Source("arXiv:2104.04473", r"2104\.04473", sc21, DDP, shapes=GPT),
    Source("vTrain", r"vTrain",
           {"workload.stack": "megatron-2021", "workload.gradients": "bf16",
            "plan.bucket": WHOLE_GRADIENTS, "plan.recompute": "full",
            SITE + "gpu.nic_rate": "100Gbps"}, DDP, shapes={**GPT, "175B": (96, 12288, 96)})]


def source_of(run):
    for source in SOURCES:
        if source.pattern.search(run["source"]):
            return source
    raise Inexpressible(f"source: no rule for {run['source']!r}")


# --- Rows -----------------------------------------------------------------------------------------

def whole(run, column, default=None):
    text = run[column]
    if not text and default is not None:
        return default
    if not re.fullmatch(r"[1-9]\d*", text):
        raise Inexpressible(f"{column}: {text!r} is no number")
    return int(text)


def node_of(gpus, domain):
    """GPUs of a scale-up network that the job fills evenly."""
    return max(n for n in range(1, min(gpus, domain) + 1) if gpus % n == 0)


def degrees_of(run):
    tp, pp, cp = (whole(run, column, 1) for column in ("tp", "pp", "cp"))
    ep = whole(run, "ep", 1)
    keys = {"plan.tp": tp, "plan.pp": pp, "plan.cp": cp, "plan.ep": ep}
    dp = whole(run, "gpus") / (tp * pp * cp)
    if whole(run, "dp", dp) != dp:
        raise Inexpressible(f"dp: {run['dp']} x tp {tp} x pp {pp} x cp {cp} are not the GPUs")
    chunks = whole(run, "vp", 1)
    if chunks > 1:
        keys |= {"plan.chunks": chunks, "plan.schedule": "interleaved"}
    return keys


def shipped(folder, name, key):
    """What a preset, or the one that it stands on, has of a key; None where neither has it."""
    while name:
        preset = (DATA / folder / f"{name}.yaml").read_text(encoding="utf-8")
        if found := re.search(rf"^{key}: (\S+)", preset, re.MULTILINE):
            return found[1]
        base = re.search(r"^preset: (\S+)$", preset, re.MULTILINE)
        name = base and base[1]
    return None


def number_of(row, key):
    """A number of the model that a row trains; 0 where it has none."""
    return int(row.get(f"model.{key}") or shipped("models", row.get("model"), key) or 0)


def layers_of(row):
    return number_of(row, "layers")


def experts_of(run, row):
    """plan.etp. Of a model without experts Megatron takes no ep, and etp is what it has by itself:
    tp, or 1 in recipes."""
    ep, tp = whole(run, "ep", 1), whole(run, "tp", 1)
    etp = whole(run, "etp", tp)
    if number_of(row, "experts") == 0:
        for column, usual in (("ep", (1,)), ("etp", (1, tp))):
            if whole(run, column, 1) not in usual:
                raise Inexpressible(f"{column}: {run[column]!r}, but model {run['model']!r} has no "
                                    "experts")
    elif etp != tp:
        return {"plan.etp": etp}
    return {}


def ends_of(row):
    """Embedding and head, counted as a layer each where the layers do not divide over the stages
    without them and do with them (Megatron's account_for_embedding_in_pipeline_split)."""
    positions = row["plan.pp"] * row.get("plan.chunks", 1)
    layers = layers_of(row)
    if layers % positions == 0 or (layers + 2) % positions != 0:
        return {}
    return {"plan.embedding_as_layer": "true", "plan.loss_as_layer": "true"}


def deepseek_recipe(run):
    """Whether a run is NeMo's or Megatron-Bridge's recipe of DeepSeek-V3."""
    return (run["model"].startswith("DeepSeek-V3") and
            source_of(run).name in ("NVIDIA's dgxc-benchmarking", "Megatron-Bridge"))


def layout_of(run, row):
    """plan.layers and modules of multi-token prediction by the layout that a run's notes give."""
    layout = published_notes.value_of(run, "layout")
    if not layout:
        return {}
    keys = published_layouts.keys_of(layout, row["plan.pp"] * row.get("plan.chunks", 1),
                                     layers_of(row))
    for word, modules in (("w/ MTP", True), ("w/o MTP", False)):
        if word in run["notes"] and modules != ("model.mtp_layers" in keys):
            raise Inexpressible(f"overlap_notes: layout {layout!r} contradicts {word!r} of notes: "
                                "m is a module of multi-token prediction (MTP)")
    return keys


def prediction_of(run, row):
    """DeepSeek-V3's module of multi-token prediction, which recipes train with it, and their layout
    of a pipeline of n positions, where notes give none: 64 / n layers on each, and on the last one
    with the module and the loss what is left of 61; until NeMo v2.3.0, and with 32 positions
    (Megatron-Bridge's Et|(tt|)*30mL), one less on the first."""
    if "plan.layers" in row or "w/o MTP" in run["notes"] or not deepseek_recipe(run):
        return {}
    keys = {"model.mtp_layers": 1}
    positions = row["plan.pp"] * row.get("plan.chunks", 1)
    each, layers = 64 // positions, layers_of(row)
    if positions > 1:
        counts = [each] * (positions - 1) + [layers - each * (positions - 1)]
        if "(v25.05" in run["source"] or positions == 32:
            counts[0], counts[-1] = each - 1, counts[-1] + 1
        if min(counts) < 0:
            raise Inexpressible(f"pp, vp: no recipe has a layout of {positions} positions")
        keys["plan.layers"] = "+".join(map(str, counts))
    return keys


def routing_of(run, row):
    """Dropped tokens; and Automodel's gate for benchmarks (FakeBalancedGate), by which the experts
    of a token are k that follow each other, one of E / k groups."""
    if source_of(run).name == "NeMo Automodel" and run["model"].startswith(("Qwen", "GPT-OSS",
                                                                           "DeepSeek")):
        return {"model.expert_groups": number_of(row, "experts") // number_of(row, "top_k"),
                "model.top_k_groups": 1}
    return {"workload.capacity_factor": 1} if drops(run) else {}


def dispatch_of(run):
    """DeepEP and its likes send a token to each server once."""
    once = whole(run, "ep", 1) > 1 and dispatcher_of(run) in ("deepep", "hybridep")
    return {"network.all_to_all": "once"} if once else {}


def recorded_moe(run):
    """Megatron-Bridge's MoE recipes for Blackwell where a run's notes say nothing: from June 2026
    on they record the whole iteration, dispatch by hybridep and overlap that."""
    return ("Megatron-Bridge" in run["source"] and run["date"] >= "2026-06" and
            run["gpu"][0] in "BG" and whole(run, "ep", 1) > 1 and not run["overlap_notes"])


def overlap_of(run):
    """Experts' exchanges beside the computing of another microbatch."""
    if published_notes.value_of(run, "exchanges") or recorded_moe(run):
        return {"plan.schedule": "1f1b-overlapped"}
    return {}


def graphs_of(run):
    """Recorded graphs: of the whole iteration, or of layers but for their experts (a graph of the
    router alone is none: what it saves is small)."""
    graphs = published_notes.value_of(run, "graphs") or ""
    if graphs == "iteration" or recorded_moe(run):
        # Those recipes of Megatron-Bridge that record a whole iteration have experts' GEMMs do what
        # is beside them (cutedsl_fused_grouped_mlp).
        fuses = "Megatron-Bridge" in run["source"] and whole(run, "ep", 1) > 1
        return {"workload.stack.cuda_graphs": "iteration",
                **({"workload.stack.fuses_experts": "true"} if fuses else {})}
    if "attn" in graphs.split("+"):
        return {"workload.stack.cuda_graphs": "layers"}
    return {}


def nic_of(run, row):
    """The rate of NICs that notes give, where the preset has another."""
    rate, key = published_notes.value_of(run, "nic_rate"), SITE + "gpu.nic_rate"
    if not rate or key in row or rate == shipped("gpus", row[SITE + "gpu"], "nic_rate"):
        return {}
    return {key: rate}


def tp_overlap_of(run, source):
    """Tensor-parallel communication beside its GEMMs, by notes, else by the source's recipes, of
    which NeMo's and Megatron-Bridge's of DeepSeek-V3 have tp_comm_overlap=False."""
    said = published_notes.value_of(run, "tp_overlap")
    beside = said == "on" if said else source.overlaps(run) and not deepseek_recipe(run)
    return {"plan.async_tp": "true"} if whole(run, "tp", 1) > 1 and beside else {}


def known_of(run, source, row):
    """What columns and the source say of the keys of notes, and where it stands."""
    _, gpu_keys, domain = GPUS[run["gpu"]]
    pp, vp = whole(run, "pp", 1), whole(run, "vp", 1)
    known = {"order": ("interleaved" if pp > 1 and vp > 1 else "1F1B", f"pp {pp} and vp {vp}"),
             "cp": (str(whole(run, "cp", 1)), f"cp {whole(run, 'cp', 1)}"),
             "format": ("FP8" if run["precision"].startswith("FP8") else run["precision"],
                        f"precision {run['precision']!r}"),
             "server": (f"{domain} GPUs", f"gpu {run['gpu']!r}, of which {domain} are joined")}
    if whole(run, "ep", 1) == 1:
        known["exchanges"] = ("none", "ep 1")
    if number_of(row, "experts") == 0:
        known["experts"] = ("none", f"model {run['model']!r}, which has no experts")
    if row.get("plan.bucket") == WHOLE_GRADIENTS:
        known["gradients"] = ("after backward", f"source {source.name!r}, which reduces gradients "
                              "after backward")
    if rate := row.get(SITE + "gpu.nic_rate"):
        place = f"gpu {run['gpu']!r}" if "nic_rate" in gpu_keys else f"source {source.name!r}"
        known["nic_rate"] = (rate, f"{place}, which has {rate}")
    return known


def row_of(run):
    """The keys and values of a run's row."""
    source = source_of(run)
    check_source(run)
    check_date(run)
    gpus = whole(run, "gpus")
    preset, gpu_keys, domain = word_of(run, "gpu", GPUS)
    try:
        measuring_time = 0 < float(run["seconds"]) < math.inf
    except ValueError:
        measuring_time = False
    if not measuring_time:
        raise Inexpressible(f"seconds: {run['seconds']!r} is no time")
    row = {"name": run["id"], "seconds": run["seconds"],
           **model_of(run, source),
           "workload.sequence": whole(run, "seq"), "workload.global_batch": whole(run, "gbs"),
           "workload.precision": word_of(run, "precision", PRECISIONS, source),
           SITE + "gpus": gpus, SITE + "gpu": preset, SITE + "gpus_per_node": node_of(gpus, domain),
           **{f"{SITE}gpu.{key}": value for key, value in gpu_keys.items()},
           **degrees_of(run), "plan.microbatch": whole(run, "mbs"),
           **sharding_of(run, source),
           **recompute_of(run, source),
           **source.row_keys(run), **dispatch_of(run), **overlap_of(run), **graphs_of(run)}
    published_notes.check(run, row["workload.stack"], known_of(run, source, row))
    row |= experts_of(run, row)
    row |= routing_of(run, row)
    row |= nic_of(run, row)
    row |= layout_of(run, row)
    row |= prediction_of(run, row)
    row |= tp_overlap_of(run, source)
    if int(row.get("plan.offload_layers", 0)) >= layers_of(row):
        raise Inexpressible(f"recompute: {run['recompute']!r} of a model with {layers_of(row)} "
                            "layers")
    row |= {} if "plan.layers" in row else ends_of(row)
    return {key: str(value) for key, value in row.items()}


def rows_of(table):
    """Rows, and (id, reason) of the runs without one."""
    rows, left = [], []
    for run in table:
        try:
            rows.append(row_of(run))
        except Inexpressible as reason:
            left.append((run["id"], str(reason)))
    return rows, left


def read(path):
    table = measuring.read_table(path, COLUMNS)
    for number, run in enumerate(table, 2):
        if "," in run["id"]:  # lines of rows are not quoted
            raise measuring.InputError(f"{path}:{number}: id {run['id']!r} is no name of a row")
    return table


def write(rows, path):
    columns = list(dict.fromkeys(key for row in rows for key in row))
    base = os.path.relpath(BASE, path.resolve().parent)
    columns.insert(2, "study")
    lines = [",".join({"study": base, **row}.get(column, "") for column in columns)
             for row in rows]
    try:
        path.write_text("\n".join([",".join(columns), *lines]) + "\n")
    except OSError as error:
        raise measuring.InputError(f"{path}: cannot be written: {error.strerror}") from error


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", type=pathlib.Path, metavar="TABLE.csv",
                        help="published runs, one a line")
    parser.add_argument("-o", "--output", type=pathlib.Path, required=True, metavar="ROWS.csv",
                        help="rows to write, in any folder")
    options = parser.parse_args(argv)
    try:
        if options.output.resolve() == options.table.resolve():
            raise measuring.InputError(f"{options.output}: is the table itself; name another file")
        table = read(options.table)
        lines = {run["id"]: number for number, run in enumerate(table, 2)}
        rows, left = rows_of(table)
        for name, reason in left:
            print(f"{options.table}:{lines[name]}: {name}: {reason}", file=sys.stderr)
        if not rows:
            raise measuring.InputError(f"{options.table}: no run of it can be expressed")
        write(rows, options.output)
    except measuring.InputError as error:
        print(f"published_rows.py: error: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
