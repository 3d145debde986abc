#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Shows what clang-format would change in our C++ files, and fails if there is anything; --fix
# changes it. Version 14 is the one whose output ns-3.37's .clang-format was written for.

set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

changes()
{
    local file bad=0
    for file in "$@"; do
        clang-format-14 "$file" | diff -U0 --label "$file" --label formatted "$file" - || bad=1
    done
    return $bad
}
export -f changes

files()
{
    tests/house/list-files.sh | { grep -E '\.(h|cc)$' || true; }
}

if [[ ${1:-} == --fix ]]; then
    files | xargs -r -d '\n' clang-format-14 -i
elif ! found=$(files | xargs -r -d '\n' -n 20 -P "$(nproc)" bash -c 'changes "$@"' changes); then
    head -n 60 <<<"$found"
    echo "$(grep -c '^--- ' <<<"$found") files; tests/house/check-format.sh --fix mends them"
    exit 1
fi
