// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWEEP_H
#define SCALEACROSS_SWEEP_H

#include "cli/explore-study.h"

namespace scaleacross
{

/// Explores a study at every value of options.sweep and prints what wins where.
Exit Sweep(const ExploreOptions& options);

} // namespace scaleacross

#endif // SCALEACROSS_SWEEP_H
