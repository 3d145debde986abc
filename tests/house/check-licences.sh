#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fails if a source file does not name its licence in one of its first three lines.

set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

bad=0
while IFS= read -r file; do
    first='' second='' third=''
    {
        IFS= read -r first || true
        IFS= read -r second || true
        IFS= read -r third || true
    } <"$file"
    case $file in
        *.h | *.cc | *.py | *.sh | *.cmake | *.sql | */CMakeLists.txt | CMakeLists.txt) ;;
        *) [[ $first == '#!'* ]] || continue ;;
    esac
    if [[ $first$second$third != *'SPDX-License-Identifier: GPL-2.0-only'* ]]; then
        echo "$file:1: no line 'SPDX-License-Identifier: GPL-2.0-only' among the first three"
        bad=1
    fi
done < <(tests/house/list-files.sh)
exit $bad
