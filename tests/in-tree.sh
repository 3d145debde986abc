#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: tests/in-tree.sh [NS3_TREE]
#
# Builds the module inside an ns-3 tree, as a user of ns-3 has it, and runs its suites and examples
# there; assertions are on, unlike in Debian's packages, and warnings are errors. Without an argument
# the tree is Debian's source package of ns-3. A tree that is given is not changed, but for a link in
# its contrib/ which is removed in the end. What was fetched and built stays in build/in-tree for the
# next time.

set -euo pipefail
top=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
module=$top/contrib/scaleacross
work=$top/build/in-tree

# Fetches Debian's source package from where the system has its package from, by that entry of its
# source lists: most systems list no sources.
fetch()
{
    local site suite entry
    read -r site suite _ < <(apt-cache madison libns3-dev | awk -F'|' 'NR == 1 { print $3 }') || true
    if [[ -z ${suite:-} ]]; then
        echo "apt knows no package libns3-dev: run apt-get update first" >&2
        exit 1
    fi
    # shellcheck disable=SC2016 # apt's own words
    entry=$(apt-get indextargets --format '$(SITE) $(RELEASE)/$(COMPONENT) $(SOURCESENTRY)' |
        awk -v from="$site $suite " 'index($0, from) == 1 && !found++ { print $3 }')
    entry=${entry%:*}
    mkdir -p "$work/lists/partial" "$work/sources"
    sed -E 's/^Types:.*/Types: deb-src/; s/^deb /deb-src /' "$entry" >"$work/sources/$(basename "$entry")"
    local options=(-qq -o Dir::Etc::SourceList=/dev/null -o "Dir::Etc::SourceParts=$work/sources"
        -o "Dir::State::Lists=$work/lists" -o APT::Sandbox::User=root)
    echo "fetching the source package of ns-3 from $site"
    (cd "$work" && apt-get "${options[@]}" update && apt-get "${options[@]}" source ns3)
}

if [[ $# -gt 0 ]]; then
    tree=$(cd -- "$1" && pwd)
else
    compgen -G "$work/ns3-*/ns-3.*" >/dev/null || fetch
    tree=$(echo "$work"/ns3-*/ns-3.*)
fi
version=$(<"$tree/VERSION")
build=$work/build-$version
out=$work/out-$version
mkdir -p "$build"
echo "ns-3 $version in $tree"

if [[ ! -e $tree/contrib/scaleacross ]]; then
    ln -s "$module" "$tree/contrib/scaleacross"
    trap 'rm -f "$tree/contrib/scaleacross"' EXIT
fi

# The build type is ns-3's default profile: optimised, with assertions and logging.
cmake -S "$tree" -B "$build" -G Ninja -D CMAKE_BUILD_TYPE=relwithdebinfo \
    -D NS3_ASSERT=ON -D NS3_LOG=ON -D NS3_OUTPUT_DIRECTORY="$out" \
    -D NS3_ENABLED_MODULES=scaleacross -D NS3_FILTER_MODULE_EXAMPLES_AND_TESTS=scaleacross \
    -D NS3_TESTS=ON -D NS3_EXAMPLES=ON -D SCALEACROSS_STRICT=ON >"$build.log" 2>&1 || { cat "$build.log"; exit 1; }
ninja --quiet -C "$build"

run=0
failed=()
try()
{
    echo "--- $1"
    run=$((run + 1))
    (cd "$out" && "${@:2}") || failed+=("$1")
}

runner=$(echo "$out"/utils/*test-runner*)
while read -r suite; do
    # ns-3 builds some suites of its own modules together.
    grep -rqsF "\"$suite\"" "$module/test" || continue
    try "suite $suite" "$runner" "--suite=$suite"
done < <("$runner" --list)
for source in "$module"/examples/*.cc; do
    [[ -e $source ]] || continue
    name=$(basename "$source" .cc)
    try "example $name" "$top/tests/house/run-example.py" \
        "$(echo "$out"/contrib/scaleacross/examples/ns3*-"$name"-relwithdebinfo)" \
        "$module/examples/$name.expected"
done

if ((${#failed[@]})); then
    printf 'FAILED: %s\n' "${failed[@]}"
    exit 1
fi
if ((run == 0)); then
    echo "FAILED: the module has no suite and no example"
    exit 1
fi
echo "PASSED: $run suites and examples of the module in ns-3 $version"
