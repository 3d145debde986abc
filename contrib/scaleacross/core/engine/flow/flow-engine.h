// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLOW_ENGINE_H
#define SCALEACROSS_FLOW_ENGINE_H

#include "core/engine/engine.h"
#include "core/engine/flow/flow-transport.h"

#include <optional>

namespace scaleacross
{

/**
 * Every rank with its own program (RankReplay), message by message, over a network of flows
 * (FlowTransport): what ranks do and send is as in the packet engine, also to the byte, and only
 * what the network makes of it is a model.
 *
 * Of ranks that are alike one stands for all (Symmetry), unless something that is drawn or the
 * order of what is simultaneous tells them apart: hashes that are sampled, losses, grants, and
 * queues in which they wait for each other. Of more than kMaxApart ranks those that queue are taken
 * to stay together.
 *
 * Deterministic for a seed, which decides which packets are lost, and with sampled collisions where
 * hashes put queue pairs. Threads may share an engine.
 */
class FlowEngine : public Engine
{
  public:
    /// Ranks that are replayed, at most.
    static constexpr uint32_t kMaxRanks = 16'384;

    /// Ranks that are replayed one by one, message by message, because they queue or because each
    /// has paths of its own, at most.
    static constexpr uint32_t kMaxApart = 1'024;

    enum class Replay : uint8_t
    {
        Different, //!< ranks that differ, and rings inside servers as one event where that is exact
        Every      //!< all ranks, message by message: to hold the other against
    };

    /// Without `collisions`: sampled, as in the packet engine, where the multipath hashes and there
    /// are no more than kMaxApart ranks; expected, so that ranks are alike, where there are more.
    explicit FlowEngine(std::optional<Collisions> collisions = std::nullopt,
                        Replay replay = Replay::Different)
        : m_collisions(collisions),
          m_replay(replay)
    {
    }

    std::string Name() const override;
    bool UsesSeed() const override;
    std::string Fingerprint() const override;
    RunResult Run(const Scenario& scenario, const RunOptions& options) const override;

  private:
    /// What becomes of collisions in a run of so many ranks.
    Collisions CollisionsOf(const Scenario& scenario, uint32_t ranks) const;

    std::optional<Collisions> m_collisions;
    Replay m_replay;
};

} // namespace scaleacross

#endif // SCALEACROSS_FLOW_ENGINE_H
