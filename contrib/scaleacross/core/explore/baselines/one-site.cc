// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/one-site.h"

#include "core/explore/baselines/baseline.h"

namespace scaleacross
{

namespace
{

/// OneSiteOf(), or why there is none.
std::variant<Study, Infeasible>
Site(const Study& study)
{
    try
    {
        return OneSiteOf(study);
    }
    catch (const ConfigError& error)
    {
        return Infeasible{"building", error.Problem()};
    }
}

} // namespace

const BaselineFacts&
OneSiteBaseline()
{
    static const BaselineFacts facts = [] {
        BaselineFacts known;
        known.word = "one-site";
        known.help =
            "no school: the study's own search with all GPUs in one building, which has the "
            "first one's fabric and NICs";
        known.tunes = "what the study's search varies";
        known.untouched = "what the study fixes";
        known.source = "the same cluster without spans: what being spread out costs";
        known.prefersFirst = false; // a search as the study's own is
        known.site = Site;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
