// SPDX-License-Identifier: GPL-2.0-only

#include "reordering.h"

#include "core/base/errors.h"

namespace scaleacross
{

void
CheckTolerates(const std::string& where, const std::string& cause, const Reordering& reordering)
{
    const bool tolerant = reordering.selective && reordering.tolerance > 0;
    if (tolerant && reordering.outOfOrderLimit >= reordering.tolerance)
    {
        return;
    }
    throw ConfigError(where,
                      cause + ", and with " +
                          (!reordering.selective ? "go-back-N"
                           : tolerant            ? "an OutOfOrderLimit of " +
                                            std::to_string(reordering.outOfOrderLimit) +
                                            ", below the ReorderTolerance of " +
                                            std::to_string(reordering.tolerance) + ","
                                      : "a ReorderTolerance of 0") +
                          " that counts as loss",
                      "RetransmissionMode SelectiveRepeat, ReorderTolerance above 0, "
                      "OutOfOrderLimit not below it",
                      "set these attributes of RdmaQueuePair: at least the difference in delay "
                      "between paths, in packets");
}

} // namespace scaleacross
