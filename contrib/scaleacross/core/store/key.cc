// SPDX-License-Identifier: GPL-2.0-only

#include "core/store/key.h"

#include "core/explore/span-quantity.h"
#include "core/spec/canonical-json.h"
#include "core/spec/study-json.h"
#include "core/topology/site-route.h"

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <set>

namespace scaleacross
{

std::string
HashOf(const std::string& text)
{
    boost::uuids::name_generator_sha1 generator(boost::uuids::ns::url());
    return boost::uuids::to_string(generator(text));
}

std::string
NetworkText(const Scenario& scenario)
{
    Scenario network = scenario;
    network.jobs.assign(1, JobSpec());
    network.Job().collective.emplace();
    return CanonicalJson(network);
}

namespace
{

/// Places in ClusterSpec::crossLinks of the spans on the ways between the buildings.
std::set<uint32_t>
SpansBetweenBuildings(const ClusterSpec& cluster)
{
    std::set<uint32_t> spans;
    const auto buildings = static_cast<uint32_t>(cluster.buildings.size());
    for (uint32_t from = 0; from < buildings; from++)
    {
        for (uint32_t to = from + 1; to < buildings; to++)
        {
            if (const auto route = FindSiteRoute(cluster, from, to))
            {
                for (const SiteRoute::Use& use : route->uses)
                {
                    spans.insert(use.link);
                }
            }
        }
    }
    return spans;
}

} // namespace

SpanFigures
SpanFiguresOf(const ClusterSpec& cluster)
{
    SpanFigures figures;
    for (const uint32_t i : SpansBetweenBuildings(cluster))
    {
        const CrossLinkSpec& span = cluster.crossLinks[i];
        const double bps = span.capacity.Value();
        figures.distanceKm = std::max(figures.distanceKm.value_or(0), span.distance.Value());
        figures.capacityBps = std::min(figures.capacityBps.value_or(bps), bps);
        figures.loss = std::max(figures.loss.value_or(0), span.loss);
        if (const auto over = OversubscriptionOf(cluster, span))
        {
            figures.oversubscription = std::max(figures.oversubscription.value_or(0), *over);
        }
    }
    return figures;
}

std::string
OptionsText(const RunOptions& options)
{
    return "warmup=" + std::to_string(options.warmup) +
           " iterations=" + std::to_string(options.iterations) +
           (options.slice ? " slice=" + ToString(*options.slice) : std::string());
}

RunSetting
MakeRunSetting(const Scenario& scenario, const Engine& engine, const RunOptions& options)
{
    RunSetting setting;
    setting.setting = CanonicalSetting(scenario);
    setting.study = StudyJson(scenario, {false, options.seed});
    setting.engine = engine.Name();
    setting.options = OptionsText(options);
    if (engine.UsesSeed())
    {
        setting.seed = options.seed;
    }
    setting.fingerprint = engine.Fingerprint();
    setting.limits = options.limits;
    setting.spans = SpanFiguresOf(scenario.cluster);
    return setting;
}

std::string
Text(const RunSetting& setting)
{
    return setting.setting + "\n" + setting.engine + "\n" + setting.options + "\n" +
           setting.correction + "\n" + (setting.seed ? std::to_string(*setting.seed) : "none") +
           "\n" + setting.fingerprint;
}

} // namespace scaleacross
