# SPDX-License-Identifier: GPL-2.0-only
"""What the figures of a setup say against it, by rules that know no prediction.

A setup's lines of one operation are a curve: time over size. MARKS are found from the curve and from
the data sheets of its GPU and NICs:

slow   At its largest size, of 256 MiB or more, the curve uses less than half of what its NICs carry,
       or inside one scale-up network its links.
noisy  Two sizes or more took longer than a larger size allows: from 16 MiB on, where what the larger
       one has more would have gone at over twice the rate of NICs or links; below, where the larger
       one took less than 0.8 of the time.
late   In one server, the smallest size took over 30 us, where the programs of nccl-tests take 8 to 15:
       something outside the library starts it. That says nothing against sizes from 16 MiB on.

`sendrecv` and tokens of experts are not marked.
"""

import collections

import collective_lines as lines

MARKS = ("slow", "noisy", "late")

LARGEST = 256 << 20  # bytes from which a curve is at its rate
SLOW, FAST, ORDER, OUT_OF_ORDER, LATE_US = 0.5, 2, 0.8, 2, 30


def carried(line, machines):
    """GB/s of bus bandwidth that the NICs carry, or in one scale-up network the links; None if not known."""
    try:
        gpu, shape = lines.gpu_of(line), lines.shape_of(line)
    except lines.Inexpressible:
        return None
    used, ranks = int(line["gpus_per_node"]), int(line["gpus"])
    inside = used * max(1, shape[1] // shape[0])  # ranks of a scale-up network
    links = next((machine.link for machine in machines if machine.gpu == gpu), None)
    if ranks <= inside or links is None:
        return links
    nics = lines.nics_of(line, shape[0])
    if nics is None:
        return None
    rank = nics[0] * nics[1] / 8 / shape[0]
    if line["op"] == "alltoall":
        return rank * (ranks - 1) / (ranks - inside)
    return min(links, rank * inside)


def curves_of(table):
    """Of lines that say what was measured, time in us and line, by size; by setup, operation and what
    else tells lines apart."""
    curves = collections.defaultdict(dict)
    for line in table:
        if line["op"] not in lines.OPERATIONS or line["op"] in ("sendrecv", "alltoall_torch"):
            continue
        try:
            size, time = lines.whole(line, "bytes"), lines.measured_of(line)
            for column in ("gpus", "nodes", "gpus_per_node"):
                lines.whole(line, column)
        except lines.Inexpressible:
            continue
        if time is not None:
            variant = line["id"].replace(line["bytes"], "")
            curves[line["setup"], line["op"], variant][size] = (time, line)
    return curves


def is_slow(curve, rate):
    size = max(curve)
    time, line = curve[size]
    factor = lines.OPERATIONS[line["op"]].factor(int(line["gpus"]))
    return bool(rate) and size >= LARGEST and size * factor / time / 1e3 < SLOW * rate


def is_noisy(curve, rate):
    sizes = sorted(curve)
    line = curve[sizes[0]][1]
    factor = lines.OPERATIONS[line["op"]].factor(int(line["gpus"]))
    late = 0
    for index, size in enumerate(sizes):
        time = curve[size][0]

        def least(larger):
            # Of `size`, what `larger` leaves for it.
            there = curve[larger][0]
            if size < lines.LARGE or not rate:
                return there / ORDER
            return there - (larger - size) * factor / (FAST * rate * 1e3)
        late += any(time > least(larger) for larger in sizes[index + 1:])
    return late >= OUT_OF_ORDER


def is_late(curve):
    size = min(curve)
    time, line = curve[size]
    return int(line["nodes"]) == 1 and size < lines.LARGE and time > LATE_US


def marks_of(table, machines):
    """By setup and operation: its marks, in the order of MARKS. Lines have the columns of
    measured_collectives."""
    marks = collections.defaultdict(set)
    for (setup, op, _), curve in curves_of(table).items():
        rate = carried(curve[min(curve)][1], machines)
        found = {"slow": is_slow(curve, rate), "noisy": is_noisy(curve, rate),
                 "late": is_late(curve)}
        marks[setup, op] |= {mark for mark in MARKS if found[mark]}
    return {key: [mark for mark in MARKS if mark in words] for key, words in marks.items() if words}


def of_size(marks, size):
    """Those marks of a curve that hold for a size of it."""
    return [mark for mark in marks if mark != "late" or size < lines.LARGE]
