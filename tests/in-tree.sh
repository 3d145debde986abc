#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# usage: tests/in-tree.sh [NS3_TREE]
#
# Builds the module inside an ns-3 tree, as a user of ns-3 has it, and runs its suites and examples
# there; assertions are on, unlike in Debian's packages. Without an argument the tree is Debian's
# source package of ns-3, fetched into a temporary folder. In a tree that is given, nothing is
# changed but for a link in contrib/, which is removed in the end; it is built elsewhere.

set -euo pipefail
module=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../contrib/scaleacross" && pwd)

work=$(mktemp -d)
link=
cleanup()
{
    rm -rf "$work"
    if [[ -n $link ]]; then
        rm -f "$link"
    fi
}
trap cleanup EXIT

# Fetches Debian's source package with a source list of its own: most systems list no sources.
fetch()
{
    local release
    release=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    mkdir -p "$work/lists/partial"
    echo "deb-src [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]" \
        "http://deb.debian.org/debian $release main" >"$work/sources.list"
    local options=(-qq -o "Dir::Etc::SourceList=$work/sources.list" -o Dir::Etc::SourceParts=/dev/null
        -o "Dir::State::Lists=$work/lists" -o APT::Sandbox::User=root)
    echo "fetching Debian's ns-3 source"
    (cd "$work" && apt-get "${options[@]}" update && apt-get "${options[@]}" source ns3)
    tree=$(echo "$work"/ns3-*/ns-3.*)
}

if [[ $# -gt 0 ]]; then
    tree=$(cd -- "$1" && pwd)
else
    fetch
fi
echo "ns-3 tree: $tree, version $(<"$tree/VERSION")"

if [[ ! -e $tree/contrib/scaleacross ]]; then
    ln -s "$module" "$tree/contrib/scaleacross"
    link=$tree/contrib/scaleacross
fi

# The relwithdebinfo build type is ns-3's default profile: optimised, with assertions and logging.
cmake -S "$tree" -B "$work/build" -G Ninja -D CMAKE_BUILD_TYPE=relwithdebinfo \
    -D NS3_ASSERT=ON -D NS3_LOG=ON -D NS3_OUTPUT_DIRECTORY="$work/out" \
    -D NS3_ENABLED_MODULES=scaleacross -D NS3_FILTER_MODULE_EXAMPLES_AND_TESTS=scaleacross \
    -D NS3_TESTS=ON -D NS3_EXAMPLES=ON >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
ninja --quiet -C "$work/build"

run=0
failed=()
try()
{
    echo "--- $1"
    run=$((run + 1))
    (cd "$work/out" && "${@:2}") || failed+=("$1")
}

runner=$(echo "$work"/out/utils/*test-runner*)
while read -r suite; do
    try "suite $suite" "$runner" "--suite=$suite"
done < <("$runner" --list)
for source in "$module"/examples/*.cc; do
    [[ -e $source ]] || continue
    name=$(basename "$source" .cc)
    program=$(echo "$work"/out/contrib/scaleacross/examples/*"$name"*)
    try "example $name" python3 "$module/../../tests/house/run-example.py" "$program" \
        "$module/examples/$name.expected"
done

if ((${#failed[@]})); then
    printf 'FAILED: %s\n' "${failed[@]}"
    exit 1
fi
echo "PASSED: $run suites and examples of the module in ns-3 $(<"$tree/VERSION")"
