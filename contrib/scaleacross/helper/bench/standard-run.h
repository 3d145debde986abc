// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STANDARD_RUN_H
#define SCALEACROSS_STANDARD_RUN_H

#include "standard-work.h"

#include "ns3/fabric-helper.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ns3
{
class FabricPort;
struct FabricBalance;
} // namespace ns3

namespace scaleacross
{

/// What a run of a standard work gave.
struct StandardResult
{
    uint64_t dataPacketHops{0};        //!< data packets that arrived, times the wires of their flow
    uint64_t events{0};                //!< of the Simulator
    uint64_t dropped{0};               //!< packets, for whatever reason
    uint64_t pauseFrames{0};           //!< sent by switches; resumes not counted
    uint64_t reordered{0};             //!< data packets that came before one sent earlier
    std::vector<Duration> completions; //!< by flow: the sender knows that it has arrived
    /// Most data packets that were on wires at one time, a lower bound from samples every 100 us;
    /// only with Options::check.
    std::optional<uint64_t> peakOnWires;
};

/**
 * One simulation of a standard work, in steps that a benchmark can time.
 *
 * Counting: a data packet-hop is counted neither while packets run nor by a port: the NICs know how
 * many data packets have arrived, each of which has crossed all wires of its path, and all ports
 * together must have sent exactly that many and the control packets' share. With `check`, a sink on
 * the Transmit source of every port counts each departure too, and both must be equal. It costs
 * time (departures become events) and changes no result.
 *
 * ns-3 has one Simulator per process: one StandardRun at a time. The Simulator's resolution is the
 * caller's.
 */
class StandardRun
{
  public:
    struct Options
    {
        std::string scheduler{"ns3::QuadHeapScheduler"}; //!< event list of the Simulator
        bool lookAhead{true}; //!< switches and NICs work through a wire's delay in one event
        bool check{false};
    };

    /// Builds the fabric. Throws ConfigError if it cannot be built or the scheduler is none.
    StandardRun(const StandardWork& work, const Options& options);

    StandardRun(const StandardRun&) = delete;
    StandardRun& operator=(const StandardRun&) = delete;

    /**
     * Runs until all flows are complete. Throws RunError, with who waits for whom, if a flow fails
     * or does not complete; aborts if packets or packet-hops are not accounted for.
     */
    void Execute();

    /// To be called after Execute().
    StandardResult GetResult() const;

    const ns3::FabricHelper& GetFabric() const;

  private:
    /// Destroys all that ns-3 holds, also if building throws.
    struct SimulatorGuard
    {
        ~SimulatorGuard();
    };

    void PrepareFlows();
    void ConnectSinks();
    void Sample();
    void CheckHops() const;

    SimulatorGuard m_guard;
    StandardWork m_work;
    ns3::FabricHelper m_fabric;
    std::vector<Duration> m_completions;
    uint64_t m_unfinished{0};
    std::string m_failure;
    uint64_t m_transmitted{0}; //!< data packets that sinks have seen start
    std::optional<uint64_t> m_peakOnWires;
};

} // namespace scaleacross

#endif // SCALEACROSS_STANDARD_RUN_H
