#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# lp_solve 5.5.2.5, GLPK 5.0 and CBC 2.10.8 (Debian 12: lp-solve 5.5.2.5-2, glpk-utils 5.0-1,
# coinor-cbc 2.10.8+ds1-1).
#
# MPS is the format in which solvers have passed models to each other since the sixties. One would
# guess that a model which lp_solve writes has the same optimum in other solvers. That of "x + 10
# for x of at least 3" is 13 in lp_solve, 13 in GLPK and -7 in CBC, all without a warning. The
# constant is the right-hand side of the objective's row, and they disagree on its sign: lp_solve
# and GLPK take it as it is, CBC moves it to the left-hand side first. The variables are the same,
# so that only a comparison of objectives finds out, for example a gap to a bound of another
# solver. A variable fixed at 1 with the constant as its coefficient means the same to all three.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/packages/partial" "$folder/tree"
chmod -R 755 "$folder"
# With nothing installed as far as apt knows, it fetches all that the packages need.
touch "$folder/status"
apt-get install --download-only --yes --no-install-recommends -qq \
    -o Dir::State::status="$folder/status" -o Dir::Cache::archives="$folder/packages" \
    -o APT::Sandbox::User=root \
    lp-solve=5.5.2.5-2 glpk-utils=5.0-1 coinor-cbc=2.10.8+ds1-1 >/dev/null
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/tree"
done
lib=/usr/lib/$(uname -m)-linux-gnu
export LD_LIBRARY_PATH=$lib/blas:$lib/lapack # where an installation would link to from outside

inside() {
    chroot "$folder/tree" "$@"
}

# optima MODEL: the objective's least value in lp_solve, and what GLPK and CBC make of its MPS file.
optima() {
    printf '%s\n' "$1" >"$folder/tree/model.lp"
    inside /usr/bin/lp_solve /model.lp -S1 -wfmps /model.mps >/dev/null
    inside /usr/bin/lp_solve /model.lp -S3 |
        sed -n 's/^Value of objective function: *//p' | awk '{ print $1 + 0 }'
    inside /usr/bin/glpsol --freemps /model.mps --output /glpk.txt >/dev/null
    sed -n 's/^Objective: .* = \([^ ]*\) .*/\1/p' "$folder/tree/glpk.txt"
    inside /usr/bin/cbc /model.mps solve | sed -n 's/^Optimal objective \([^ ]*\) .*/\1/p'
}

fixed=$(optima "min: x + 10 one; c: x >= 3; one = 1;" | xargs)
[ "$fixed" = "13 13 13" ] || { echo "with a fixed variable: $fixed" >&2; exit 1; }
constant=$(optima "min: x + 10; c: x >= 3;" | xargs)
grep "R0 " "$folder/tree/model.mps"
if [ "$constant" != "13 13 -7" ]; then
    echo "changed: the optima are $constant" >&2
    exit 1
fi
echo "x + 10 for x of at least 3: the optimum in lp_solve, GLPK and CBC is $constant"
