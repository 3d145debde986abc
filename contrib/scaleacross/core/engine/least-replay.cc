// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/least-replay.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <tuple>
#include <vector>

namespace scaleacross
{

namespace
{

constexpr double kLongAgo = -std::numeric_limits<double>::infinity();
constexpr double kNotYet = std::numeric_limits<double>::infinity();

/// A collective on a stream.
struct Queued
{
    double end{0};
    double taken{0}; //!< of computing, until then
};

/// Messages to one rank, which leave in order.
struct Channel
{
    int32_t peer{0};
    double free{kLongAgo}; //!< when the last of them has left
};

/// How far a class is.
struct Cursor
{
    size_t next{0}; //!< operation
    double now{kLongAgo};
    std::array<double, kStreams> streams{};      //!< when what was posted there is done
    std::array<std::deque<Queued>, kStreams> on; //!< of these, what takes from computing
    std::vector<double> handles;                 //!< when what was posted under them is done
    std::vector<double> arrived;                 //!< messages that it sent, by number
    std::vector<Channel> channels;
};

/// The class that a message is sent to, or comes from.
uint32_t
PeerOf(const TaskGraph& graph, uint32_t classId, const Op& message)
{
    return graph.ClassOf(graph.classes[classId].representative + message.peer);
}

class Replay
{
  public:
    Replay(const TaskGraph& graph, LeastTimes& times)
        : m_graph(graph),
          m_times(times),
          m_cursors(graph.classes.size()),
          m_isOpen(graph.bodies.size())
    {
        for (Cursor& cursor : m_cursors)
        {
            cursor.streams.fill(kLongAgo);
            cursor.handles.assign(graph.handles, kLongAgo);
            cursor.arrived.assign(graph.messages, kNotYet);
        }
        for (size_t b = 0; b < graph.bodies.size(); b++)
        {
            m_isOpen[b] = IsOpen(graph.bodies[b].ops);
        }
    }

    double From(uint32_t classId)
    {
        m_cursors[classId].now = 0;
        GoOn(ReachedFrom(m_graph, classId));
        return HasEnded(classId) ? m_cursors[classId].now : 0;
    }

    double UntilPosted(uint32_t classId,
                       const ProgramPoint& from,
                       const std::function<bool(uint32_t, const Op&)>& isLate)
    {
        m_begins = classId;
        m_from = from;
        m_isLate = &isLate;
        const std::vector<uint32_t> classes = ReachedFrom(m_graph, classId);
        GoOn(classes);
        const bool ended =
            std::all_of(classes.begin(), classes.end(), [this](uint32_t c) { return HasEnded(c); });
        return ended && m_firstLate != kNotYet ? m_firstLate : kLongAgo;
    }

  private:
    /// Whoever is not among the classes does nothing that is known of.
    void GoOn(const std::vector<uint32_t>& classes)
    {
        for (bool moved = true; moved;)
        {
            moved = false;
            for (const uint32_t c : classes)
            {
                const size_t before = m_cursors[c].next;
                Advance(c);
                moved = moved || m_cursors[c].next != before;
            }
        }
    }

    bool HasEnded(uint32_t classId) const
    {
        return m_cursors[classId].next == m_graph.classes[classId].program.ops.size();
    }

    /// Time counts from here on, where this is the point from which it does.
    void Begin(uint32_t classId, size_t op, std::optional<size_t> inBody)
    {
        if (classId == m_begins && op == m_from.op && inBody == m_from.inBody)
        {
            m_cursors[classId].now = std::max(m_cursors[classId].now, 0.0);
        }
    }

    /// As far as the messages that were posted let it.
    void Advance(uint32_t classId)
    {
        const std::vector<Op>& ops = m_graph.classes[classId].program.ops;
        Cursor& cursor = m_cursors[classId];
        for (; cursor.next < ops.size(); cursor.next++)
        {
            const Op& op = ops[cursor.next];
            Begin(classId, cursor.next, std::nullopt);
            switch (op.kind)
            {
            case OpKind::Run:
                Run(classId, op.index);
                break;
            case OpKind::PostReceive: // left out: what waits for it only ends later
                break;
            case OpKind::Send:
                Send(classId, op);
                break;
            case OpKind::Receive: {
                const double arrived = m_cursors[PeerOf(m_graph, classId, op)].arrived[op.index];
                if (arrived == kNotYet)
                {
                    return;
                }
                cursor.now = std::max(cursor.now, arrived);
                break;
            }
            case OpKind::Compute:
            case OpKind::Collective:
            case OpKind::Wait:
                Do(classId, op);
                break;
            }
        }
    }

    void Send(uint32_t classId, const Op& op)
    {
        Cursor& cursor = m_cursors[classId];
        auto channel = std::find_if(cursor.channels.begin(),
                                    cursor.channels.end(),
                                    [&op](const Channel& known) { return known.peer == op.peer; });
        if (channel == cursor.channels.end())
        {
            channel = cursor.channels.insert(channel, {op.peer, kLongAgo});
        }
        const LeastTimes::Message least = m_times.OfMessage(classId, op.peer, op.bytes);
        channel->free = std::max(channel->free, cursor.now) + least.volume;
        cursor.arrived[op.index] = channel->free + least.latency;
    }

    /// A body, in one step where what it posts and awaits is its own and nothing else is under way.
    void Run(uint32_t classId, uint32_t body)
    {
        Cursor& cursor = m_cursors[classId];
        if (!m_isOpen[body] && !IsShared(cursor))
        {
            cursor.now += m_times.OfBody(classId, body);
            return;
        }
        const std::vector<Op>& ops = m_graph.bodies[body].ops;
        for (size_t i = 0; i < ops.size(); i++)
        {
            Do(classId, ops[i]);
            Begin(classId, cursor.next, i);
        }
    }

    /// Whether something takes from what a class computes now.
    static bool IsShared(const Cursor& cursor)
    {
        return std::any_of(cursor.on.begin(), cursor.on.end(), [&cursor](const auto& queue) {
            return !queue.empty() && queue.back().end > cursor.now;
        });
    }

    /// What asks for nobody else's messages.
    void Do(uint32_t classId, const Op& op)
    {
        Cursor& cursor = m_cursors[classId];
        if (op.kind == OpKind::Compute)
        {
            Compute(cursor, op.duration.S());
        }
        else if (op.kind == OpKind::Collective)
        {
            if (m_isLate != nullptr && (*m_isLate)(classId, op))
            {
                m_firstLate = std::min(m_firstLate, cursor.now);
            }
            const auto s = static_cast<size_t>(op.stream);
            double& stream = cursor.streams[s];
            stream = std::max(stream, cursor.now) + m_times.OfCollective(classId, op.index);
            cursor.handles[op.handle] = stream;
            const double taken = m_times.TakenBy(classId, op.index);
            if (taken > 0 && stream > cursor.now)
            {
                cursor.on[s].push_back({stream, taken});
            }
        }
        else
        {
            cursor.now = std::max(cursor.now, cursor.handles[op.handle]);
        }
    }

    /// As ComputeClock does.
    static void Compute(Cursor& cursor, double work)
    {
        while (true)
        {
            double rate = 1;
            double change = kNotYet;
            for (std::deque<Queued>& queue : cursor.on)
            {
                while (!queue.empty() && queue.front().end <= cursor.now)
                {
                    queue.pop_front();
                }
                if (!queue.empty())
                {
                    rate -= queue.front().taken;
                    change = std::min(change, queue.front().end);
                }
            }
            const double end = cursor.now + work / rate;
            if (end <= change)
            {
                cursor.now = end;
                return;
            }
            work -= (change - cursor.now) * rate;
            cursor.now = change;
        }
    }

    const TaskGraph& m_graph;
    LeastTimes& m_times;
    std::vector<Cursor> m_cursors;
    std::vector<bool> m_isOpen;    //!< by body
    uint32_t m_begins{UINT32_MAX}; //!< the class that a point is of; none: of no class
    ProgramPoint m_from;
    const std::function<bool(uint32_t, const Op&)>* m_isLate{nullptr};
    double m_firstLate{kNotYet};
};

} // namespace

bool
IsOpen(const std::vector<Op>& body)
{
    std::vector<uint32_t> own; // handles
    for (const Op& op : body)
    {
        if (op.kind == OpKind::Collective)
        {
            if (!IsOfLayer(op.stream))
            {
                return true;
            }
            own.push_back(op.handle);
        }
        else if (op.kind == OpKind::Wait &&
                 std::find(own.begin(), own.end(), op.handle) == own.end())
        {
            return true;
        }
    }
    return false;
}

bool
operator<(const ProgramPoint& a, const ProgramPoint& b)
{
    return std::tie(a.op, a.inBody) < std::tie(b.op, b.inBody);
}

std::vector<uint32_t>
ReachedFrom(const TaskGraph& graph, uint32_t classId)
{
    std::vector<uint32_t> reached = {classId};
    std::vector<bool> isReached(graph.classes.size(), false);
    isReached[classId] = true;
    for (size_t i = 0; i < reached.size(); i++)
    {
        for (const Op& op : graph.classes[reached[i]].program.ops)
        {
            const bool joins = op.kind == OpKind::Send || op.kind == OpKind::Receive;
            const uint32_t other = joins ? PeerOf(graph, reached[i], op) : reached[i];
            if (!isReached[other])
            {
                isReached[other] = true;
                reached.push_back(other);
            }
        }
    }
    std::sort(reached.begin(), reached.end());
    return reached;
}

double
LeastReplay(const TaskGraph& graph, uint32_t classId, LeastTimes& times)
{
    return Replay(graph, times).From(classId);
}

double
LeastUntilPosted(const TaskGraph& graph,
                 uint32_t classId,
                 const ProgramPoint& from,
                 const std::function<bool(uint32_t classId, const Op&)>& isLate,
                 LeastTimes& times)
{
    return Replay(graph, times).UntilPosted(classId, from, isLate);
}

} // namespace scaleacross
