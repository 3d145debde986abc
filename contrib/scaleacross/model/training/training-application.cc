// SPDX-License-Identifier: GPL-2.0-only

#include "training-application.h"

#include "ns3/log.h"
#include "ns3/simulator.h"

#include <algorithm>
#include <numeric>

namespace ns3
{

NS_LOG_COMPONENT_DEFINE("TrainingApplication");
NS_OBJECT_ENSURE_REGISTERED(TrainingApplication);

using namespace scaleacross;

namespace
{

constexpr uint32_t kNone = UINT32_MAX;

// Tags. Pipeline messages: bit 63 and the message number. Collectives: stream, whether other
// classes take part, instance, chunk, phase, input of the receiver and number in it, which together
// name the sender to the receiver. Instances are counted modulo 2^15: ranks are never so many
// collectives apart.
constexpr uint64_t kPipelineBit = 1ULL << 63;
constexpr uint32_t kStreamShift = 59;
constexpr uint32_t kInstanceShift = 43;
constexpr uint64_t kInstanceMask = 0x7fff;
constexpr uint32_t kJoinedShift = 58;
constexpr uint32_t kChunkShift = 30;
constexpr uint64_t kChunkMask = 0x1fff;
constexpr uint32_t kPhaseShift = 23;
constexpr uint32_t kInputShift = 20;
constexpr uint64_t kFlowMask = (1ULL << kPhaseShift) - 1;

int64_t
NowPs()
{
    return Simulator::Now().GetPicoSeconds();
}

} // namespace

TypeId
TrainingApplication::GetTypeId()
{
    static TypeId tid = TypeId("ns3::TrainingApplication")
                            .SetParent<Application>()
                            .SetGroupName("ScaleAcross")
                            .AddConstructor<TrainingApplication>();
    return tid;
}

TrainingApplication::TrainingApplication() = default;
TrainingApplication::~TrainingApplication() = default;

void
TrainingApplication::SetRank(const TaskGraph* graph, Rank rank, Ptr<RankTransport> transport)
{
    m_graph = graph;
    m_class = &graph->classes[graph->ClassOf(rank)];
    m_rank = rank;
    m_transport = transport;
    m_clock = ComputeClock(m_class->collectiveShare);
    m_posted.assign(graph->handles, 0);
    m_done.assign(graph->handles, 0);
    m_handleComm.assign(graph->handles, CommClass::Data);
    m_joins.assign(graph->collectives.size(), std::nullopt);
}

void
TrainingApplication::SetIterationCallback(IterationCallback callback)
{
    m_iterationCallback = callback;
}

void
TrainingApplication::SetIterations(uint32_t iterations)
{
    m_iterations = iterations;
}

void
TrainingApplication::RecordRuns()
{
    m_record = true;
}

RankTimes
TrainingApplication::GetTimes() const
{
    RankTimes times = m_times;
    for (uint32_t k = 0; k < kCommClasses; k++)
    {
        const BusyClock& clock = m_busy[k];
        const int64_t open = clock.active > 0 ? NowPs() - clock.sincePs : 0;
        times.busy[k] += Duration::Picoseconds(clock.totalPs + open);
    }
    return times;
}

const std::vector<RankRun>&
TrainingApplication::GetRuns() const
{
    return m_runs;
}

std::string
TrainingApplication::DescribeWait() const
{
    switch (m_state)
    {
    case State::WaitsForMessage:
        return "pipeline message " + std::to_string(m_waitFor);
    case State::WaitsForHandle:
        for (const StreamState& stream : m_streams)
        {
            if (stream.active && stream.queue.front().handle == m_waitFor)
            {
                const Collective& collective =
                    m_graph->collectives[stream.queue.front().collective];
                std::string text = ToString(collective.comm) + " " + collective.name;
                for (uint32_t c = 0; c < stream.chunks.size(); c++)
                {
                    const ChunkState& chunk = stream.chunks[c];
                    if (!chunk.active)
                    {
                        continue;
                    }
                    text += stream.chunks.size() > 1 ? ", chunk " + std::to_string(c) : "";
                    text += ", phase " + std::to_string(chunk.phase) + ", " +
                            std::to_string(
                                std::accumulate(chunk.received.begin(), chunk.received.end(), 0U)) +
                            " messages received";
                }
                return text;
            }
        }
        return "a collective that has not begun";
    case State::Computing:
    case State::Running:
    case State::Finished:
        break;
    }
    return "nothing";
}

void
TrainingApplication::DoDispose()
{
    m_compute.Cancel();
    m_transport = nullptr;
    m_iterationCallback = IterationCallback();
    Application::DoDispose();
}

void
TrainingApplication::StartApplication()
{
    if (m_class->program.ops.empty())
    {
        m_state = State::Finished;
        return;
    }
    m_transport->SetDelivery(m_rank, MakeCallback(&TrainingApplication::Delivered, this));
    Advance();
}

void
TrainingApplication::StopApplication()
{
    m_compute.Cancel();
}

void
TrainingApplication::Advance()
{
    m_state = State::Running;
    while (true)
    {
        const bool inBody = m_body != kNone;
        const std::vector<Op>& ops = inBody ? m_graph->bodies[m_body].ops : m_class->program.ops;
        uint32_t& pc = inBody ? m_bodyPc : m_pc;
        if (m_running != nullptr && !inBody)
        {
            EndRun();
        }
        if (pc == ops.size())
        {
            if (inBody)
            {
                m_body = kNone;
                continue;
            }
            pc = 0;
            m_marked = false;
            if (++m_iteration == m_iterations)
            {
                m_state = State::Finished;
                return;
            }
            continue;
        }
        const Op& op = ops[pc];
        switch (op.kind)
        {
        case OpKind::Compute:
            pc++;
            Compute(op.duration);
            return;
        case OpKind::Run:
            pc++;
            BeginRun(op);
            break;
        case OpKind::Send:
            pc++;
            m_transport->Send(m_rank, m_rank + op.peer, op.bytes, kPipelineBit | op.index);
            break;
        case OpKind::Receive:
            if (m_arrived.erase(kPipelineBit | op.index) == 0)
            {
                m_state = State::WaitsForMessage;
                m_waitFor = op.index;
                m_blockedSincePs = NowPs();
                return;
            }
            pc++;
            break;
        case OpKind::Collective:
            pc++;
            PostCollective(op);
            break;
        case OpKind::Wait:
            if (m_done[op.handle] < m_posted[op.handle])
            {
                m_state = State::WaitsForHandle;
                m_waitFor = op.handle;
                m_blockedSincePs = NowPs();
                return;
            }
            pc++;
            break;
        }
    }
}

void
TrainingApplication::Compute(Duration work)
{
    const Duration now = Duration::Picoseconds(NowPs());
    m_state = State::Computing;
    m_blockedSincePs = now.Ps();
    const Duration end = m_clock.Begin(work, m_active, now);
    m_compute =
        Simulator::Schedule(PicoSeconds((end - now).Ps()), &TrainingApplication::ComputeDone, this);
}

void
TrainingApplication::ComputeDone()
{
    m_times.compute += Duration::Picoseconds(NowPs() - m_blockedSincePs);
    Advance();
}

/// So many collectives more are under way, beside which the rank computes more slowly.
void
TrainingApplication::Activate(int32_t collectives)
{
    m_active += collectives;
    if (m_state == State::Computing && m_clock.IsShared())
    {
        const Duration now = Duration::Picoseconds(NowPs());
        const Duration end = m_clock.Change(m_active, now);
        m_compute.Cancel();
        m_compute = Simulator::Schedule(PicoSeconds((end - now).Ps()),
                                        &TrainingApplication::ComputeDone,
                                        this);
    }
}

void
TrainingApplication::BeginRun(const Op& op)
{
    if (op.action == Action::Forward && !m_marked)
    {
        m_marked = true;
        if (!m_iterationCallback.IsNull())
        {
            m_iterationCallback(m_rank, m_iteration);
        }
    }
    m_running = &op;
    m_runBeginPs = NowPs();
    m_body = op.index;
    m_bodyPc = 0;
}

void
TrainingApplication::EndRun()
{
    const Op& op = *m_running;
    m_running = nullptr;
    if (m_record)
    {
        m_runs.push_back({m_iteration,
                          op.action,
                          op.chunk,
                          op.microbatch,
                          Duration::Picoseconds(m_runBeginPs),
                          Duration::Picoseconds(NowPs()),
                          op.backChunk,
                          op.backMicrobatch});
    }
}

void
TrainingApplication::PostCollective(const Op& op)
{
    m_posted[op.handle]++;
    m_handleComm[op.handle] = m_graph->collectives[op.index].comm;
    const auto s = static_cast<uint32_t>(op.stream);
    StreamState& stream = m_streams[s];
    const bool joined = JoinsClasses(op.index);
    stream.queue.push_back({op.index, op.handle, stream.posted[joined ? 1 : 0]++, joined});
    if (!stream.active)
    {
        StartNext(s);
    }
}

bool
TrainingApplication::JoinsClasses(uint32_t collective)
{
    std::optional<bool>& joins = m_joins[collective];
    if (!joins)
    {
        const std::vector<Phase>& phases = m_graph->collectives[collective].phases;
        joins = std::any_of(phases.begin(), phases.end(), [this](const Phase& phase) {
            return m_graph->ClassesOf(phase.group, m_rank).size() > 1;
        });
    }
    return *joins;
}

void
TrainingApplication::StartNext(uint32_t s)
{
    StreamState& stream = m_streams[s];
    if (stream.queue.empty())
    {
        return;
    }
    stream.active = true;
    Activate(1);
    const Collective& collective = CollectiveOn(s);
    BusyClock& clock = m_busy[static_cast<size_t>(collective.comm)];
    if (clock.active++ == 0)
    {
        clock.sincePs = NowPs();
    }
    if (collective.phases.empty())
    {
        Complete(s);
        return;
    }
    stream.chunksLeft = collective.chunks;
    stream.chunks.assign(collective.chunks, ChunkState());
    // The others follow when these leave the first phase.
    for (uint32_t chunk = 0; chunk < std::min(collective.channels, collective.chunks); chunk++)
    {
        StartPhase(s, chunk);
    }
}

const Collective&
TrainingApplication::CollectiveOn(uint32_t s) const
{
    return m_graph->collectives[m_streams[s].queue.front().collective];
}

uint64_t
TrainingApplication::CollectiveTag(uint32_t s,
                                   uint32_t chunk,
                                   uint32_t input,
                                   uint32_t number) const
{
    const StreamState& stream = m_streams[s];
    return uint64_t{s} << kStreamShift | uint64_t{stream.queue.front().joined} << kJoinedShift |
           (stream.queue.front().instance & kInstanceMask) << kInstanceShift |
           uint64_t{chunk} << kChunkShift | uint64_t{stream.chunks[chunk].phase} << kPhaseShift |
           uint64_t{input} << kInputShift | number;
}

void
TrainingApplication::StartPhase(uint32_t s, uint32_t c)
{
    ChunkState& chunk = m_streams[s].chunks[c];
    const Phase& phase = CollectiveOn(s).phases[chunk.phase];
    chunk.active = true;
    chunk.index = phase.group.IndexOf(m_rank);
    chunk.flows = FlowsOf(ChunkOf(phase, c, CollectiveOn(s).chunks), chunk.index);
    chunk.received.fill(0);
    chunk.sent.fill(0);
    SendMessages(s, c);
    TakeArrivals(s, c);
}

/// Sends what the messages received so far allow.
void
TrainingApplication::SendMessages(uint32_t s, uint32_t c)
{
    ChunkState& chunk = m_streams[s].chunks[c];
    const Phase phase = ChunkOf(CollectiveOn(s).phases[chunk.phase], c, CollectiveOn(s).chunks);
    for (uint32_t o = 0; o < kMostFlows; o++)
    {
        const uint32_t most = chunk.flows.outputs[o].Allowed(chunk.received);
        for (; chunk.sent[o] < most; chunk.sent[o]++)
        {
            const PhaseMessage message = MessageOf(phase, chunk.index, o, chunk.sent[o]);
            m_transport->Send(m_rank,
                              phase.group.Member(m_rank, message.to),
                              message.bytes,
                              CollectiveTag(s, c, message.input, chunk.sent[o]));
        }
    }
}

void
TrainingApplication::TakeArrivals(uint32_t s, uint32_t c)
{
    ChunkState& chunk = m_streams[s].chunks[c];
    bool arrived = false;
    for (uint32_t i = 0; i < kMostFlows; i++)
    {
        while (chunk.received[i] < chunk.flows.inputs[i] &&
               m_arrived.erase(CollectiveTag(s, c, i, chunk.received[i])) > 0)
        {
            chunk.received[i]++;
            arrived = true;
        }
    }
    if (arrived)
    {
        SendMessages(s, c);
    }
    if (chunk.received == chunk.flows.inputs)
    {
        PhaseDone(s, c);
    }
}

/// Whether the chunk before it on the same channel has left the phase that it waits for.
bool
TrainingApplication::MayEnter(uint32_t s, uint32_t c) const
{
    const std::vector<ChunkState>& chunks = m_streams[s].chunks;
    const uint32_t channels = CollectiveOn(s).channels;
    return c < channels || chunks[c - channels].phase > chunks[c].phase;
}

void
TrainingApplication::PhaseDone(uint32_t s, uint32_t c)
{
    StreamState& stream = m_streams[s];
    const Collective& collective = CollectiveOn(s);
    stream.chunks[c].active = false;
    const uint32_t left = stream.chunks[c].phase++;
    const bool through = stream.chunks[c].phase == collective.phases.size();
    if (through && --stream.chunksLeft == 0)
    {
        Complete(s);
        return;
    }
    // The next one of this channel may be waiting for the phase that this one has left.
    const uint32_t next = c + collective.channels;
    const bool waits = next < collective.chunks && !stream.chunks[next].active &&
                       stream.chunks[next].phase == left;
    if (!through && MayEnter(s, c))
    {
        StartPhase(s, c);
    }
    if (waits)
    {
        StartPhase(s, next);
    }
}

void
TrainingApplication::Complete(uint32_t s)
{
    StreamState& stream = m_streams[s];
    const PostedCollective finished = stream.queue.front();
    stream.queue.pop_front();
    stream.active = false;
    Activate(-1);
    BusyClock& clock = m_busy[static_cast<size_t>(m_graph->collectives[finished.collective].comm)];
    if (--clock.active == 0)
    {
        clock.totalPs += NowPs() - clock.sincePs;
    }
    m_done[finished.handle]++;
    StartNext(s);
    if (m_state == State::WaitsForHandle && m_done[m_waitFor] == m_posted[m_waitFor])
    {
        m_times.exposed[static_cast<size_t>(m_handleComm[m_waitFor])] +=
            Duration::Picoseconds(NowPs() - m_blockedSincePs);
        Advance();
    }
}

void
TrainingApplication::Delivered(const RankMessage& message)
{
    m_arrived.insert(message.tag);
    if ((message.tag & kPipelineBit) != 0)
    {
        PipelineArrived(message);
        return;
    }
    const auto s = static_cast<uint32_t>(message.tag >> kStreamShift);
    const auto c = static_cast<uint32_t>(message.tag >> kChunkShift & kChunkMask);
    const StreamState& stream = m_streams[s];
    if (stream.active && c < stream.chunks.size() && stream.chunks[c].active &&
        (message.tag & ~kFlowMask) == CollectiveTag(s, c, 0, 0))
    {
        TakeArrivals(s, c);
    }
}

void
TrainingApplication::PipelineArrived(const RankMessage& message)
{
    const auto pipeline = static_cast<size_t>(CommClass::Pipeline);
    const int64_t now = NowPs();
    m_times.busy[pipeline] += Duration::Picoseconds(
        now - std::max(message.postedPs, std::min(m_pipelineBusyUntilPs, now)));
    m_pipelineBusyUntilPs = now;
    if (m_state != State::WaitsForMessage || (kPipelineBit | m_waitFor) != message.tag)
    {
        return;
    }
    const int64_t posted = std::max(m_blockedSincePs, message.postedPs);
    m_times.bubble += Duration::Picoseconds(posted - m_blockedSincePs);
    m_times.exposed[pipeline] += Duration::Picoseconds(now - posted);
    Advance();
}

} // namespace ns3
