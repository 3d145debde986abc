#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# rdma-core 44.0 (Debian 12, libibverbs1 44.0-2).
#
# The page of ibv_rate_to_mbps() and mbps_to_ibv_rate() says that IBV_RATE_5_GBPS and 5000 become
# each other. One would guess that IBV_RATE_100_GBPS and 100000 do as well. That is so for lanes of
# 2.5, 5 and 10 Gb/s only. Of faster ones the number has coding and error correction in it,
# although the name has not: IBV_RATE_100_GBPS is 103125, IBV_RATE_400_GBPS is 425000. The other
# way round 100000 and 400000 are unknown, and the answer is 0, which is no error but IBV_RATE_MAX,
# as fast as the port: a limit that is asked for in Mbit/s is no limit, without a word. 40000
# works.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/packages/partial" "$folder/tree"
chmod -R 755 "$folder"
# With nothing installed as far as apt knows, it fetches all that the packages need.
touch "$folder/status"
apt-get install --download-only --yes --no-install-recommends -qq \
    -o Dir::State::status="$folder/status" -o Dir::Cache::archives="$folder/packages" \
    -o APT::Sandbox::User=root libibverbs1=44.0-2 python3 >/dev/null
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/tree"
done
chroot "$folder/tree" /usr/bin/python3 - <<'PROGRAM'
import ctypes
import sys

verbs = ctypes.CDLL("libibverbs.so.1")
# Values of enum ibv_rate, from infiniband/verbs.h.
MAX, RATE_5, RATE_40, RATE_100, RATE_400 = 0, 5, 7, 16, 21

for rate, mbps in ((RATE_5, 5000), (RATE_40, 40000)):
    assert verbs.ibv_rate_to_mbps(rate) == mbps
    assert verbs.mbps_to_ibv_rate(mbps) == rate
    print(f"{mbps} Mbit/s is rate {rate}, and back")
for rate, name, told in ((RATE_100, 100000, 103125), (RATE_400, 400000, 425000)):
    if verbs.ibv_rate_to_mbps(rate) != told:
        sys.exit(f"changed: rate {rate} is {verbs.ibv_rate_to_mbps(rate)} Mbit/s")
    if verbs.mbps_to_ibv_rate(name) != MAX:
        sys.exit(f"changed: {name} Mbit/s is rate {verbs.mbps_to_ibv_rate(name)}")
    assert verbs.mbps_to_ibv_rate(told) == rate
    print(f"{name} Mbit/s is rate {MAX}, IBV_RATE_MAX; rate {rate} is {told} Mbit/s")
PROGRAM
