#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shows what clang-format would change in our C++ files, and fails if there is anything; --fix
# changes it. Version 14 is the one whose output ns-3.37's .clang-format was written for.

set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

mapfile -t files < <(tests/house/list-files.sh | grep -E '\.(h|cc)$')
if [[ ${1:-} == --fix ]]; then
    clang-format-14 -i "${files[@]}"
    exit
fi
# One process for all of them; another for each of those that it names, to show what it would change.
mapfile -t wrong < <(clang-format-14 --dry-run "${files[@]}" 2>&1 |
    grep -oE '^[^:]+:[0-9]+:[0-9]+: warning' | cut -d : -f 1 | sort -u)
for file in "${wrong[@]:0:20}"; do
    clang-format-14 "$file" | diff -U0 --label "$file" --label formatted "$file" - || true
done
if ((${#wrong[@]})); then
    echo "${#wrong[@]} files; tests/house/check-format.sh --fix mends them"
    exit 1
fi
