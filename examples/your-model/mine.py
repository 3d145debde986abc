#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""An alpha-beta model: every step costs the way there, every byte its time on the port."""

import json
import sys

question = json.load(sys.stdin)
network, tasks = question["network"], question["tasks"]


def way(nbytes, scope):
    rate = network["nvlink_rate_bps" if scope == "server" else "nic_rate_bps"]
    return network[scope + "_delay_s"], 8 * nbytes / rate


def collective(phases):
    total = 0
    for phase in phases:
        alpha, beta = way(phase["sent_bytes"] / phase["group"]["size"], phase["group"]["scope"])
        total += phase["steps"] * alpha + beta
    return total


times = [collective(each["phases"]) for each in tasks["collectives"]]
if question["kind"] == "collective":
    json.dump({"time_s": times[0]}, sys.stdout)
    sys.exit()


def ends(operations):
    """All that a rank does, one after the other: nothing overlaps, nobody waits for anybody."""
    does = {"compute": lambda op: op["seconds"],
            "run": lambda op: ends(tasks["bodies"][op["body"]]["operations"]),
            "collective": lambda op: times[op["collective"]]}
    return sum(does.get(op["do"], lambda op: 0)(op) for op in operations)


work = max(ends(each["operations"]) for each in tasks["classes"])
plan = question["plan"]
microbatches = plan["global_batch"] / (plan["dp"] * plan["microbatch"])
json.dump({"iteration_time_s": work * (1 + (plan["pp"] - 1) / microbatches)}, sys.stdout)
