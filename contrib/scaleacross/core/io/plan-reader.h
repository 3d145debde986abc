// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PLAN_READER_H
#define SCALEACROSS_PLAN_READER_H

#include "core/io/yaml-node.h"
#include "core/spec/plan-fields.h"
#include "core/spec/study.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// Reads the fields of `prefix` ("plan" or "network") from a map at `path`; `network` may also hold
/// the map ns3. Keys, values and their limits come from PlanFields(). Throws ConfigError.
void ReadPlanFields(Plan& plan,
                    const YamlNode& node,
                    const std::string& prefix,
                    const std::string& path);

/// What the key `search` says.
struct SearchWords
{
    std::vector<SearchAxis> axes;
    bool complete{
        false}; //!< all else that the study does not give is searched too (CompleteSearch)
};

/// Reads the key `search`: the word auto; or for plan and network fields a list of values, one
/// value, or a range {from, to, factor} or {from, to, step}, with `rest: auto` or without. Every
/// value is checked here. Throws ConfigError.
SearchWords ReadSearch(const YamlNode& node);

/// The plan fields that a map at `prefix` ("plan", "network" or "network.tiers") gives, by key.
std::vector<std::string> GivenFields(const YamlNode& node, const std::string& prefix);

} // namespace scaleacross

#endif // SCALEACROSS_PLAN_READER_H
