// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SITE_ROUTE_H
#define SCALEACROSS_SITE_ROUTE_H

#include "core/base/units.h"
#include "core/spec/cluster-spec.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace scaleacross
{

/**
 * The ways from one site to another: all with the fewest spans.
 *
 * At every site packets spread evenly over all lanes that lead on, as equal-cost routing does at
 * the top switches, whatever the spans' capacities and lengths are.
 *
 * Worked case: a ring of four buildings 0-1-2-3-0 with one lane each, from 0 to 2: two ways, over 1
 * and over 3, two spans long; every one of the four spans carries half of the traffic.
 */
struct SiteRoute
{
    /// A span that part of the traffic takes.
    struct Use
    {
        uint32_t link{0};   //!< index into ClusterSpec::crossLinks
        bool forward{true}; //!< from link.a to link.b
        double share{0};    //!< of the traffic between the two sites
    };

    /// One span after the other, of the longest of the ways (in time).
    struct Hop
    {
        uint32_t link{0};
        bool forward{true};
    };

    std::vector<Use> uses;
    std::vector<Hop> longest;
    /// Ways of one plane: sum over the site sequences of the product of lanes; at most UINT64_MAX.
    uint64_t ways{0};
    double loss{0}; //!< probability that a packet is lost on its way, mean over the ways
    /// Of all ways, however many spans they have, the shortest in time: where others fail, traffic
    /// may take it.
    Duration least;
};

/// Empty if no spans lead from one to the other. Domain: from is not to.
std::optional<SiteRoute> FindSiteRoute(const ClusterSpec& cluster, uint32_t from, uint32_t to);

/// Throws ConfigError if no spans lead from one to the other. Domain: from is not to.
SiteRoute RouteBetweenSites(const ClusterSpec& cluster, uint32_t from, uint32_t to);

} // namespace scaleacross

#endif // SCALEACROSS_SITE_ROUTE_H
