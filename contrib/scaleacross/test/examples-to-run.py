#! /usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only

# Read by ns-3's test.py: (example with arguments, whether it runs, whether it runs under valgrind).
# Every file of examples/ is here; tests/house/examples-to-run-test.py says if one is missing.
cpp_examples = [
    ("adjacency-fabric", "True", "True"),
    ("background-tcp", "True", "False"),
    ("dcqcn-incast", "True", "False"),
    ("incast-pfc", "True", "False"),
    ("link-flap", "True", "False"),
    ("long-span --bytes=800000", "True", "False"),
    ("one-flow", "True", "True"),
    ("pcap-trace", "True", "False"),
    ("pfc-deadlock", "True", "True"),
    ("spray-permutation", "True", "False"),
    ("training-step", "True", "False"),
    ("two-buildings", "True", "False"),
]

python_examples = []
