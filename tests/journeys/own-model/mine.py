#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""A model of collectives in 20 lines: steps cost a delay, bytes a rate, lost packets a round trip."""

import json
import sys

question = json.load(sys.stdin)
network = question["network"]


def seconds(phase):
    scope, members = phase["group"]["scope"], phase["group"]["size"]
    delay = network[f"{scope}_delay_s"]
    sent = phase["sent_bytes"] / members
    if scope == "server":
        rate = network["nvlink_rate_bps"] * network["nvlink_efficiency"]
    else:
        rate = network["nic_rate_bps"] / (1 + network["header_bytes"] / network["mtu_bytes"])
    if scope == "across":
        rate /= network["oversubscription"]
        delay *= 1 + 2 * network["loss"] * sent / network["mtu_bytes"]
    return phase["steps"] * delay + 8 * sent / rate


(collective,) = question["tasks"]["collectives"]
json.dump({"time_s": sum(map(seconds, collective["phases"]))}, sys.stdout)
