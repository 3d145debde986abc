#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ns-3 suites under Valgrind: tests/memory-check.sh all | SUITE..., of the release build, or of the
# build whose test runner SCALEACROSS_RUNNER names. Without Valgrind it ends with 77, which ctest
# shows as skipped, and where CI is set with 1.

set -euo pipefail
top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
runner=${SCALEACROSS_RUNNER:-$top/build/release/bin/scaleacross-test-runner}

if (($# == 0)); then
    echo "usage: tests/memory-check.sh all | SUITE... (the suites: $runner --list)" >&2
    exit 2
fi
if ! command -v valgrind >/dev/null; then
    echo "valgrind is not installed (Debian: apt install valgrind)" >&2
    [[ -n ${CI:-} ]] && exit 1
    exit 77
fi
suites=("$@")
if [[ $1 == all ]]; then
    mapfile -t suites < <("$runner" --list | tr -d ' ')
fi

export SCALEACROSS_FABRICS=${SCALEACROSS_FABRICS:-5}
for suite in "${suites[@]}"; do
    leaks=(--leak-check=full --errors-for-leak-kinds=definite)
    if [[ $suite == scaleacross-random-fabrics ]]; then
        # A draw that is refused in mid-run leaves ns-3's Simulator::Run by an exception, which loses
        # the event that was running.
        leaks=(--leak-check=no)
    fi
    valgrind -q --error-exitcode=9 "${leaks[@]}" "$runner" --suite="$suite"
done
