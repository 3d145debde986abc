#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Open MPI 4.1.4 (Debian 12, libopenmpi3 4.1.4-3+b1).
#
# The standard, and Open MPI's page, say that MPI_Dims_create sets dimensions "as close to each
# other as possible". One would guess that 72 processes in two dimensions become 9 x 8. They become
# 12 x 6, and 240 become 20 x 12 instead of 16 x 15; 20 of the first 1,024 counts are such. Prime
# factors go from the largest down to the dimension that is the smallest so far, which does not
# find the best. MPI_Cart_create with these dimensions makes a grid with more halo than it need
# have.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/packages/partial" "$folder/tree"
chmod -R 755 "$folder"
# With nothing installed as far as apt knows, it fetches all that the packages need.
touch "$folder/status"
apt-get install --download-only --yes --no-install-recommends -qq \
    -o Dir::State::status="$folder/status" -o Dir::Cache::archives="$folder/packages" \
    -o APT::Sandbox::User=root libopenmpi3=4.1.4-3+b1 python3 >/dev/null
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/tree"
done
# A single process that starts no launcher, on a machine of which it can see nothing.
export OMPI_MCA_ess_singleton_isolated=1 OMPI_MCA_pml=ob1 OMPI_MCA_btl=self
export OMPI_MCA_mca_base_component_show_load_errors=0 HWLOC_HIDE_ERRORS=2 UCX_LOG_LEVEL=fatal
chroot "$folder/tree" /usr/bin/python3 - <<'PROGRAM'
import ctypes
import sys

mpi = ctypes.CDLL("libmpi.so.40")
assert mpi.MPI_Init(None, None) == 0


def dims(count):
    result = (ctypes.c_int * 2)(0, 0)
    assert mpi.MPI_Dims_create(count, 2, result) == 0
    return tuple(result)


def closest(count):
    small = max(d for d in range(1, count + 1) if count % d == 0 and d * d <= count)
    return count // small, small


def greedy(count):
    factors = []
    while count > 1:
        factors.insert(0, next(d for d in range(2, count + 1) if count % d == 0))
        count //= factors[0]
    sides = [1, 1]
    for factor in factors:
        sides = sorted((sides[0], sides[1] * factor), reverse=True)
    return tuple(sides)


assert dims(64) == closest(64) == (8, 8)
assert dims(96) == closest(96) == (12, 8)
for count, told in ((72, (12, 6)), (240, (20, 12))):
    if dims(count) != told:
        sys.exit(f"changed: {count} processes become {dims(count)}")
    print(f"Open MPI 4.1.4, {count} processes: {told}, although {closest(count)} is closer")
assert all(dims(count) == greedy(count) for count in range(1, 1025))
others = sum(dims(count) != closest(count) for count in range(1, 1025))
if others != 20:
    sys.exit(f"changed: {others} of 1,024 counts are not balanced as well as possible")
print(f"{others} of 1,024 counts are not balanced as well as possible")
mpi.MPI_Finalize()
PROGRAM
