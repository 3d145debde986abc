// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PACKET_ENGINE_H
#define SCALEACROSS_PACKET_ENGINE_H

#include "core/engine/engine.h"

#include <cstdint>

namespace scaleacross
{

/**
 * The task graph executed packet by packet in ns-3: every rank a TrainingApplication, every NIC,
 * switch and wire of the cluster's fabric graph simulated.
 *
 * Ends with RunError if a queue pair fails, if nothing can go on (who waits for what), or if the
 * time limit is reached; packets are counted at the end of every run: sent = delivered + dropped +
 * in flight.
 *
 * With FastForwards::Steady it skips phases in which nothing changes (ns3::FastForward); counters
 * of packets are then of those that were simulated, and RunReport::fastForward says how much was
 * skipped and how wrong that is. It refuses scenarios with events, and ends with RunError
 * "fast-forward" if what it skips is off by more than 1 %.
 *
 * ns-3 has one Simulator per process: runs follow each other, and two threads must not run at a
 * time. Sweeps use worker processes.
 */
class PacketEngine : public Engine
{
  public:
    /// Ranks beyond which a run is refused: every NIC and its queue pairs are simulated.
    static constexpr uint32_t kMaxRanks = 4096;
    /// Of what could be skipped, the part that is simulated to compare.
    static constexpr double kVerified = 0.05;

    enum class FastForwards : uint8_t
    {
        Never,
        Steady //!< phases in which nothing changes
    };

    explicit PacketEngine(FastForwards fastForward = FastForwards::Never);

    std::string Name() const override;
    bool UsesSeed() const override;
    std::string Fingerprint() const override;
    RunResult Run(const Scenario& scenario, const RunOptions& options) const override;

  private:
    FastForwards m_fastForward;
};

} // namespace scaleacross

#endif // SCALEACROSS_PACKET_ENGINE_H
