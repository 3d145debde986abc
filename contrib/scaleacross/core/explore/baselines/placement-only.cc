// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/baselines/baseline.h"
#include "core/explore/baselines/one-dimension.h"
#include "core/explore/baselines/school.h"

namespace scaleacross
{

namespace
{

/// What crosses (of experts only where there are some), and how layers are dealt out.
std::vector<Study>
Spaces(const Study& study)
{
    Values crossings = {ToString(Crossing::Data), ToString(Crossing::Pipeline)};
    if (study.scenario.Job().model.IsMoe())
    {
        crossings.push_back(ToString(Crossing::Expert));
    }
    return {school::OnlyVarying(study,
                                school::SearchDimension::Placement,
                                {{"plan.crossing", crossings},
                                 {"plan.apportion", Apportion::Names()},
                                 {"plan.embedding_as_layer", Either()},
                                 {"plan.loss_as_layer", Either()}})};
}

} // namespace

const BaselineFacts&
PlacementOnlyBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "placement-only";
        known.help = "as production, but what crosses and how layers are dealt out";
        known.beginsAtAnother = true;
        known.tunes =
            "crossing, apportion, embedding_as_layer, loss_as_layer; layers if the study varies it";
        known.untouched = "schedule, parallelism, network";
        known.source = "one of the dimensions of arXiv:2605.24326 by itself";
        known.spaces = Spaces;
        known.recomputesLeast = false;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
