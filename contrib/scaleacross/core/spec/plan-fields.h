// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PLAN_FIELDS_H
#define SCALEACROSS_PLAN_FIELDS_H

#include "core/base/field.h"
#include "core/spec/network-plan.h"
#include "core/spec/parallel-plan.h"

#include <optional>
#include <string>

namespace scaleacross
{

/// What a search decides: the parallel plan and the use of the network.
struct Plan
{
    ParallelPlan parallel;
    NetworkPlan network;
};

/// Its key is the whole path in a study: "plan.tp", "network.qps", "network.tiers.cross.qps".
using PlanField = Field<Plan>;

/// All fields in canonical order: plan.* then network.*.
const FieldTable<Plan>& PlanFields();

/// True of a tier's field that says "same", and of how NICs serve queue pairs and traffic classes
/// if that is as it usually is: the plan is the same without it.
bool IsLeftOut(const PlanField& field, const Plan& plan);

/// The field with this key, or nullptr.
const PlanField* FindPlanField(const std::string& key);

/// Throws ConfigError (where = key) if a field whose key begins with `prefix` has a value that its
/// own set() would refuse.
void ValidatePlanFields(const Plan& plan, const std::string& prefix);

/// "tp=8 ep=64 pp=4 dp=64 sharding=hsdp ...": the fields of the table, in its order, that are not
/// as they usually are; equal plans have equal texts, and keep them when the table grows. ns-3
/// attributes are no fields and are part of CanonicalJson().
std::string CanonicalText(const Plan& plan);

/// The plan with this canonical text, its ns-3 attributes aside; none if it is the text of no plan,
/// for instance of a release that had other fields.
std::optional<Plan> PlanOfText(const std::string& text);

/// Short label for tables: "TP8 EP64 PP4x2 DP512 DP-out HSDP dorapp b1".
std::string Label(const Plan& plan);

} // namespace scaleacross

#endif // SCALEACROSS_PLAN_FIELDS_H
