#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Runs codespell over all text files; .codespellrc holds the words it must not mend.

set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

tests/house/list-files.sh | { grep -v -x LICENSE || true; } | xargs -r -d '\n' codespell
