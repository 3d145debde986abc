// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ONE_SITE_H
#define SCALEACROSS_ONE_SITE_H

#include "core/spec/study.h"

namespace scaleacross
{

/**
 * The same study as if all of its GPUs stood in one building, with the fabric and the NICs of the
 * first one: what distance and spans cost is the difference from its best plan.
 *
 * Spans, hubs, what is said of connections over them and the events that happen to them or to other
 * buildings are gone; model, workload, plan, network and search are those of the study. (What
 * crosses stays: in one building it is the order of ranks.) Without another building this is the
 * study itself, but for its name and baselines.
 *
 * Throws ConfigError where buildings have servers of different sizes, or GPUs that differ in more
 * than their NICs, since one building has equal ones; and where the first one's fabric does not
 * take that many GPUs.
 */
Study OneSiteOf(const Study& study);

} // namespace scaleacross

#endif // SCALEACROSS_ONE_SITE_H
