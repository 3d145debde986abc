#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""What tshark makes of captures of the example pcap-trace, against what its trace sinks said.

The run has loss, retransmissions, ECN marks, CNPs, pauses and packets of another stack.
"""

import csv
import os
import pathlib
import shutil
import struct
import subprocess
import tempfile
import unittest
import zlib

EXAMPLE = pathlib.Path(os.environ["SCALEACROSS_PROGRAM"]).parent / "pcap-trace"

FIELDS = {
    "time": "frame.time_epoch",
    "length": "frame.len",
    "type": "eth.type",
    "mac": "eth.src",
    "source": "ip.src",
    "destination": "ip.dst",
    "ip_checksum": "ip.checksum.status",
    "dscp": "ip.dsfield.dscp",
    "ecn": "ip.dsfield.ecn",
    "udp_port": "udp.dstport",
    "opcode": "infiniband.bth.opcode",
    "padding": "infiniband.bth.padcnt",
    "queue_pair": "infiniband.bth.destqp",
    "ack_requested": "infiniband.bth.a",
    "psn": "infiniband.bth.psn",
    "dma_length": "infiniband.reth.dmalen",
    "syndrome": "infiniband.aeth.syndrome",
    "msn": "infiniband.aeth.msn",
    "crc": "infiniband.invariant.crc",
    "pause": "macc.cbfc.pause_time.c3",
    "info": "_ws.col.Info",
    "malformed": "_ws.malformed",
    "expert": "_ws.expert.message",
    "severity": "_ws.expert.severity",
}

# RC write: first, middle, last, only; acknowledge; congestion notification
FIRST, MIDDLE, LAST, ONLY, ACK, CNP = 0x06, 0x07, 0x08, 0x0A, 0x11, 0x81
MESSAGE, MTU = 50_001, 1024
SNAP = 128
PACKETS = 49  # of a message


def number(text):
    return int(text, 0)


def tshark(capture):
    command = ["tshark", "-n", "-r", str(capture), "-T", "fields", "-E", "separator=|"]
    command += ["-o", "ip.check_checksum:TRUE"]
    for field in FIELDS.values():
        command += ["-e", field]
    environment = dict(os.environ, HOME=str(capture.parent), LC_ALL="C.UTF-8")
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
    return [dict(zip(FIELDS, line.split("|"))) for line in output.stdout.splitlines()]


def frames(capture):
    """The frames of a pcap file in nanoseconds, as bytes."""
    data = capture.read_bytes()
    magic, = struct.unpack_from("<I", data)
    assert magic == 0xA1B23C4D, hex(magic)
    at, result = 24, []
    while at < len(data):
        kept, = struct.unpack_from("<I", data, at + 8)
        result.append(data[at + 16 : at + 16 + kept])
        at += 16 + kept
    return result


def invariant_crc(frame):
    """The ICRC of RoCEv2 (annex A17 of the InfiniBand specification), by zlib."""
    length, = struct.unpack_from(">H", frame, 16)
    packet = bytearray(frame[14 : 14 + length - 4])
    for at in (1, 8, 10, 11, 26, 27, 32):  # TOS, TTL, checksums, FECN and BECN
        packet[at] = 0xFF
    return struct.pack("<I", zlib.crc32(b"\xff" * 8 + bytes(packet)))


class Tshark(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if shutil.which("tshark") is None:
            if os.environ.get("CI"):
                raise RuntimeError("tshark is missing: apt install tshark")
            raise unittest.SkipTest("tshark is not installed: apt install tshark")
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        top = pathlib.Path(folder.name)
        subprocess.run(
            [EXAMPLE, f"--prefix={top}/run", f"--list={top}/list.csv"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        cls.nic = top / "run-3-0.pcap"
        cls.port = top / "run-0-0.pcap"
        cls.packets = tshark(cls.nic)
        with open(top / "list.csv", encoding="ascii") as file:
            cls.noted = list(csv.DictReader(file))

    def test_nothing_is_malformed(self):
        for packet in self.packets + tshark(self.port):
            self.assertEqual(packet["malformed"], "", packet)
            self.assertEqual(packet["expert"], "", packet)

    def test_headers_alone_tell_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            prefix = pathlib.Path(folder) / "run"
            subprocess.run(
                [EXAMPLE, f"--prefix={prefix}", f"--snap={SNAP}"],
                check=True,
                stdout=subprocess.DEVNULL,
            )
            for name, whole in (("run-3-0.pcap", self.nic), ("run-0-0.pcap", self.port)):
                capture = pathlib.Path(folder) / name
                self.assertLessEqual(max(map(len, frames(capture))), SNAP)
                self.check_cut(tshark(capture), tshark(whole))

    def check_cut(self, cut, whole):
        self.assertEqual(len(cut), len(whole))
        for packet, full in zip(cut, whole):
            self.assertNotIn("Malformed", packet["info"])
            limited = "[Packet size limited during capture]"
            self.assertEqual(packet["info"].replace(limited, "").strip(), full["info"].strip())
            for field in FIELDS.keys() - {"info", "expert", "severity"}:
                self.assertEqual(packet[field], full[field], field)

    def test_the_same_packets_at_the_same_times(self):
        self.assertEqual(len(self.packets), len(self.noted))
        for packet, noted in zip(self.packets, self.noted):
            seconds, fraction = packet["time"].split(".")
            nanoseconds = int(seconds) * 10**9 + int(fraction[:9])
            self.assertEqual(nanoseconds, int(noted["time_ps"]) // 1000)

    def test_every_kind_is_there(self):
        kinds = {noted["kind"] for noted in self.noted}
        self.assertEqual(kinds, {"data", "ack", "nak", "cnp", "foreign"})
        sent_again = [n["psn"] + n["queue_pair"] for n in self.noted if n["kind"] == "data"]
        self.assertLess(len(set(sent_again)), len(sent_again))

    def test_fields_are_what_the_sinks_said(self):
        for packet, noted in zip(self.packets, self.noted):
            kind, psn = noted["kind"], int(noted["psn"])
            if kind == "foreign":
                self.assertEqual(number(packet["type"]), 0x88B5)
                self.assertEqual(int(packet["length"]), 214)
                continue
            self.assertEqual(packet["udp_port"], "4791")
            self.assertEqual(packet["ip_checksum"], "1", "good")
            self.assertEqual(int(packet["dscp"]), 8 * int(noted["priority"]))
            # 0 and 1 are for management.
            self.assertEqual(number(packet["queue_pair"]), int(noted["queue_pair"]) + 2)
            ends = [packet["source"], packet["destination"]]
            self.assertEqual(ends[noted["way"] == "received"], "10.0.0.3")
            opcode = number(packet["opcode"])
            if kind == "cnp":
                self.assertEqual(opcode, CNP)
            elif kind == "data":
                self.check_data(packet, noted, opcode, psn)
            else:
                self.assertEqual(opcode, ACK)
                # An ACK names the last packet it acknowledges, a NAK the one that is missing.
                wire = psn - 1 if kind == "ack" else psn
                self.assertEqual(int(packet["psn"]), wire % 2**24)
                self.assertEqual(number(packet["syndrome"]), 0x1F if kind == "ack" else 0x60)
                self.assertEqual(int(packet["msn"]), psn // PACKETS)

    def check_data(self, packet, noted, opcode, psn):
        index = psn % PACKETS
        first, last = index == 0, index == PACKETS - 1
        self.assertEqual(opcode, FIRST if first else LAST if last else MIDDLE)
        self.assertEqual(int(packet["psn"]), psn)
        self.assertEqual(packet["ack_requested"], noted["ack_requested"])
        self.assertEqual(int(packet["ecn"]), 3 if noted["marked"] == "1" else 2)
        payload = MESSAGE - index * MTU if last else MTU
        self.assertEqual(int(noted["payload"]), payload)
        padding = -payload % 4
        self.assertEqual(int(packet["padding"]), padding)
        self.assertEqual(int(packet["length"]), 58 + payload + padding + (16 if first else 0))
        self.assertEqual(packet["dma_length"], str(MESSAGE) if first else "")

    def test_invariant_crcs(self):
        checked = 0
        for packet, frame in zip(self.packets, frames(self.nic)):
            if packet["udp_port"]:
                length, = struct.unpack_from(">H", frame, 16)
                crc = frame[14 + length - 4 : 14 + length]
                self.assertEqual(crc, invariant_crc(frame))
                if number(packet["opcode"]) != CNP:  # of which tshark shows no ICRC
                    self.assertEqual(number(packet["crc"]), int.from_bytes(crc, "big"))
                checked += 1
        self.assertGreater(checked, 400)

    def test_pauses(self):
        times = [p["pause"] for p in tshark(self.port) if number(p["type"]) == 0x8808]
        self.assertGreater(len(times), 0)
        # Stop and go on, in turn.
        self.assertEqual(times, ["65535", "0"] * (len(times) // 2))


if __name__ == "__main__":
    unittest.main()
