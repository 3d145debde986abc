// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PACKET_ENGINE_H
#define SCALEACROSS_PACKET_ENGINE_H

#include "core/engine/engine.h"

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
 * ns-3 has one Simulator per process: runs follow each other, and two threads must not run at a
 * time. Sweeps use worker processes.
 */
class PacketEngine : public Engine
{
  public:
    /// Ranks beyond which a run is refused: every NIC and its queue pairs are simulated.
    static constexpr uint32_t kMaxRanks = 4096;

    std::string Name() const override;
    bool UsesSeed() const override;
    std::string Fingerprint() const override;
    RunResult Run(const Scenario& scenario, const RunOptions& options) const override;
};

} // namespace scaleacross

#endif // SCALEACROSS_PACKET_ENGINE_H
