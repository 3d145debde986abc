// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FAST_LINKS_H
#define SCALEACROSS_FAST_LINKS_H

#include "core/spec/cluster-spec.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// The fastest port that switches are sold with: 1.6 Tb/s, eight lanes of 200 Gb/s (IEEE P802.3dj).
constexpr BitRate kFastestPort = BitRate(1.6e12);

/**
 * A line for each kind of link between switches of buildings, and one for spans, that are faster
 * than any port: such a link would be several, of which a flow takes one. It tells of the fastest,
 * and what to set to which number n' = n ceil(rate / kFastestPort), the largest of all: links share
 * what leads up in equal parts, so that n' switches or lanes in place of n have links of rate
 * n / n' of what it was.
 */
std::vector<std::string> FastLinkWarnings(const ClusterSpec& cluster);

} // namespace scaleacross

#endif // SCALEACROSS_FAST_LINKS_H
