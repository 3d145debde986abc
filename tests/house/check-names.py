#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Fails where a production file names a control, a selector or a baseline that is not its own.

usage: check-names.py [TOP]

What there is to know of them stands in one row of a registry each, and what they do in their own
files; others ask the row. A name elsewhere is a special case that the next word will miss. Papers
and programs of the same name may be cited: what counts is the ns-3 type, and the word in quotes.
Baselines say what some school does, and so may name words.
"""

import os
import re
import sys

MODULE = "contrib/scaleacross"
REGISTRIES = {
    "core/spec/congestion-control.cc": "model/control",
    "core/spec/multipath.cc": "model/path",
    "core/explore/baselines/registry.cc": "core/explore/baselines",
}
# Bases of the classes, and what an attribute is unless it is set.
ALLOWED = {("model/switch/fabric-switch-config.cc", "EcmpSelector")}
BASES = {"RdmaCongestionOps"}
COMMON = {"none"}  # a word of other registries, too


def read(path):
    with open(path, encoding="utf-8") as text:
        return text.read()


def kebab(name):
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def sources(top):
    for part in ("core", "model", "helper", "cli"):
        for folder, _, files in os.walk(os.path.join(top, MODULE, part)):
            for name in files:
                if name.endswith((".h", ".cc")):
                    path = os.path.join(folder, name)
                    yield os.path.relpath(path, os.path.join(top, MODULE)), read(path)


def names(top):
    """Pairs of a pattern that names something, and the stem of the files that may."""
    for registry in REGISTRIES:
        text = read(os.path.join(top, MODULE, registry))
        for kind in set(re.findall(r'"ns3::(\w+)"', text)) - BASES:
            yield registry, kind, re.compile(rf"\b{kind}\b"), kebab(kind)
        for word in set(re.findall(r'[({]\s*"([a-z][a-z0-9-]+)",\s*"', text)) - COMMON:
            yield registry, word, re.compile(rf'"{word}"'), word
        for kind in set(re.findall(r"(\w+)Baseline\(\);", text)):
            yield registry, kind, re.compile(rf'"{kebab(kind)}"|\b{kind}Baseline\b'), kebab(kind)


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "..", "..")
    known = list(names(top))
    found = []
    for path, text in sources(top):
        stem = os.path.splitext(os.path.basename(path))[0]
        for registry, kind, pattern, own in known:
            if path == registry or stem in (own, own + "-selector") or (path, kind) in ALLOWED:
                continue
            if kind == own and path.startswith("core/explore/baselines/"):
                continue
            for match in pattern.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{MODULE}/{path}:{line}: names {match[0]}; ask the row of {registry}")
    print("\n".join(found))
    if not known:
        print("no names found in the registries")
    return 1 if found or not known else 0


if __name__ == "__main__":
    sys.exit(main())
