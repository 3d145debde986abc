// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TASK_LIST_JSON_H
#define SCALEACROSS_TASK_LIST_JSON_H

#include "core/program/program.h"
#include "core/topology/rank-layout.h"

#include <nlohmann/json_fwd.hpp>

namespace scaleacross
{

/// How far a group's members, or the ends of a message, are from each other: "server", "building"
/// or "across" buildings. Domain: ranks of the layout.
const char* ScopeOf(const RankLayout& layout, Rank a, Rank b);

/// The same of the group of a rank.
const char* ScopeOf(const RankLayout& layout, const RankGroup& group, Rank rank);

/// {"size", "axes": [{"stride", "count"}], "scope"}, the scope being that of the group of `rank`.
nlohmann::ordered_json GroupJson(const RankLayout& layout, const RankGroup& group, Rank rank);

/**
 * A task graph as {"classes", "bodies", "collectives", "messages"}: times in seconds, bytes whole.
 * doc/your-model.md has every key. The scope of a collective is the widest of the classes that do
 * it.
 */
nlohmann::ordered_json TaskListJson(const TaskGraph& graph, const RankLayout& layout);

} // namespace scaleacross

#endif // SCALEACROSS_TASK_LIST_JSON_H
