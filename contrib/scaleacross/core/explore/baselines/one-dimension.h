// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ONE_DIMENSION_H
#define SCALEACROSS_ONE_DIMENSION_H

#include "core/spec/study.h"

#include <cstdint>
#include <string>
#include <vector>

/// Schools that are the best of one dimension of the search alone (BaselineFacts).
namespace scaleacross::school
{

/**
 * A dimension of the search: fields of plan and network. Every field is in one of these, and the
 * microbatch in two: it is how finely a replica's batch is split, which who chooses degrees
 * decides, and how many passes a schedule has to order.
 *
 * - placement: what lies where. `plan.` crossing, apportion, layers, embedding_as_layer,
 *   loss_as_layer.
 * - schedule: in which order. `plan.` schedule, microbatch, chunks, round, in_flight.
 * - parallelism: all fields of `plan` that are in none of these, dp among them, and microbatch.
 * - network: all fields of `network`.
 */
enum class SearchDimension : uint8_t
{
    Placement,
    Schedule,
    Parallelism,
    Network
};

/// The dimension that a plan field ("plan.tp") is in.
bool IsOf(const std::string& key, SearchDimension dimension);

/**
 * The space in which only one dimension varies; all else is as the study's `plan` and `network` fix
 * it, dp included unless it is of that dimension.
 *
 * A field of the dimension that the study varies has the study's values, one of `complete` has
 * those, any other its fixed one. The fixed value is among them and the first: the search
 * begins at that plan, and no answer is slower.
 */
Study OnlyVarying(const Study& study,
                  SearchDimension dimension,
                  const std::vector<SearchAxis>& complete);

} // namespace scaleacross::school

#endif // SCALEACROSS_ONE_DIMENSION_H
