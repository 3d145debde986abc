// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/program-evaluator.h"

#include "core/base/errors.h"
#include "core/engine/fluid-network.h"
#include "core/engine/transfer-agenda.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <queue>

namespace scaleacross
{

namespace
{

constexpr uint32_t kNone = UINT32_MAX;

enum class EventKind : uint8_t
{
    Resume,   //!< a class's compute is done
    Arrival,  //!< a message has arrived
    PhaseDone //!< a collective's phase is done
};

/// What happens at a time fixed once and for all. The ends of fluid transfers, whose times change,
/// are in a TransferAgenda.
struct Event
{
    EventTime time;
    EventKind kind;
    uint32_t subject; //!< class or instance
    uint32_t detail;  //!< arrival: message

    bool operator>(const Event& o) const
    {
        return o.time < time;
    }
};

/// Time during which something of a communication class is under way on a rank.
struct BusyClock
{
    uint32_t active{0};
    Duration since;
    Duration total;

    void Begin(Duration now)
    {
        if (active++ == 0)
        {
            since = now;
        }
    }

    void End(Duration now)
    {
        if (--active == 0)
        {
            total += now - since;
        }
    }

    Duration At(Duration now) const
    {
        return active > 0 ? total + (now - since) : total;
    }
};

struct Totals
{
    Duration compute;
    Duration bubble;
    std::array<Duration, kCommClasses> exposed;
    std::array<Duration, kCommClasses> busy;
};

struct Posted
{
    uint32_t collective{0};
    uint32_t handle{0};
};

struct StreamState
{
    std::deque<Posted> queue; //!< front is the active one if `active`
    bool active{false};
};

struct QueuedMessage
{
    uint32_t message{0};
    const TransferCost* cost{nullptr};
};

/// Messages of a class to one peer: they leave in order.
struct Channel
{
    int32_t peer{0};
    uint32_t toClass{0};
    std::deque<QueuedMessage> queue; //!< front is under way if not empty
};

enum class Blocked : uint8_t
{
    No,
    Computing,
    Message,
    Handle
};

struct ClassState
{
    uint32_t pc{0};
    uint32_t body{kNone};
    uint32_t bodyPc{0};
    uint32_t iteration{0};
    bool marked{false}; //!< this iteration's first forward has begun
    Blocked blocked{Blocked::No};
    uint32_t waitFor{0}; //!< message or handle
    Duration blockedSince;
    const Op* running{nullptr}; //!< the Run whose end a timeline waits for
    Duration runBegin;

    std::array<StreamState, kStreams> streams;
    std::deque<Channel> channels;
    std::vector<uint32_t> posted; //!< by handle
    std::vector<uint32_t> done;
    std::vector<CommClass> handleComm;

    std::array<BusyClock, kCommClasses> busy; //!< collectives
    Duration pipelineBusyUntil;
    Totals totals;
    Totals atBegin; //!< of the measured window
    Totals atEnd;
    Duration begin;
    Duration end;
    bool finished{false};
};

/// A collective under way on one or several classes.
struct Instance
{
    uint32_t collective{0};
    Stream stream{Stream::Inline};
    uint32_t phase{0};
    uint32_t volumesLeft{0};
    Duration latency;
    std::vector<uint32_t> classes;
};

struct TransferOwner
{
    bool isMessage{false};
    uint32_t classId{0}; //!< message: sender
    uint32_t index{0};   //!< message: channel; else instance
};

class Evaluator
{
  public:
    Evaluator(const TaskGraph& graph, const TransferTimes& times, const RunOptions& options);
    void Run(RunReport& report);

  private:
    void Push(Duration at, EventKind kind, uint32_t subject, uint32_t detail);
    bool HandleNext();
    void Handle(const Event& event);
    void VolumeMoved(FluidNetwork::Id id);
    void FlushChanged();
    void Own(FluidNetwork::Id id, const TransferOwner& owner);

    void Advance(uint32_t c);
    bool BeginRun(uint32_t c, const Op& op);
    void EndRun(uint32_t c);
    void Mark(uint32_t c);
    bool MayJump(uint32_t c, uint32_t body);

    void PostSend(uint32_t c, const Op& op);
    void StartMessage(uint32_t c, uint32_t channel);
    void Arrive(uint32_t toClass, uint32_t message);
    size_t Slot(uint32_t c, uint32_t message) const;

    void PostCollective(uint32_t c, const Op& op);
    void TryStart(uint32_t c, Stream stream);
    void StartPhase(uint32_t instance);
    void CompleteInstance(uint32_t instance);

    void Fill(RunReport& report) const;
    [[noreturn]] void FailStuck() const;

    const TaskGraph& m_graph;
    ClassCosts m_costs;
    const RunOptions& m_options;
    FluidNetwork m_network;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> m_events;
    TransferAgenda m_transfers; //!< ends of the transfers under way
    uint64_t m_order{0};
    Duration m_now;
    std::vector<ClassState> m_classes;
    uint32_t m_unfinished;
    std::vector<Instance> m_instances;
    std::vector<uint32_t> m_freeInstances;
    std::vector<TransferOwner> m_owners;
    std::vector<uint8_t> m_arrived;   //!< by Slot: arrived and not yet received
    std::vector<Duration> m_postTime; //!< by Slot
    std::vector<uint32_t> m_sibling;  //!< number of a class among those of its stage
    std::vector<TimelineEntry> m_timeline;
};

Evaluator::Evaluator(const TaskGraph& graph, const TransferTimes& times, const RunOptions& options)
    : m_graph(graph),
      m_costs(graph, times),
      m_options(options),
      m_network(static_cast<uint32_t>(graph.classes.size()), times.cuts),
      m_classes(graph.classes.size()),
      m_unfinished(static_cast<uint32_t>(graph.classes.size())),
      m_sibling(graph.classes.size())
{
    uint32_t siblings = 1;
    std::vector<uint32_t> ofStage(graph.stages, 0);
    for (uint32_t c = 0; c < graph.classes.size(); c++)
    {
        m_sibling[c] = ofStage[graph.classes[c].stage]++;
        siblings = std::max(siblings, m_sibling[c] + 1);
        m_classes[c].posted.assign(graph.handles, 0);
        m_classes[c].done.assign(graph.handles, 0);
        m_classes[c].handleComm.assign(graph.handles, CommClass::Data);
        SCALEACROSS_INVARIANT(!graph.classes[c].program.ops.empty(),
                              "class " + std::to_string(c) + " has no operations");
    }
    m_arrived.assign(size_t{siblings} * graph.messages, 0);
    m_postTime.assign(size_t{siblings} * graph.messages, Duration());
}

size_t
Evaluator::Slot(uint32_t c, uint32_t message) const
{
    return size_t{m_sibling[c]} * m_graph.messages + message;
}

void
Evaluator::Push(Duration at, EventKind kind, uint32_t subject, uint32_t detail)
{
    m_events.push({{at, m_order++}, kind, subject, detail});
}

void
Evaluator::Own(FluidNetwork::Id id, const TransferOwner& owner)
{
    if (m_owners.size() <= id)
    {
        m_owners.resize(id + 1);
    }
    m_owners[id] = owner;
}

void
Evaluator::FlushChanged()
{
    for (const FluidNetwork::Id id : m_network.Changed())
    {
        m_transfers.Set(id, {m_network.FinishTime(id), m_order++});
    }
    m_network.Changed().clear();
}

void
Evaluator::Run(RunReport& report)
{
    for (uint32_t c = 0; c < m_classes.size(); c++)
    {
        Advance(c);
    }
    FlushChanged();
    const auto start = std::chrono::steady_clock::now();
    uint64_t handled = 0;
    while (m_unfinished > 0)
    {
        if (!HandleNext())
        {
            FailStuck();
        }
        FlushChanged();
        if (++handled % 65536 == 0)
        {
            const std::chrono::duration<double> spent = std::chrono::steady_clock::now() - start;
            if (spent.count() > m_options.timeLimit.S())
            {
                throw RunError("time limit: the analytical engine gave up after " +
                               ToString(m_options.timeLimit) + " of wall clock time");
            }
        }
    }
    Fill(report);
}

/// Handles the earliest of all that is to come; false if there is nothing.
bool
Evaluator::HandleNext()
{
    if (!m_transfers.Empty() && (m_events.empty() || m_transfers.Earliest() < m_events.top().time))
    {
        m_now = m_transfers.Earliest().at;
        VolumeMoved(m_transfers.Pop());
        return true;
    }
    if (m_events.empty())
    {
        return false;
    }
    const Event event = m_events.top();
    m_events.pop();
    m_now = event.time.at;
    Handle(event);
    return true;
}

void
Evaluator::VolumeMoved(FluidNetwork::Id id)
{
    const TransferOwner owner = m_owners[id];
    m_network.Finish(id, m_now);
    if (owner.isMessage)
    {
        Channel& channel = m_classes[owner.classId].channels[owner.index];
        const QueuedMessage sent = channel.queue.front();
        channel.queue.pop_front();
        Push(m_now + sent.cost->latency, EventKind::Arrival, channel.toClass, sent.message);
        if (!channel.queue.empty())
        {
            StartMessage(owner.classId, owner.index);
        }
        return;
    }
    Instance& instance = m_instances[owner.index];
    if (--instance.volumesLeft == 0)
    {
        Push(m_now + instance.latency, EventKind::PhaseDone, owner.index, 0);
    }
}

void
Evaluator::Handle(const Event& event)
{
    switch (event.kind)
    {
    case EventKind::Resume:
        m_classes[event.subject].blocked = Blocked::No;
        Advance(event.subject);
        break;
    case EventKind::Arrival:
        Arrive(event.subject, event.detail);
        break;
    case EventKind::PhaseDone:
        m_instances[event.subject].phase++;
        StartPhase(event.subject);
        break;
    }
}

void
Evaluator::Advance(uint32_t c)
{
    ClassState& state = m_classes[c];
    while (true)
    {
        const bool inBody = state.body != kNone;
        const std::vector<Op>& ops =
            inBody ? m_graph.bodies[state.body].ops : m_graph.classes[c].program.ops;
        uint32_t& pc = inBody ? state.bodyPc : state.pc;
        if (state.running != nullptr && !inBody)
        {
            EndRun(c);
        }
        if (pc == ops.size())
        {
            if (inBody)
            {
                state.body = kNone;
                continue;
            }
            pc = 0;
            state.iteration++;
            state.marked = false;
            continue;
        }
        const Op& op = ops[pc];
        switch (op.kind)
        {
        case OpKind::Compute:
            pc++;
            state.totals.compute += op.duration;
            state.blocked = Blocked::Computing;
            Push(m_now + op.duration, EventKind::Resume, c, 0);
            return;
        case OpKind::Run:
            pc++;
            if (!BeginRun(c, op))
            {
                return;
            }
            break;
        case OpKind::Send:
            pc++;
            PostSend(c, op);
            break;
        case OpKind::Receive: {
            const size_t slot = Slot(c, op.index);
            if (m_arrived[slot] == 0)
            {
                state.blocked = Blocked::Message;
                state.waitFor = op.index;
                state.blockedSince = m_now;
                return;
            }
            m_arrived[slot]--;
            pc++;
            break;
        }
        case OpKind::Collective:
            pc++;
            PostCollective(c, op);
            break;
        case OpKind::Wait:
            if (state.done[op.handle] < state.posted[op.handle])
            {
                state.blocked = Blocked::Handle;
                state.waitFor = op.handle;
                state.blockedSince = m_now;
                return;
            }
            pc++;
            break;
        }
    }
}

/// Enters a body or takes it in one step; false if the class is now busy until a Resume.
bool
Evaluator::BeginRun(uint32_t c, const Op& op)
{
    ClassState& state = m_classes[c];
    if (op.action == Action::Forward && !state.marked)
    {
        state.marked = true;
        Mark(c);
    }
    state.running = &op;
    state.runBegin = m_now;
    if (!MayJump(c, op.index))
    {
        state.body = op.index;
        state.bodyPc = 0;
        return true;
    }
    const BodySum& sum = m_costs.OfBody(c, op.index);
    state.totals.compute += sum.compute;
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        state.totals.exposed[k] += sum.comm[k];
        state.totals.busy[k] += sum.comm[k];
    }
    state.blocked = Blocked::Computing;
    Push(m_now + sum.total, EventKind::Resume, c, 0);
    return false;
}

void
Evaluator::EndRun(uint32_t c)
{
    ClassState& state = m_classes[c];
    const Op& op = *state.running;
    state.running = nullptr;
    if (m_options.timeline && m_sibling[c] == 0 && state.iteration == m_options.warmup)
    {
        m_timeline.push_back(
            {m_graph.classes[c].stage, op.action, op.chunk, op.microbatch, state.runBegin, m_now});
    }
}

void
Evaluator::Mark(uint32_t c)
{
    ClassState& state = m_classes[c];
    const auto snapshot = [&] {
        Totals totals = state.totals;
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            totals.busy[k] += state.busy[k].At(m_now);
        }
        return totals;
    };
    if (state.iteration == m_options.warmup)
    {
        state.begin = m_now;
        state.atBegin = snapshot();
    }
    if (state.iteration == m_options.warmup + m_options.iterations && !state.finished)
    {
        state.end = m_now;
        state.atEnd = snapshot();
        state.finished = true;
        m_unfinished--;
    }
}

bool
Evaluator::MayJump(uint32_t c, uint32_t body)
{
    const BodySum& sum = m_costs.OfBody(c, body);
    if (!sum.pure)
    {
        return false;
    }
    const auto idle = [&](Stream stream) {
        return m_classes[c].streams[static_cast<size_t>(stream)].queue.empty();
    };
    return !sum.onNic || (idle(Stream::Gather) && idle(Stream::Reduce));
}

void
Evaluator::PostSend(uint32_t c, const Op& op)
{
    ClassState& state = m_classes[c];
    const Rank to = m_graph.classes[c].representative + op.peer;
    uint32_t index = 0;
    while (index < state.channels.size() && state.channels[index].peer != op.peer)
    {
        index++;
    }
    if (index == state.channels.size())
    {
        state.channels.push_back({op.peer, m_graph.ClassOf(to), {}});
    }
    Channel& channel = state.channels[index];
    const size_t slot = Slot(channel.toClass, op.index);
    m_postTime[slot] = m_now;
    channel.queue.push_back({op.index, &m_costs.OfMessage(c, op.peer, op.bytes)});
    if (channel.queue.size() == 1)
    {
        StartMessage(c, index);
    }
}

void
Evaluator::StartMessage(uint32_t c, uint32_t channelIndex)
{
    Channel& channel = m_classes[c].channels[channelIndex];
    const TransferCost& cost = *channel.queue.front().cost;
    const FluidNetwork::Id id = m_network.Start(cost, c, m_classes[c].iteration, m_now);
    TransferOwner owner;
    owner.isMessage = true;
    owner.classId = c;
    owner.index = channelIndex;
    Own(id, owner);
}

void
Evaluator::Arrive(uint32_t toClass, uint32_t message)
{
    const size_t slot = Slot(toClass, message);
    m_arrived[slot]++;
    ClassState& state = m_classes[toClass];
    const auto pipeline = static_cast<size_t>(CommClass::Pipeline);
    state.totals.busy[pipeline] += m_now - std::max(m_postTime[slot], state.pipelineBusyUntil);
    state.pipelineBusyUntil = m_now;
    if (state.blocked == Blocked::Message && state.waitFor == message)
    {
        const Duration posted = std::max(state.blockedSince, m_postTime[slot]);
        state.totals.bubble += posted - state.blockedSince;
        state.totals.exposed[pipeline] += m_now - posted;
        state.blocked = Blocked::No;
        Advance(toClass);
    }
}

void
Evaluator::PostCollective(uint32_t c, const Op& op)
{
    ClassState& state = m_classes[c];
    state.posted[op.handle]++;
    state.handleComm[op.handle] = m_graph.collectives[op.index].comm;
    state.streams[static_cast<size_t>(op.stream)].queue.push_back({op.index, op.handle});
    TryStart(c, op.stream);
}

void
Evaluator::TryStart(uint32_t c, Stream stream)
{
    const auto s = static_cast<size_t>(stream);
    const StreamState& own = m_classes[c].streams[s];
    if (own.active || own.queue.empty())
    {
        return;
    }
    const uint32_t collective = own.queue.front().collective;
    const std::vector<uint32_t>& classes = m_costs.Participants(c, collective);
    for (const uint32_t other : classes)
    {
        const StreamState& theirs = m_classes[other].streams[s];
        if (theirs.active || theirs.queue.empty() || theirs.queue.front().collective != collective)
        {
            return;
        }
    }
    uint32_t id;
    if (m_freeInstances.empty())
    {
        id = static_cast<uint32_t>(m_instances.size());
        m_instances.emplace_back();
    }
    else
    {
        id = m_freeInstances.back();
        m_freeInstances.pop_back();
    }
    Instance& instance = m_instances[id];
    instance.collective = collective;
    instance.stream = stream;
    instance.phase = 0;
    instance.classes = classes;
    const auto comm = static_cast<size_t>(m_graph.collectives[collective].comm);
    for (const uint32_t other : classes)
    {
        m_classes[other].streams[s].active = true;
        m_classes[other].busy[comm].Begin(m_now);
    }
    StartPhase(id);
}

void
Evaluator::StartPhase(uint32_t id)
{
    const uint32_t collective = m_instances[id].collective;
    const auto phases = static_cast<uint32_t>(m_graph.collectives[collective].phases.size());
    while (m_instances[id].phase < phases)
    {
        Instance& instance = m_instances[id];
        instance.latency = Duration();
        instance.volumesLeft = 0;
        for (const uint32_t c : instance.classes)
        {
            const TransferCost& cost = m_costs.OfPhase(c, collective, instance.phase);
            instance.latency = std::max(instance.latency, cost.latency);
            if (cost.portSeconds > 0)
            {
                instance.volumesLeft++;
                TransferOwner owner;
                owner.index = id;
                Own(m_network.Start(cost, c, m_classes[c].iteration, m_now), owner);
            }
        }
        if (instance.volumesLeft > 0)
        {
            return;
        }
        if (instance.latency > Duration())
        {
            Push(m_now + instance.latency, EventKind::PhaseDone, id, 0);
            return;
        }
        instance.phase++; // a group of one
    }
    CompleteInstance(id);
}

void
Evaluator::CompleteInstance(uint32_t id)
{
    const Instance instance = m_instances[id];
    m_freeInstances.push_back(id);
    const auto s = static_cast<size_t>(instance.stream);
    const CommClass comm = m_graph.collectives[instance.collective].comm;
    for (const uint32_t c : instance.classes)
    {
        ClassState& state = m_classes[c];
        state.busy[static_cast<size_t>(comm)].End(m_now);
        state.done[state.streams[s].queue.front().handle]++;
        state.streams[s].queue.pop_front();
        state.streams[s].active = false;
    }
    for (const uint32_t c : instance.classes)
    {
        TryStart(c, instance.stream);
    }
    for (const uint32_t c : instance.classes)
    {
        ClassState& state = m_classes[c];
        if (state.blocked == Blocked::Handle &&
            state.done[state.waitFor] == state.posted[state.waitFor])
        {
            const auto waited = static_cast<size_t>(state.handleComm[state.waitFor]);
            state.totals.exposed[waited] += m_now - state.blockedSince;
            state.blocked = Blocked::No;
            Advance(c);
        }
    }
}

void
Evaluator::Fill(RunReport& report) const
{
    report.warmup = m_options.warmup;
    report.iterations = m_options.iterations;
    const double iterations = m_options.iterations;
    double ranks = 0;
    double compute = 0;
    double bubble = 0;
    std::array<double, kCommClasses> exposed{};
    std::array<double, kCommClasses> busy{};
    Duration slowest;
    for (uint32_t c = 0; c < m_classes.size(); c++)
    {
        const ClassState& state = m_classes[c];
        const double weight = m_graph.classes[c].ranks / iterations;
        slowest = std::max(slowest, state.end - state.begin);
        ranks += m_graph.classes[c].ranks;
        compute += weight * (state.atEnd.compute - state.atBegin.compute).S();
        bubble += weight * (state.atEnd.bubble - state.atBegin.bubble).S();
        for (uint32_t k = 0; k < kCommClasses; k++)
        {
            exposed[k] += weight * (state.atEnd.exposed[k] - state.atBegin.exposed[k]).S();
            busy[k] += weight * (state.atEnd.busy[k] - state.atBegin.busy[k]).S();
        }
    }
    report.iterationTime = slowest / static_cast<int64_t>(m_options.iterations);
    report.computeTime = Duration::Seconds(compute / ranks);
    report.bubble = Duration::Seconds(bubble / ranks);
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        report.classes[k].exposed = Duration::Seconds(exposed[k] / ranks);
        report.classes[k].busy = Duration::Seconds(busy[k] / ranks);
    }
    report.timeline = m_timeline;
    if (!report.timeline.empty())
    {
        Duration origin = Duration::Max();
        for (const ClassState& state : m_classes)
        {
            origin = std::min(origin, state.begin);
        }
        for (TimelineEntry& entry : report.timeline)
        {
            entry.begin -= origin;
            entry.end -= origin;
        }
    }
}

void
Evaluator::FailStuck() const
{
    std::string text = "deadlock: no class can go on";
    for (uint32_t c = 0; c < m_classes.size(); c++)
    {
        const ClassState& state = m_classes[c];
        text += "; stage " + std::to_string(m_graph.classes[c].stage) + " iteration " +
                std::to_string(state.iteration) + " operation " + std::to_string(state.pc) +
                (state.blocked == Blocked::Message ? " waits for message "
                                                   : " waits for collective handle ") +
                std::to_string(state.waitFor);
    }
    throw RunError(text);
}

} // namespace

void
EvaluateProgram(const TaskGraph& graph,
                const TransferTimes& times,
                const RunOptions& options,
                RunReport& report)
{
    Evaluator(graph, times, options).Run(report);
}

} // namespace scaleacross
