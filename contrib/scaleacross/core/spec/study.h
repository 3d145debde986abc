// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STUDY_H
#define SCALEACROSS_STUDY_H

#include "core/spec/price-spec.h"
#include "core/spec/scenario.h"
#include "core/spec/uncertain-spec.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

struct YamlNode; // core/io/yaml-node.h

/// Stands in Study::given for fabrics whose rails are said, or that are named.
constexpr const char* kRailsKey = "cluster.buildings.fabric.rails";

/// One dimension of a search: a plan field ("plan.tp", "network.qps") and the values it may take,
/// in the canonical text form of PlanField::get.
struct SearchAxis
{
    std::string key;
    std::vector<std::string> values;
};

/// A value of a study that was set for one call (--set, --sweep) to something else than what the
/// file says.
struct StudySetting
{
    std::string key;
    std::string value;
    /// What is searched, and how fast its plans are, follows from it: not so of the name, the
    /// baselines, and the engines behind the first.
    bool ofSearch{true};
};

/**
 * What a study file says: the scenario with its fixed plan values, and what explore varies on top.
 *
 * plan.dp follows from the GPUs and the other degrees unless the study fixes it.
 */
struct Study
{
    std::string name;
    std::string path; //!< of the file, for messages
    /// What ReadStudy() has read, overrides among it, for places in messages (PlacedInStudy); null
    /// for what is of no file. Of no result.
    std::shared_ptr<const YamlNode> file;
    std::vector<StudySetting> settings; //!< in their order; of no result
    Scenario scenario;
    bool dpGiven{false}; //!< the study fixes plan.dp
    /// Keys that the study itself gives a value, be it the usual one: plan fields ("network.qps"),
    /// and kRailsKey. What else a plan says is assumed. Of no result: other software keeps its own
    /// defaults where nothing is given.
    std::vector<std::string> given;
    std::vector<SearchAxis> search;
    /// The axes are all that may be worth it of what the study does not give (CompleteSearch),
    /// beside those that it lists.
    bool searchesRest{false};
    std::vector<std::string> baselines; //!< words of Baseline
    std::vector<std::string> engines;   //!< as they are given; explore ranks with the first
    /// The study names the engines; else they are the usual one, and explore has another one check
    /// its best plans.
    bool enginesGiven{false};
    /// Where each of them stands, for messages: which engines there are is the program's matter.
    std::vector<std::string> enginesAt;
    uint64_t seed{1};
    std::optional<PriceSpec> prices; //!< of no result: what is printed beside, and an objective
    /// Of no result but that of a search for a robust plan; it has figures.
    std::optional<UncertainSpec> uncertain;
};

} // namespace scaleacross

#endif // SCALEACROSS_STUDY_H
