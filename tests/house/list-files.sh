#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Prints the files of the repository, one per line and relative to its top: what git tracks or would
# track. In an unpacked archive without git, everything that is not a build.

set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

list()
{
    git ls-files --cached --others --exclude-standard 2>/dev/null ||
        find . -path ./build -prune -o -type f -printf '%P\n'
}

list | sort -u | while IFS= read -r file; do
    if [[ -f $file && ! -L $file ]]; then
        printf '%s\n' "$file"
    fi
done
