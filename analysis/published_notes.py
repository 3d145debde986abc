# SPDX-License-Identifier: GPL-2.0-only
"""The words of `overlap_notes` in a table of published runs: phrases between commas and semicolons.

A phrase sets values of keys, or none where it says what the software has anyway. Phrases contradict
each other, or what else is known of a run, where they set a key to different values. A switch
stands for the recipe: "TP overlap on" is no contradiction where tp is 1 and nothing is left to do.
"""

import functools
import re
from typing import Callable, NamedTuple, Tuple


class Inexpressible(Exception):
    """A run that no row says; the text is the reason."""


class Note(NamedTuple):
    """A phrase: what it sets, by its match, and the stacks that it can be said of, by how their
    names begin."""
    pattern: str
    sets: Callable = lambda found: {}
    stacks: Tuple[str, ...] = ("",)


CORE = ("megatron-core",)
TITAN = ("torch-compile", "torch-eager")
# Modules of Megatron's --cuda-graph-scope (megatron/training/arguments.py) that models here have.
GRAPHED = "(?:attn|mlp|moe_router|moe_preprocess|moe)"


def sets(**values):
    return lambda found: values


def graphed(found):
    modules = sorted(set(found[1].split("+")))
    experts = {"experts": "some"} if any(module.startswith("moe") for module in modules) else {}
    return {"graphs": "+".join(modules), **experts}


OVERLAP_ON, OVERLAP_OFF = sets(tp_overlap="on"), sets(tp_overlap="off")
REDUCED_BESIDE = sets(gradients="beside backward")

NOTES = [
    Note(r"dispatcher (hybridep|deepep)", lambda found: {"dispatcher": found[1]}),
    Note(r"dispatcher (alltoall|nccl)", sets(dispatcher="alltoall")),
    Note(r"DeepEP", sets(dispatcher="deepep")),
    Note(r"EP a2a overlapped( \(1F1B\))?", sets(exchanges="beside computing")),

    Note(r"CUDA graph (local:)?full_iteration", sets(graphs="iteration"), CORE),
    Note(r"full CUDA graph|CUDA graphs on", sets(graphs="iteration")),
    Note(r"no CUDA graph|CUDA graphs off", sets(graphs="none")),
    Note(rf"CUDA graph transformer_engine:({GRAPHED}(?:\+{GRAPHED})*)", graphed, CORE),

    Note(r"TP (overlap )?on", OVERLAP_ON, CORE + TITAN),
    Note(r"TP userbuffer ((overlap )?on|overlap \(recipe defaults\))", OVERLAP_ON, CORE),
    Note(r"yaml: ub_tp_comm_overlap True", OVERLAP_ON, CORE),
    Note(r"async TP", OVERLAP_ON, CORE + TITAN),
    Note(r"grad/param and TP overlap",
         sets(tp_overlap="on", gradients="beside backward"), CORE + TITAN),
    Note(r"TP (overlap )?off|(no|vanilla) TP|async TP off|no async TP", OVERLAP_OFF),
    Note(r"TP userbuffer (overlap )?off|yaml: ub_tp_comm_overlap False", OVERLAP_OFF, CORE),

    Note(r"pp_layout (\S+)", lambda found: {"layout": found[1]}, CORE),
    # Of servers with a NIC for each of their 8 GPUs.
    Note(r"8x(200) Gb/s TCPXO|8x(400) Gb/s RoCE",
         lambda found: {"nic_rate": f"{found[1] or found[2]}Gbps", "server": "8 GPUs"}),
    Note(r"eager|no compile", sets(compiled="no"), TITAN + ("torch-fsdp",)),
    Note(r"(torch\.)?compile", sets(compiled="yes"), TITAN),

    # What columns say too, or a row has anyway: gradients reduced and parameters gathered beside
    # computing, messages of the pipeline as well.
    Note(r"grad RS/param AG( overlapped)?", REDUCED_BESIDE),
    Note(r"grad RS/param AG overlapped \(distributed_fused_adam\)", REDUCED_BESIDE, CORE),
    Note(r"grad/param( (and p2p )?overlap)?", REDUCED_BESIDE),
    Note(r"p2p( overlap)?|p2p overlapped( with VP)?"),
    Note(r"1F1B"),  # interleaved or not
    Note(r"schedule interleaved 1F1B", sets(order="interleaved")),
    Note(r"SP"),
    Note(r"CP(\d+) ring", lambda found: {"cp": found[1]}),
    Note(r"torch FSDP default prefetch", stacks=("torch-fsdp",)),
    Note(r"FSDP2 prefetch", stacks=TITAN + ("torch-te",)),
    Note(r"recipe overlaps \(as dgxc 24\.11\)", stacks=CORE),
    Note(r"XLA( latency-hiding)?", stacks=("maxtext", "paxml")),
    # Of its gathers, and of its optimizer step.
    Note(r"float8( all-gather)?", sets(format="FP8"), TITAN),
    Note(r"no gradient clipping")]


def refused(phrase, why):
    return Inexpressible(f"overlap_notes: {phrase!r} {why}")


@functools.lru_cache(maxsize=None)
def read(text):
    """What notes set: (value, phrase) by key; and every phrase with its Note."""
    values, phrases = {}, []
    for phrase in re.split(r"[,;]", text):
        phrase = phrase.strip()
        if not phrase:
            continue
        for note in NOTES:
            if found := re.fullmatch(note.pattern, phrase):
                break
        else:
            raise refused(phrase, "is not expressed")
        phrases.append((phrase, note))
        for key, value in note.sets(found).items():
            before, by = values.setdefault(key, (value, phrase))
            if before != value:
                raise refused(phrase, f"contradicts {by!r}")
    return values, phrases


def value_of(run, key):
    """What a run's notes set a key to; None where they do not say it."""
    return read(run["overlap_notes"])[0].get(key, (None,))[0]


def check(run, stack, known):
    """Refuses phrases that a run's stack does not have, and those that contradict what is `known`
    of it otherwise: (value, where it stands) by key."""
    values, phrases = read(run["overlap_notes"])
    for phrase, note in phrases:
        if not stack.startswith(note.stacks):
            raise refused(phrase, f"is not expressed of software that is modelled as {stack}")
    for key, (value, phrase) in values.items():
        if key in known and known[key][0] != value:
            raise refused(phrase, f"contradicts {known[key][1]}")
