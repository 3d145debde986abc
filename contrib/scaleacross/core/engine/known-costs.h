// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_KNOWN_COSTS_H
#define SCALEACROSS_KNOWN_COSTS_H

#include "core/engine/transfer-cost.h"
#include "core/program/collective.h"
#include "core/program/rank-group.h"
#include "core/spec/plan-fields.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace scaleacross
{

/// Ranks of one stage and building.
struct RankCount
{
    Rank one{0}; //!< of them
    uint32_t ranks{0};
};

bool operator==(const RankCount& a, const RankCount& b);

/// A phase of a collective as it is done somewhere.
struct PlacedPhase
{
    Phase phase;
    Rank representative{0};
    std::vector<RankCount> members; //!< as NetworkModel::PhaseCost() has them
};

bool operator==(const PlacedPhase& a, const PlacedPhase& b);

/// What phases cost on one network with one layout. Threads may share it.
class PhaseCosts
{
  public:
    /// `find()` where it is not known.
    TransferCost Of(const PlacedPhase& placed, const std::function<TransferCost()>& find);

    /// How many are known.
    size_t Size();

  private:
    struct Hash
    {
        size_t operator()(const PlacedPhase& placed) const;
    };

    std::mutex m_mutex;
    std::unordered_map<PlacedPhase, TransferCost, Hash> m_costs;
};

/**
 * The costs of phases by network and layout: most plans of a search differ in what is between two
 * collectives, and have these in common by the hundred.
 *
 * Kept while they are not too many. Threads may share one.
 */
class KnownCosts
{
  public:
    /// Of one cluster and its events.
    std::shared_ptr<PhaseCosts> Of(const Plan& plan);

  private:
    std::mutex m_mutex;
    std::map<std::pair<std::string, std::vector<uint64_t>>, std::shared_ptr<PhaseCosts>> m_known;
};

} // namespace scaleacross

#endif // SCALEACROSS_KNOWN_COSTS_H
