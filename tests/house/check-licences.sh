#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Fails if a source file does not name its licence in one of its first three lines.

set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

bad=0
while IFS= read -r file; do
    case $file in
        *.h | *.cc | *.py | *.sh | *.cmake | *.sql | */CMakeLists.txt | CMakeLists.txt) ;;
        *) head -c 2 "$file" | grep -q '^#!' || continue ;;
    esac
    if ! head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-2.0-only'; then
        echo "$file:1: no line 'SPDX-License-Identifier: GPL-2.0-only' among the first three"
        bad=1
    fi
done < <(tests/house/list-files.sh)
exit $bad
