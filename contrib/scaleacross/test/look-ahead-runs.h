// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LOOK_AHEAD_RUNS_H
#define SCALEACROSS_LOOK_AHEAD_RUNS_H

#include "fabric-test.h"

#include <functional>
#include <random>
#include <string>
#include <vector>

/// A piece of work, the engines that carry it out, and what is to be seen of it.
namespace lookahead
{

using namespace ns3;
using namespace fabrictest;

/// How a simulation is carried out.
struct Engine
{
    std::string name;
    std::string scheduler;
    bool eager;
    bool switchesAhead;
    bool nicsBehind;
};

inline const Engine kPlain{"plain", "ns3::MapScheduler", true, false, false};
inline const Engine kLazy{"lazy departures", "ns3::MapScheduler", false, false, false};
inline const Engine kAhead{"switches ahead", "ns3::MapScheduler", false, true, false};
inline const Engine kBehind{"NICs behind", "ns3::MapScheduler", false, false, true};
inline const Engine kWindows{"windows", "ns3::QuadHeapScheduler", false, true, true};

/// Sets the defaults of an engine, and takes them back.
class EngineGuard
{
  public:
    explicit EngineGuard(const Engine& engine);
    ~EngineGuard();

  private:
    static void Set(bool eager, bool ahead, bool behind);
};

/// Delays of wires: all equal, or each some hundred picoseconds longer than it should be.
class Delays
{
  public:
    explicit Delays(bool jitter)
        : m_jitter(jitter)
    {
    }

    Time operator()(Time delay)
    {
        return m_jitter ? delay + PicoSeconds(m_random() % 1000) : delay;
    }

  private:
    bool m_jitter;
    std::mt19937 m_random{1};
};

/// Everything that a run showed.
struct Outcome
{
    std::vector<Event> delivered;
    std::vector<Event> completed;
    std::vector<std::string> failures;
    std::vector<uint64_t> counters;
    uint64_t pauses{0};
    uint64_t drops{0};
    uint64_t retransmissions{0};
    uint64_t cnps{0};
    uint64_t rerouted{0};
    uint64_t trimmed{0};
    uint64_t outOfOrder{0};
    uint64_t events{0};
    Time starved;
};

bool Same(const Outcome& a, const Outcome& b);

/// What there is to be seen at the end of a run, or at a time that was announced.
Outcome OutcomeOf(const FabricHelper& fabric, const Log& log);

/// Builds a fabric and posts messages; what is seen of them goes to the log.
using Scenario = std::function<void(FabricHelper&, Log&, Delays)>;

/// Carries it out with this engine.
Outcome RunScenario(const Scenario& scenario, const Engine& engine, bool jitter);

} // namespace lookahead

#endif // SCALEACROSS_LOOK_AHEAD_RUNS_H
