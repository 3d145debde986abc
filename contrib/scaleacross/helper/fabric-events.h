// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_EVENTS_H
#define SCALEACROSS_FABRIC_EVENTS_H

#include "core/topology/switch-routes.h"

#include "ns3/attribute-guard.h"
#include "ns3/nstime.h"
#include "ns3/object.h"
#include "ns3/ptr.h"
#include "ns3/traced-callback.h"

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace ns3
{

class FabricHelper;
class FabricSwitch;
class FabricWire;
class SwitchPort;

/// What fails, or slows down, together.
struct FabricTarget
{
    std::string name; //!< in logs and traces
    std::vector<Ptr<FabricWire>> wires;
    /// All of their wires too; a switch that fails loses the packets in its memory.
    std::vector<Ptr<FabricSwitch>> switches;
};

/**
 * Failures, degradations and flaps of a fabric, and how its routes follow.
 *
 * Model: at t a wire breaks (FabricWire::SetUp). Its ends notice when it has been down for
 * DetectionDelay without a break: the switches there leave the port out of their groups of equal
 * choices, and what waits for it, if anything does (FabricSwitch::KeepAtDownPort), takes another
 * one. The news spreads: ConvergenceDelay later all tables are computed on what was known to be
 * left, and swapped at once.
 *
 *   t                                      packets towards the wire are lost, or wait
 *   t + DetectionDelay                     lost or waiting only where no other port is equal
 *   t + DetectionDelay + ConvergenceDelay  all ways are shortest on what is left; what cannot be
 *                                          reached is in no table (no-route)
 *
 * A repair at u is the same in reverse: the wire works from u on, its ends use it again at u +
 * DetectionDelay if their tables still name it, and new tables do at u + DetectionDelay +
 * ConvergenceDelay. What lasts shorter than DetectionDelay is not noticed. A new table never names
 * a port that its own switch knows to be down. It is the same for rates, which tables with weights
 * (RouteWeights::Capacity) follow. A path selector knows no sooner: until t + DetectionDelay the
 * queue of a port whose wire is down is empty unless it is kept, and one that goes by queues
 * (spraying by the shortest queue) sends everything there.
 *
 * A wire is down as long as any event keeps it down, and its rate is the product of the factors of
 * all degradations that hold. What is to happen at time zero, before the run, is known from the
 * beginning: tables are computed at once. Of things at one time, wires come first, then detection,
 * then tables; all of them come after what packets do at that time.
 *
 * Every step is announced to the switches (FabricHelper::HoldAt), so that it is exact under
 * look-ahead. Routes have to be installed before; the FabricHelper has to outlive the run.
 *
 * Left out: switches that get their tables one after the other, so that there are no transient
 * loops; routing messages as packets; damping of flaps.
 *
 * Worked case: a leaf with two spines, DetectionDelay 10 us, ConvergenceDelay 100 us. The wire to
 * spine 0 breaks at 1 ms. The leaf's own flows over spine 0 are lost until 1.01 ms and then go over
 * spine 1. Flows towards the leaf that others send over spine 0 are lost until 1.11 ms.
 */
class FabricEvents : public Object, public scaleacross::FixedOnceUsed
{
  public:
    enum class Step : uint8_t
    {
        Break,   //!< the target's wires are down
        Repair,  //!< this event keeps them down no longer
        Degrade, //!< the wires' rate has a factor more
        Restore, //!< one less
        Detect,  //!< the ends of the wires act on what they see
        Converge //!< all tables are new; of no target
    };

    /// Signature of a trace source.
    using StepTracedCallback = void (*)(Step step, const std::string& target);

    static TypeId GetTypeId();
    FabricEvents();
    ~FabricEvents() override;

    /// The fabric it is about. To be called once, when its routes are installed, before the first
    /// event.
    void SetFabric(FabricHelper& fabric);

    static FabricTarget LinkTarget(Ptr<FabricWire> wire);
    static FabricTarget SwitchTarget(Ptr<FabricSwitch> fabricSwitch);

    /// Breaks a target at `at`, and repairs it at `until` unless that is 0.
    void Fail(const FabricTarget& target, Time at, Time until = Time(0));

    /// Multiplies the rate of a target's wires by `factor` from `at` on, and until `until` unless
    /// that is 0. Domain: 0 < factor <= 1.
    void Degrade(const FabricTarget& target, double factor, Time at, Time until = Time(0));

    /// Breaks a target `count` times: from at + i * period on, for `down` each.
    void Flap(const FabricTarget& target, Time at, Time down, Time period, uint32_t count);

    /// "break", "repair" and so on.
    static const char* NameOf(Step step);

    /// How often new tables have been installed during the run, those of time zero not counted.
    uint64_t GetConvergences() const;

  private:
    /// Order of what happens at one time.
    enum class Rank : uint8_t
    {
        Wires,
        Detection,
        Tables
    };

    struct WireState
    {
        Ptr<FabricWire> wire;
        uint32_t causes{0}; //!< events that keep it down
        bool known{true};   //!< up, as far as its ends know
        uint64_t change{0}; //!< number of its last change
        uint64_t rate{0};   //!< bit/s, without degradation
        std::vector<double> factors;
        uint64_t knownRate{0};  //!< bit/s, as far as its ends know
        uint64_t rateChange{0}; //!< number of the last change of its rate
    };

    /// What everybody will have heard of at a time.
    struct News
    {
        Time at;
        scaleacross::SwitchGraph graph; //!< what was known of wires when it was sent
    };

    /// A wire and the change of it that is to be noticed.
    using Change = std::pair<uint32_t, uint64_t>;

    void DoDispose() override;
    void Check(const std::string& what, const FabricTarget& target, Time at, Time until) const;
    void CheckSwitches(const std::string& where, const FabricTarget& target) const;
    std::vector<uint32_t> WiresOf(const FabricTarget& target) const;
    /// The ends of a wire that are ports of switches.
    static std::vector<Ptr<SwitchPort>> SwitchEnds(const FabricWire& wire);
    void Announce(const std::vector<uint32_t>& wires, Time at);
    void At(Time at, Rank rank, std::function<void()> action);
    void RunDue();
    void SetDown(const FabricTarget& target, const std::vector<uint32_t>& wires, bool down);
    void SetRates(const std::vector<uint32_t>& wires);
    void Detect(const std::string& name, const std::vector<Change>& changes);
    void DetectRates(const std::vector<Change>& changes);
    scaleacross::SwitchGraph KnownGraph() const;
    void Spread();
    void Converge();
    void SetKnown(WireState& state, bool up);
    void Report(Step step, const std::string& target);

    FabricHelper* m_fabric{nullptr};
    std::vector<WireState> m_wires; //!< as in FabricHelper::Wires
    std::map<const FabricWire*, uint32_t> m_index;
    std::map<std::pair<Time, Rank>, std::vector<std::function<void()>>> m_due;
    std::deque<News> m_news;
    uint64_t m_changes{0};
    uint64_t m_convergences{0};
    Time m_detection;
    Time m_convergence;
    TracedCallback<Step, const std::string&> m_stepTrace;
};

} // namespace ns3

#endif // SCALEACROSS_FABRIC_EVENTS_H
