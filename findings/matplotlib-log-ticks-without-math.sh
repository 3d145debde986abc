#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# matplotlib 3.6.3 (Debian 12, python3-matplotlib 3.6.3-1+b1).
#
# The setting text.parse_math = False is there for labels with dollar signs, such as prices. One
# would guess that it concerns texts that a user passes, and that ticks, which matplotlib writes
# itself, stay as they are. Ticks of a logarithmic axis do not: their formatter writes TeX and
# leaves it to the parser that was turned off, so that the picture shows dollars and backslashes,
# "$\mathdefault{10^{0}}$", without a warning. Ticks of a linear axis are plain. A formatter that
# writes plain digits helps.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/packages/partial" "$folder/tree"
chmod -R 755 "$folder"
# With nothing installed as far as apt knows, it fetches all that matplotlib needs.
touch "$folder/status"
apt-get install --download-only --yes --no-install-recommends -qq \
    -o Dir::State::status="$folder/status" -o Dir::Cache::archives="$folder/packages" \
    -o APT::Sandbox::User=root python3-matplotlib=3.6.3-1+b1 >/dev/null
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/tree"
done
export PYTHONDONTWRITEBYTECODE=1 MPLCONFIGDIR=/settings
lib=/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH=$lib/blas:$lib/lapack # where an installation would link to from outside
chroot "$folder/tree" /usr/bin/python3 - <<'PROGRAM'
import io
import re
import sys

import matplotlib

assert matplotlib.__version__ == "3.6.3", matplotlib.__version__
matplotlib.use("svg")
matplotlib.rcParams["svg.fonttype"] = "none"  # so that texts can be read in the file
import matplotlib.pyplot as plt


def ticks(parse_math, scale):
    matplotlib.rcParams["text.parse_math"] = parse_math
    figure, axes = plt.subplots()
    axes.plot([1, 1000], [1, 2])
    axes.set_xscale(scale)
    file = io.BytesIO()
    figure.savefig(file, format="svg")
    plt.close(figure)
    without_comments = re.sub("<!--.*?-->", "", file.getvalue().decode(), flags=re.DOTALL)
    return "mathdefault" in without_comments


assert not ticks(True, "log"), "formulas are drawn"
assert not ticks(False, "linear"), "linear ticks are plain"
if not ticks(False, "log"):
    sys.exit("changed: ticks of a logarithmic axis are drawn as formulas or plain digits now")
print("matplotlib 3.6.3, text.parse_math False: ticks of a logarithmic axis show their TeX")
PROGRAM
