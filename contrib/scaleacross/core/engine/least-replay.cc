// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/least-replay.h"

#include <algorithm>
#include <array>
#include <limits>
#include <vector>

namespace scaleacross
{

namespace
{

constexpr double kLongAgo = -std::numeric_limits<double>::infinity();
constexpr double kNotYet = std::numeric_limits<double>::infinity();

/// How far a class is.
struct Cursor
{
    size_t next{0}; //!< operation
    double now{kLongAgo};
    std::array<double, kStreams> streams{}; //!< when what was posted there is done
    std::vector<double> handles;            //!< when what was posted under them is done
    std::vector<double> posted;             //!< messages, by number
};

/// Whether a body has to do with gathers or reductions, which others post or await.
bool
IsOpen(const std::vector<Op>& ops)
{
    std::vector<uint32_t> own; // handles
    for (const Op& op : ops)
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

class Replay
{
  public:
    Replay(const TaskGraph& graph, const LeastTimes& times)
        : m_graph(graph),
          m_times(times),
          m_cursors(graph.classes.size()),
          m_isOpen(graph.bodies.size())
    {
        for (Cursor& cursor : m_cursors)
        {
            cursor.streams.fill(kLongAgo);
            cursor.handles.assign(graph.handles, kLongAgo);
            cursor.posted.assign(graph.messages, kNotYet);
        }
        for (size_t b = 0; b < graph.bodies.size(); b++)
        {
            m_isOpen[b] = IsOpen(graph.bodies[b].ops);
        }
    }

    double From(uint32_t classId)
    {
        m_cursors[classId].now = 0;
        for (bool moved = true; moved;)
        {
            moved = false;
            for (uint32_t c = 0; c < m_cursors.size(); c++)
            {
                const size_t before = m_cursors[c].next;
                Advance(c);
                moved = moved || m_cursors[c].next != before;
            }
        }
        const bool ended = m_cursors[classId].next == m_graph.classes[classId].program.ops.size();
        return ended ? m_cursors[classId].now : 0;
    }

  private:
    /// As far as the messages that were posted let it.
    void Advance(uint32_t classId)
    {
        const std::vector<Op>& ops = m_graph.classes[classId].program.ops;
        Cursor& cursor = m_cursors[classId];
        for (; cursor.next < ops.size(); cursor.next++)
        {
            const Op& op = ops[cursor.next];
            switch (op.kind)
            {
            case OpKind::Run:
                Run(classId, op.index);
                break;
            case OpKind::PostReceive: // left out: what waits for it only ends later
                break;
            case OpKind::Send:
                cursor.posted[op.index] = cursor.now;
                break;
            case OpKind::Receive: {
                const double posted = m_cursors[SenderOf(classId, op)].posted[op.index];
                if (posted == kNotYet)
                {
                    return;
                }
                cursor.now =
                    std::max(cursor.now, posted + m_times.message(classId, op.peer, op.bytes));
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

    /// A body, in one step where what it posts and awaits is its own.
    void Run(uint32_t classId, uint32_t body)
    {
        if (!m_isOpen[body])
        {
            m_cursors[classId].now += m_times.body(classId, body);
            return;
        }
        for (const Op& op : m_graph.bodies[body].ops)
        {
            Do(classId, op);
        }
    }

    /// What asks for nobody else's messages.
    void Do(uint32_t classId, const Op& op)
    {
        Cursor& cursor = m_cursors[classId];
        if (op.kind == OpKind::Compute)
        {
            cursor.now += op.duration.S();
        }
        else if (op.kind == OpKind::Collective)
        {
            double& stream = cursor.streams[static_cast<size_t>(op.stream)];
            stream = std::max(stream, cursor.now) + m_times.collective(classId, op.index);
            cursor.handles[op.handle] = stream;
        }
        else
        {
            cursor.now = std::max(cursor.now, cursor.handles[op.handle]);
        }
    }

    uint32_t SenderOf(uint32_t classId, const Op& receive) const
    {
        return m_graph.ClassOf(m_graph.classes[classId].representative + receive.peer);
    }

    const TaskGraph& m_graph;
    const LeastTimes& m_times;
    std::vector<Cursor> m_cursors;
    std::vector<bool> m_isOpen; //!< by body
};

} // namespace

double
LeastReplay(const TaskGraph& graph, uint32_t classId, const LeastTimes& times)
{
    return Replay(graph, times).From(classId);
}

} // namespace scaleacross
