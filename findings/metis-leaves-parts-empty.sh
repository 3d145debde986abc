#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# METIS 5.1.0 (Debian 12, metis 5.1.0.dfsg-7).
#
# gpmetis says of its default, direct k-way partitioning, that the load of a part is at most 1.03
# of the average. One would guess that a ring of eight equal vertices, divided into eight parts,
# becomes one vertex each: it is the only division within that bound. gpmetis returns parts of 2, 3
# and 3 vertices and leaves five of eight empty, with success: the heaviest part has 3.00 of the
# average. Whoever places a rank per part finds five places without one. Recursive bisection
# (-ptype=rb) gives one vertex each.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/packages/partial" "$folder/tree"
chmod -R 755 "$folder"
# With nothing installed as far as apt knows, it fetches all that the package needs.
touch "$folder/status"
apt-get install --download-only --yes --no-install-recommends -qq \
    -o Dir::State::status="$folder/status" -o Dir::Cache::archives="$folder/packages" \
    -o APT::Sandbox::User=root metis=5.1.0.dfsg-7 >/dev/null
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/tree"
done

# Its first line has the vertices and edges, every other line the neighbours of a vertex.
printf '%s\n' "8 8" "8 2" "1 3" "2 4" "3 5" "4 6" "5 7" "6 8" "7 1" >"$folder/tree/ring"

# sizes OPTION: how many vertices each part has that has any.
sizes() {
    chroot "$folder/tree" /usr/bin/gpmetis "$1" /ring 8 >"$folder/told"
    sort "$folder/tree/ring.part.8" | uniq -c | awk '{ print $1 }' | sort -n | xargs
}

bisected=$(sizes -ptype=rb)
[ "$bisected" = "1 1 1 1 1 1 1 1" ] || { echo "bisection: $bisected" >&2; exit 1; }
directly=$(sizes -ptype=kway)
grep -q "ufactor=1.030" "$folder/told" # what it says that it keeps to
if [ "$directly" != "2 3 3" ]; then
    echo "changed: parts of $directly vertices" >&2
    exit 1
fi
grep "actual" "$folder/told"
echo "METIS 5.1.0, a ring of 8 into 8 parts: parts of $directly vertices, the others are empty"
