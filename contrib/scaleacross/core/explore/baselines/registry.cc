// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/word-registry.h"
#include "core/explore/baselines/baseline.h"

#include <algorithm>

namespace scaleacross
{

/// The baselines there are, each in the file of its name: schools of training, planners by
/// name, the best of one dimension alone, references.
const BaselineFacts& ProductionBaseline();
const BaselineFacts& MegatronBaseline();
const BaselineFacts& AtlasLikeBaseline();
const BaselineFacts& CrosspipeLikeBaseline();
const BaselineFacts& FsdpOnlyBaseline();
const BaselineFacts& MadmaxLikeBaseline();
const BaselineFacts& SailorLikeBaseline();
const BaselineFacts& PlacementOnlyBaseline();
const BaselineFacts& ScheduleOnlyBaseline();
const BaselineFacts& ParallelismOnlyBaseline();
const BaselineFacts& NetworkOnlyBaseline();
const BaselineFacts& OneSiteBaseline();

template <>
const std::vector<const BaselineFacts*>&
Baseline::Rows()
{
    static const std::vector<const BaselineFacts*> rows = {&ProductionBaseline(),
                                                           &MegatronBaseline(),
                                                           &AtlasLikeBaseline(),
                                                           &CrosspipeLikeBaseline(),
                                                           &FsdpOnlyBaseline(),
                                                           &MadmaxLikeBaseline(),
                                                           &SailorLikeBaseline(),
                                                           &PlacementOnlyBaseline(),
                                                           &ScheduleOnlyBaseline(),
                                                           &ParallelismOnlyBaseline(),
                                                           &NetworkOnlyBaseline(),
                                                           &OneSiteBaseline()};
    return rows;
}

template class Word<BaselineFacts>;

bool
IsReference(const std::string& name)
{
    const auto& rows = Baseline::Rows();
    return std::any_of(rows.begin(), rows.end(), [&name](const BaselineFacts* row) {
        return row->word == name && row->sites != nullptr;
    });
}

} // namespace scaleacross
