// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_KNOWN_REPLAYS_H
#define SCALEACROSS_KNOWN_REPLAYS_H

#include "core/engine/pass-replay.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/pipeline/pipeline-shape.h"
#include "core/pipeline/pipeline-times.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/**
 * Orders of pipelines and what ReplayPasses() makes of them, found once: thousands of plans that
 * differ in what they share and how they send it have the same.
 *
 * Kept while they are not too many. Threads may share one.
 */
class KnownReplays
{
  public:
    /// PipelineSchedule::Orders(). Domain: as there.
    std::shared_ptr<const PipelineOrders> OrdersOf(const PipelineShape& shape) const;

    /// ReplayPasses() with the orders of the shape.
    ReplayedPasses Of(const PipelineShape& shape, const ReplayTimes& times) const;

    /// ReplayWindow() likewise.
    double Of(const PipelineShape& shape, const ReplayTimes& times, const PassWindow& window) const;

  private:
    using Key = std::pair<std::string, std::vector<int64_t>>;

    static Key KeyOf(const PipelineShape& shape);
    static Key KeyOf(const PipelineShape& shape, const ReplayTimes& times);

    template <class Value, class Find>
    Value Known(std::map<Key, Value>& known, Key key, const Find& find) const;

    mutable std::shared_mutex m_mutex;
    mutable std::map<Key, std::shared_ptr<const PipelineOrders>> m_orders;
    mutable size_t m_actions{0}; //!< of these
    mutable std::map<Key, ReplayedPasses> m_replayed;
    mutable std::map<Key, double> m_windows;
};

} // namespace scaleacross

#endif // SCALEACROSS_KNOWN_REPLAYS_H
