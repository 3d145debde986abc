// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/explore/baselines/one-dimension.h"
#include "core/explore/baselines/school.h"

namespace scaleacross
{

namespace
{

/// What carries data, by which ways, over how many queue pairs, and how collectives go. Transports
/// that need another way or recovery are refused with all others. An all-to-all counts where there
/// are experts, and the way of experts' tokens with it.
std::vector<Study>
Spaces(const Study& study)
{
    std::vector<SearchAxis> complete = {{"network.transport", Transport::Names()},
                                        {"network.multipath", Multipath::Names()},
                                        {"network.recovery", Recovery::Names()},
                                        {"network.qps", {"1", "2", "4", "8", "16", "32", "64"}},
                                        {"network.collective", CollectiveAlgorithm::Names()}};
    if (study.scenario.Job().model.IsMoe())
    {
        complete.push_back({"network.all_to_all", AllToAllAlgorithm::Names()});
    }
    return {school::OnlyVarying(study, school::SearchDimension::Network, complete)};
}

} // namespace

const BaselineFacts&
NetworkOnlyBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "network-only";
        known.help = "as production, but what uses the network";
        known.beginsAtAnother = true;
        known.tunes = "transport, multipath, recovery, qps, collective, all_to_all of experts; "
                      "every other field of network if the study varies it";
        known.untouched = "placement, schedule, parallelism";
        known.source = "one of the dimensions of arXiv:2605.24326 by itself";
        known.spaces = Spaces;
        known.recomputesLeast = false;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
