#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# tshark 4.0.17 (Debian 12, tshark 4.0.17-0+deb12u3).
#
# Bytes that no dissector knows are shown as data. One would guess that a RoCEv2 SEND with 8 bytes
# of a user's own is: headers, data, invariant CRC. On a reliable connection it is "[Malformed
# Packet: RPCoRDMA]", and neither data nor CRC are shown. That dissector is asked whether a payload
# is its own, and reads 16 bytes to decide, whether or not there are as many. So each RC SEND of
# less than 16 bytes looks broken, for example the empty one that serves as a signal, while 16
# bytes, an RDMA WRITE of 8, and 8 over an unreliable connection are fine. --disable-protocol
# rpcordma helps.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/packages/partial" "$folder/tree"
chmod -R 755 "$folder"
# With nothing installed as far as apt knows, it fetches all that the packages need.
touch "$folder/status"
apt-get install --download-only --yes --no-install-recommends -qq \
    -o Dir::State::status="$folder/status" -o Dir::Cache::archives="$folder/packages" \
    -o APT::Sandbox::User=root tshark=4.0.17-0+deb12u3 python3 >/dev/null
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/tree"
done

chroot "$folder/tree" /usr/bin/python3 - <<'PROGRAM'
import struct
import zlib

RC_SEND, RC_WRITE, UC_SEND = 0x04, 0x0A, 0x24  # each "Only": a message of one packet
RETH = struct.pack(">QII", 0x1000, 9, 8)  # address, key and length


def frame(opcode, after_bth):
    def layers(masked):
        """IP, UDP and BTH; for the invariant CRC what a path may change is ones."""
        length = 12 + len(after_bth) + 4
        udp = struct.pack(">HHHH", 49152, 4791, 8 + length, 0xFFFF if masked else 0)
        bth = struct.pack(">BBHII", opcode, 0, 0xFFFF, (0xFF << 24 if masked else 0) | 5, 1)
        ip = struct.pack(">BBHIBBH", 0x45, 0xFF if masked else 0, 28 + length, 0,
                         0xFF if masked else 64, 17, 0xFFFF if masked else 0)
        ip += bytes((10, 0, 0, 1, 10, 0, 0, 2))
        if not masked:
            total = sum(struct.unpack(">10H", ip))
            total = (total & 0xFFFF) + (total >> 16)
            ip = ip[:10] + struct.pack(">H", ~total & 0xFFFF) + ip[12:]
        return ip + udp + bth + after_bth

    crc = struct.pack("<I", zlib.crc32(b"\xff" * 8 + layers(True)))
    return bytes.fromhex("020000000002 020000000001 0800") + layers(False) + crc


frames = [frame(RC_SEND, bytes(range(size))) for size in (0, 8, 12, 16, 64)]
frames += [frame(RC_WRITE, RETH + bytes(range(8))), frame(UC_SEND, bytes(range(8)))]
with open("/capture", "wb") as file:
    file.write(struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))
    for second, content in enumerate(frames):
        file.write(struct.pack("<IIII", second, 0, len(content), len(content)) + content)
PROGRAM

# malformed OPTION...: the numbers of the frames that are.
malformed() {
    chroot "$folder/tree" /usr/bin/tshark -n -r /capture -Y _ws.malformed -T fields \
        -e frame.number "$@" 2>/dev/null | xargs
}

without=$(malformed --disable-protocol rpcordma)
[ -z "$without" ] || { echo "malformed: $without" >&2; exit 1; }
with=$(malformed)
if [ "$with" != "1 2 3" ]; then
    echo "changed: malformed frames are '$with'" >&2
    exit 1
fi
chroot "$folder/tree" /usr/bin/tshark -n -r /capture 2>/dev/null
echo "tshark 4.0.17: RC SENDs of 0, 8 and 12 bytes are shown as malformed, of 16 and 64 are not"
