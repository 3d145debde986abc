// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ONE_SITE_H
#define SCALEACROSS_ONE_SITE_H

#include "core/spec/study.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// A study as if all of its GPUs were of one kind and stood in one building.
struct OneSite
{
    Study study;
    std::string gpu;     //!< the kind, as its first building names it
    std::string assumed; //!< what was assumed: "fabric and NICs of east"
};

/**
 * The same study as if all of its GPUs stood in one building, once for each kind of GPU that it
 * has: what distance and spans cost is the difference from the best plan of the best of them.
 *
 * Two GPUs are of one kind where they differ in nothing but their NICs, and have as many others in
 * their server. The building of a kind has the fabric and NICs of the study's first building of it.
 * Where there are several kinds, its matrix peaks, of BF16 and of the workload's precision, are the
 * means over all GPUs of the study, so that the building has the peak of the whole cluster; memory,
 * its bandwidth, the scale-up network and the efficiencies are those of the kind. With 2 GPUs of 1
 * PFLOP/s and 2 of 3 PFLOP/s either building has 4 GPUs of 2 PFLOP/s.
 *
 * Spans, hubs, what is said of connections over them and the events that happen to them or to other
 * buildings are gone; model, workload, plan, network and search are those of the study. (What
 * crosses stays: in one building it is the order of ranks.) Without another building this is the
 * study itself, but for its name and baselines.
 *
 * A kind whose first fabric does not take that many GPUs has no such building, which is said in
 * what the others assume. Throws ConfigError where no kind has one.
 */
std::vector<OneSite> OneSitesOf(const Study& study);

} // namespace scaleacross

#endif // SCALEACROSS_ONE_SITE_H
