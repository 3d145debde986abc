// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/loss-warnings.h"

namespace scaleacross
{

std::vector<std::string>
WarningsOfMeanLosses(const Scenario& scenario)
{
    const NetworkPlan& network = scenario.network;
    if (!scenario.cluster.LosesPackets() || !network.recovery->selective ||
        !network.multipath->MayReorder())
    {
        return {};
    }
    return {"network.multipath " + network.multipath->word +
            ": packets that are lost between buildings may wait for a timeout, " +
            ToString(network.Timeout()) +
            ", which this engine does not have where few messages follow; compare with flow or "
            "packet before you choose by it"};
}

} // namespace scaleacross
