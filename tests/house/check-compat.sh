#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# The module builds on ns-3.37 and on the newest release. Names that only one of them has are not to
# be used: contrib/scaleacross/model/ns3-compat.h says what to write instead.

set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."

names='\bMakeEnumAccessor\b|\bIsRunning\(|\bIsPending\(|\bTestCase::(QUICK|EXTENSIVE|TAKES_FOREVER)\b'
names+='|\bTestSuite::(UNIT|SYSTEM|EXAMPLE|PERFORMANCE)\b'
names+='|\bEnumValue\s*[*&]'
names+='|\b\w+L[34]Protocol::PROT_NUMBER\b|\bDLT_[A-Z0-9_]+\b'
if grep -nrE "$names" contrib/scaleacross --include='*.h' --include='*.cc' |
    grep -v '^contrib/scaleacross/model/ns3-compat\.h:'; then
    echo "not in every ns-3 from 3.37 on: see contrib/scaleacross/model/ns3-compat.h"
    exit 1
fi
