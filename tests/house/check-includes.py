#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Reads the #include lines of the module and fails on an arrow that runs back.

usage: check-includes.py [TOP]

Dependencies between the parts of contrib/scaleacross run one way; MAY_INCLUDE below is the whole
rule. Every violation is printed as file:line: message.
"""

import os
import re
import sys

LAYERS = ["base", "program", "pipeline", "spec", "topology", "work", "engine", "explore"]

MAY_INCLUDE = {
    "base": ["base"],
    "program": ["base", "program"],
    "pipeline": LAYERS[:3],
    "spec": LAYERS[:4],
    "topology": LAYERS[:5],
    "drawing": LAYERS[:5] + ["drawing"],
    "work": LAYERS[:6],
    "engine": LAYERS[:7],
    "explore": LAYERS,
    "io": LAYERS + ["io"],
    "store": LAYERS + ["store"],
    "model": ["base", "program", "model", "ns3"],
    "helper": LAYERS + ["model", "helper", "ns3"],
    "examples": LAYERS + ["model", "helper", "examples", "ns3"],
    "test": LAYERS + ["model", "helper", "test", "ns3"],
    "cli": LAYERS + ["drawing", "io", "store", "model", "helper", "cli", "ns3"],
}

# The folders of model/, and which of the others each may include; what stands in model/ itself
# serves all and includes none of them.
ROOMS = {
    "model": [],
    "packet": [],
    "wire": ["packet"],
    "path": ["packet"],
    "switch": ["packet", "wire", "path"],
    "control": ["packet", "wire"],
    "entropy": [],
    "rdma": ["packet", "wire", "switch", "control", "entropy"],
    "training": ["packet", "wire", "switch", "control", "entropy", "rdma"],
    "traffic": ["packet", "wire", "switch", "control", "entropy", "rdma"],
}

# Other libraries than the standard one and Boost's headers, by the beginnings of their headers: none
# where a part is to build anywhere, and what a tree of ns-3 links where it builds a part.
LIBRARIES = {
    **{part: () for part in LAYERS + ["drawing", "model", "helper", "examples"]},
    "test": ("sys/", "unistd.h"),  # POSIX
    "io": ("yaml-cpp/", "nlohmann/", "google/protobuf/", "chakra.pb.h"),
}

INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]')


def part_of(path):
    """The part a path below contrib/scaleacross belongs to: "base" for core/base/units.h."""
    folders = path.split("/")[:-1]
    if folders[:1] == ["core"]:
        folders = folders[1:]
    return folders[0] if folders and folders[0] in MAY_INCLUDE else None


def room_of(path):
    """The folder of model/ that a path belongs to, "model" for model/ itself; else nothing."""
    folders = path.split("/")[:-1]
    return None if folders[:1] != ["model"] else folders[1] if len(folders) > 1 else "model"


def sources(module):
    """All C++ files below a folder, relative to it."""
    for folder, subfolders, files in os.walk(module):
        subfolders.sort()
        for name in sorted(files):
            if name.endswith((".h", ".cc")):
                yield os.path.relpath(os.path.join(folder, name), module)


def file_of(include, source, files, forwarded):
    """The file of ours that an include leads to, or nothing."""
    beside = os.path.normpath(os.path.join(os.path.dirname(source), include))
    for path in (beside, os.path.normpath(include)):
        if path in files:
            return path
    return forwarded.get(include[len("ns3/"):]) if include.startswith("ns3/") else None


def target_of(include, own):
    """The part an include leads to: one of ours, "ns3", "standard", "boost" or "other"."""
    if own:
        return part_of(own)
    if include.startswith("ns3/"):
        return "ns3"
    if include.startswith("boost/"):
        return "boost"
    return "other" if "/" in include or "." in include else "standard"


def violations(top):
    """Yields a line of text for every include that is not allowed."""
    module = os.path.join(top, "contrib", "scaleacross")
    files = set(sources(module))
    # As ns-3 does, the build offers the headers of model/ and helper/ as "ns3/NAME.h".
    forwarded = {os.path.basename(f): f for f in files
                 if f.endswith(".h") and part_of(f) in ("model", "helper")}
    for source in sorted(files):
        part = part_of(source)
        if part is None:
            continue
        with open(os.path.join(module, source), encoding="utf-8") as text:
            for number, line in enumerate(text, 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                own = file_of(match[1], source, files, forwarded)
                target = target_of(match[1], own)
                if target in ("standard", "boost"):
                    continue
                if target == "other":
                    allowed = match[1].startswith(LIBRARIES.get(part, ("",)))
                    what = "a library other than the standard one and Boost"
                else:
                    allowed = target in MAY_INCLUDE[part]
                    what = target
                room, other = room_of(source), own and room_of(own)
                if room and other and other not in ("model", room, *ROOMS[room]):
                    yield (f"contrib/scaleacross/{source}:{number}: model/{room} must not include"
                           f" model/{other} ({match[1]}); allowed: {', '.join(ROOMS[room])}")
                if not allowed:
                    may = MAY_INCLUDE[part] + list(LIBRARIES.get(part, ()))
                    yield (f"contrib/scaleacross/{source}:{number}: {part} must not include {what}"
                           f" ({match[1]}); allowed: {', '.join(may)}")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "..")
    found = list(violations(top))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
