# SPDX-License-Identifier: GPL-2.0-only
"""Megatron's layouts of a pipeline (megatron/core/transformer/pipeline_parallel_layer_layout.py):
"Et*4/(t*4/)*14tmL" has 16 positions, the embedding E and four layers t on the first, four on each
of the next 14, and one on the last with a module of multi-token prediction m and the loss L.

As in Megatron, E and L are there once, first and last, and m's are as many as mtp_num_layers, which
any model may have. Positions are parted by / or |, groups do not nest. Megatron has m's on other
positions too; rows have them on the last.
"""

import re

from published_notes import Inexpressible

MOST_MODULES = 16  # model.mtp_layers
GRAMMAR = re.compile(r"(?:[EtmL/](?:\*\d+)?|\((?:[EtmL/](?:\*\d+)?)+\)\*\d+)+", re.ASCII)


class TooLong(Exception):
    """A layout that would be longer than its row can have it."""


def unfolded(layout, most):
    """A layout without its repetitions, "(t*2/)*2tL" as "tt/tt/tL", of up to `most` letters; a
    repetition that goes beyond is not done."""
    def repeated(found):
        times = found[2].lstrip("0") or "0"
        if len(times) > len(str(most)) or len(found[1]) * int(times) > most:
            raise TooLong
        return found[1] * int(times)
    each = re.sub(r"([^()])\*(\d+)", repeated, layout)
    # Only groups' own repetitions are left.
    text = re.sub(r"\(([^()]*)\)\*(\d+)", repeated, each)
    if len(text) > most:
        raise TooLong
    return text


def keys_of(layout, positions, layers):
    """plan.layers, and model.mtp_layers of a layout with modules, for a row with so many positions
    and a model with so many layers."""
    def refuse(why):
        shown = layout if len(layout) <= 60 else layout[:57] + "..."
        raise Inexpressible(f"overlap_notes: layout {shown!r} {why}")
    text = layout.replace("|", "/")
    if not GRAMMAR.fullmatch(text):
        refuse("is none of E, t, m and L, parted by / or |, with repetitions as in t*4 and "
               "(t*4/)*3")
    try:
        text = unfolded(text, positions - 1 + layers + MOST_MODULES + len("EL"))
    except TooLong:
        refuse(f"has more than {positions} positions, {layers} layers and {MOST_MODULES} modules "
               "of multi-token prediction")
    parts = text.split("/")
    if len(parts) != positions:
        refuse(f"has {len(parts)} positions of the row's {positions}")
    for letter, what, end in (("E", "embedding", 0), ("L", "loss", -1)):
        if text.count(letter) != 1:
            refuse(f"has {text.count(letter) or 'no'} {letter} (the {what})")
        if text[end] != letter:
            refuse(f"does not {'end' if end else 'begin'} with {letter} (the {what})")
    counts = [part.count("t") for part in parts]
    if sum(counts) != layers:
        refuse(f"has {sum(counts)} of the model's {layers} layers")
    modules = text.count("m")  # up to MOST_MODULES: all else has as many letters as it may
    if not re.fullmatch(r"E?t*m*L", parts[-1]) or parts[-1].count("m") != modules:
        refuse("has m (multi-token prediction) elsewhere than behind the last layer on the last "
               "position")
    return {"plan.layers": "+".join(map(str, counts)),
            **({"model.mtp_layers": modules} if modules else {})}
