#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# SQLite 3.40.1 (Debian 12, sqlite3 3.40.1-2+deb12u2).
#
# A window function is evaluated over the rows of its frame. One would guess that the sum over a
# row and the one before it is of these two only, so that sums are plain numbers again once an
# infinity has left the frame. They are NULL from there to the end of the partition, and so are
# averages: a row that leaves is subtracted from a running total, and infinity less infinity is no
# number. max() over the same frames is right, and so is a sum whose frame SQLite makes anew for
# each row, as it does with EXCLUDE TIES. Where the infinity comes from does not matter; 9e999 is
# how SQL writes one.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/packages/partial" "$folder/tree"
chmod -R 755 "$folder"
# With nothing installed as far as apt knows, it fetches all that the package needs.
touch "$folder/status"
apt-get install --download-only --yes --no-install-recommends -qq \
    -o Dir::State::status="$folder/status" -o Dir::Cache::archives="$folder/packages" \
    -o APT::Sandbox::User=root sqlite3=3.40.1-2+deb12u2 >/dev/null
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/tree"
done

# over FUNCTION [EXCLUDE]: its values over two rows each of Inf, 1, 2, 3.
over() {
    chroot "$folder/tree" /usr/bin/sqlite3 -nullvalue NULL :memory: "
        WITH samples(step, seconds) AS (VALUES (1, 9e999), (2, 1.0), (3, 2.0), (4, 3.0))
        SELECT $1(seconds) OVER (ORDER BY step ROWS BETWEEN 1 PRECEDING AND CURRENT ROW ${2:-})
        FROM samples ORDER BY step" | xargs
}

[ "$(over max)" = "Inf Inf 2.0 3.0" ]
[ "$(over sum "EXCLUDE TIES")" = "Inf Inf 3.0 5.0" ]
sums=$(over sum)
means=$(over avg)
if [ "$sums" != "Inf Inf NULL NULL" ] || [ "$means" != "Inf Inf NULL NULL" ]; then
    echo "changed: sums are $sums, averages $means" >&2
    exit 1
fi
echo "SQLite 3.40.1, Inf, 1, 2, 3: sums of two rows are $sums, averages $means"
