// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PLAN_FIELDS_H
#define SCALEACROSS_PLAN_FIELDS_H

#include "core/spec/network-plan.h"
#include "core/spec/parallel-plan.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// What a search decides: the parallel plan and the use of the network.
struct Plan
{
    ParallelPlan parallel;
    NetworkPlan network;
};

/**
 * One field of a plan as text: the single place that knows its key, its values and its help.
 *
 * The study reader, --set, search axes, the canonical text (hence the database key) and `list`
 * all go through this table, so a new field is one new row.
 */
struct PlanField
{
    std::string key;                   //!< "plan.tp", "network.qps"
    std::string allowed;               //!< "a whole number from 1", "dp or pp"
    std::vector<std::string> words;    //!< all that it may be; empty if it is not one of some words
    std::vector<std::string> meanings; //!< of the words
    std::string help;
    /// Parses and assigns; throws ConfigError with where = key.
    std::function<void(Plan&, const std::string&)> set;
    std::function<std::string(const Plan&)> get;
};

/// All fields in canonical order: plan.* then network.*.
const std::vector<PlanField>& PlanFields();

/// True of a tier's field that says "same": the plan is the same without it.
bool IsLeftOut(const PlanField& field, const Plan& plan);

/// The field with this key, or nullptr.
const PlanField* FindPlanField(const std::string& key);

/// Throws ConfigError (where = key) if a field whose key begins with `prefix` has a value that its
/// own set() would refuse.
void ValidatePlanFields(const Plan& plan, const std::string& prefix);

/// "tp=8 cp=1 ep=64 pp=4 dp=64 crossing=dp sharding=hsdp ...": every field of the table in its
/// order, but for tiers that have no value of their own; equal plans have equal texts. ns-3
/// attributes are no fields and are part of CanonicalJson().
std::string CanonicalText(const Plan& plan);

/// The plan with this canonical text, its ns-3 attributes aside; none if it is the text of no plan,
/// for instance of a release that had other fields.
std::optional<Plan> PlanOfText(const std::string& text);

/// Short label for tables: "TP8 EP64 PP4x2 DP512 DP-out HSDP dorapp b1".
std::string Label(const Plan& plan);

} // namespace scaleacross

#endif // SCALEACROSS_PLAN_FIELDS_H
