// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/one-site.h"

#include "core/explore/baselines/baseline.h"

namespace scaleacross
{

namespace
{

/// OneSitesOf(), or why there are none.
std::variant<std::vector<OneSite>, Infeasible>
Sites(const Study& study)
{
    try
    {
        return OneSitesOf(study);
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
            "no school: the study's own search with all GPUs in one building, the best over the "
            "kinds "
            "of GPU, with the fabric and NICs of the first building of a kind and the mean peak of "
            "all GPUs";
        known.tunes = "what the study's search varies";
        known.untouched = "what the study fixes";
        known.source = "the same cluster without spans: what being spread out costs";
        known.prefersFirst = false; // a search as the study's own is
        known.sites = Sites;
        return known;
    }();
    return facts;
}

} // namespace scaleacross
