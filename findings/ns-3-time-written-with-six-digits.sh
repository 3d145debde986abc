#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
#
# ns-3 3.37 (Debian 12, libns3-dev 3.37-2).
#
# The header ns3/nstime.h says of operator<< that a Time is written as "fixed", like "396.0ns", and
# that the stream's precision is ignored. One would guess that all nanoseconds of a time are
# written. But precision counts, "fixed" is not set, and a stream begins with six digits:
# 1.234567891 s becomes "+1.23457e+09ns", and 1.234571111 s as well, so that events of a trace seem
# to happen at one instant. TimeValue::SerializeToString writes in this way too, so an attribute
# that is stored as text and read back has another value: 1.23457 s, without a message.
# std::setprecision(19) on the stream helps; where a TimeValue is written there is no stream to
# set.

set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/packages/partial" "$folder/tree"
chmod -R 755 "$folder"
# With nothing installed as far as apt knows, it fetches all that the packages need.
touch "$folder/status"
apt-get install --download-only --yes --no-install-recommends -qq \
    -o Dir::State::status="$folder/status" -o Dir::Cache::archives="$folder/packages" \
    -o APT::Sandbox::User=root libns3-dev=3.37-2 g++ >/dev/null
for package in "$folder"/packages/*.deb; do
    dpkg-deb -x "$package" "$folder/tree"
done
cat >"$folder/tree/main.cc" <<'PROGRAM'
#include <iomanip>
#include <iostream>
#include <ns3/nstime.h>
#include <sstream>

template <typename... Settings>
std::string Written(ns3::Time time, Settings... settings)
{
    std::ostringstream stream;
    (stream << ... << settings);
    stream << time;
    return stream.str();
}

int main()
{
    const ns3::Time time = ns3::NanoSeconds(1234567891);
    const ns3::Time other = ns3::NanoSeconds(1234571111);
    const auto checker = ns3::MakeTimeChecker();
    const std::string text = ns3::TimeValue(time).SerializeToString(checker);
    ns3::TimeValue back;
    if (!back.DeserializeFromString(text, checker))
    {
        return 1;
    }
    std::cout << Written(time) << "\n"
              << Written(other) << "\n"
              << Written(time, std::setprecision(19)) << "\n"
              << text << "\n"
              << back.Get().GetNanoSeconds() << "\n";
}
PROGRAM
grep -q 'The stream .width. and .precision. are ignored' "$folder/tree/usr/include/ns3/nstime.h"
chroot "$folder/tree" /usr/bin/g++ -std=c++17 -w main.cc -o main -lns3-core
chroot "$folder/tree" /main >"$folder/told"
short=+1.23457e+09ns
printf '%s\n' $short $short +1234567891ns $short 1234570000 >"$folder/expected"
if ! diff "$folder/expected" "$folder/told"; then
    echo "changed: times are written otherwise" >&2
    exit 1
fi
echo "ns-3 3.37: 1234567891 ns and 1234571111 ns are both written as $(head -n 1 "$folder/told")"
echo "ns-3 3.37: an attribute of 1234567891 ns, written and read, is $(tail -n 1 "$folder/told") ns"
