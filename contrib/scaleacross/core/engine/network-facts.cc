// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/network-facts.h"

#include "core/spec/canonical-json.h"

namespace scaleacross
{

namespace
{

/// Equal for scenarios whose facts are equal, indices of spans included.
std::string
KeyOf(const Scenario& scenario)
{
    std::string key = CanonicalNetwork(scenario);
    // There spans are in an order of their own.
    for (const CrossLinkSpec& link : scenario.cluster.crossLinks)
    {
        key += " " + std::to_string(link.a) + "-" + std::to_string(link.b);
    }
    return key;
}

} // namespace

NetworkFacts::NetworkFacts(const Scenario& scenario)
    : paths(scenario.cluster),
      cuts(scenario.cluster, scenario.events)
{
}

std::shared_ptr<const NetworkFacts>
NetworkFactsCache::Of(const Scenario& scenario)
{
    const std::string key = KeyOf(scenario);
    const std::lock_guard<std::mutex> lock(m_mutex);
    if (!m_facts || key != m_key)
    {
        m_facts = std::make_shared<const NetworkFacts>(scenario);
        m_key = key;
    }
    return m_facts;
}

} // namespace scaleacross
