// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/slice.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/engine/engine.h"
#include "core/engine/operation.h"
#include "core/work/collectives/collective-table.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <tuple>
#include <vector>

namespace scaleacross
{

namespace
{

/// A window of a collective.
Collective
PartOf(Collective collective, double part)
{
    const auto shrink = [part](uint64_t whole) {
        return std::max<uint64_t>(
            1,
            static_cast<uint64_t>(std::llround(static_cast<double>(whole) * part)));
    };
    for (Phase& phase : collective.phases)
    {
        phase.bytes = Bytes(shrink(phase.bytes.Count()));
    }
    collective.chunks = static_cast<uint32_t>(shrink(collective.chunks));
    return collective;
}

/// Begins an iteration.
Op
Beginning()
{
    Op begin;
    begin.kind = OpKind::Run;
    begin.action = Action::Forward;
    return begin;
}

Op
MessageOp(OpKind kind, uint32_t message, int32_t peer, Bytes bytes)
{
    Op op;
    op.kind = kind;
    op.index = message;
    op.peer = peer;
    op.bytes = bytes;
    return op;
}

/// Writes the programs of a slice.
class SliceWriter
{
  public:
    SliceWriter(const TaskGraph& whole, double part)
        : m_whole(whole),
          m_part(part),
          m_classes(whole.classes.size())
    {
    }

    /// By these classes.
    void AddCollective(const Operation& operation,
                       const std::vector<uint32_t>& classes,
                       uint32_t times)
    {
        const auto known = m_numbers.try_emplace(operation.collective,
                                                 static_cast<uint32_t>(m_collectives.size()));
        if (known.second)
        {
            m_collectives.push_back(PartOf(m_whole.collectives[operation.collective], m_part));
        }
        for (const uint32_t c : classes)
        {
            Work& work = m_classes[c];
            for (uint32_t i = 0; i < times; i++)
            {
                AppendCollective(known.first->second,
                                 operation.stream,
                                 work.handles++,
                                 work.collectives);
            }
        }
    }

    /// Messages there, and as many back, so many times.
    void AddMessage(const Operation& operation,
                    const std::vector<uint32_t>& senders,
                    uint32_t times)
    {
        const Bytes bytes(
            std::max<uint64_t>(1,
                               static_cast<uint64_t>(std::llround(
                                   static_cast<double>(operation.bytes.Count()) * m_part))));
        const int32_t peer = operation.peer;
        std::set<uint32_t> receivers;
        for (const uint32_t c : senders)
        {
            receivers.insert(
                m_whole.ClassOf(m_whole.classes[c].representative + static_cast<Rank>(peer)));
        }
        for (uint32_t i = 0; i < times; i++)
        {
            const uint32_t there = m_messages++;
            const uint32_t back = m_messages++;
            for (const uint32_t c : senders)
            {
                Round& round = RoundOf(c, i);
                round.sends.push_back(MessageOp(OpKind::Send, there, peer, bytes));
                round.ends.push_back(MessageOp(OpKind::Receive, back, peer, bytes));
            }
            for (const uint32_t c : receivers)
            {
                Round& round = RoundOf(c, i);
                round.answers.push_back(MessageOp(OpKind::Receive, there, -peer, bytes));
                round.answers.push_back(MessageOp(OpKind::Send, back, -peer, bytes));
            }
        }
    }

    /// In place of the programs of a graph.
    void WriteTo(TaskGraph& graph) const
    {
        graph.bodies = {Program()};
        graph.collectives = m_collectives;
        graph.messages = m_messages;
        graph.handles = 1;
        graph.rendezvous = false;
        graph.once = true;
        for (size_t c = 0; c < m_classes.size(); c++)
        {
            graph.classes[c].program = ProgramOf(m_classes[c]);
            graph.handles = std::max(graph.handles, m_classes[c].handles);
        }
    }

  private:
    /// Messages of a rank that do not wait for each other.
    struct Round
    {
        std::vector<Op> sends;
        std::vector<Op> answers; //!< each with what it answers before it
        std::vector<Op> ends;    //!< answers to what was sent
    };

    struct Work
    {
        Program collectives;
        uint32_t handles{0};
        std::vector<Round> rounds;
    };

    Round& RoundOf(uint32_t classId, uint32_t round)
    {
        std::vector<Round>& rounds = m_classes[classId].rounds;
        rounds.resize(std::max<size_t>(rounds.size(), round + 1));
        return rounds[round];
    }

    static Program ProgramOf(const Work& work)
    {
        Program program;
        if (work.handles == 0 && work.rounds.empty())
        {
            return program;
        }
        std::vector<Op>& ops = program.ops;
        ops.push_back(Beginning());
        const auto append = [&ops](const std::vector<Op>& more) {
            ops.insert(ops.end(), more.begin(), more.end());
        };
        append(work.collectives.ops);
        for (const Round& round : work.rounds)
        {
            append(round.sends);
            append(round.answers);
            append(round.ends);
        }
        for (uint32_t handle = 0; handle < work.handles; handle++)
        {
            AppendWait(handle, program);
        }
        return program;
    }

    const TaskGraph& m_whole;
    double m_part;
    std::vector<Work> m_classes;
    std::map<uint32_t, uint32_t> m_numbers; //!< in the slice, by collective of the whole
    std::vector<Collective> m_collectives;
    uint32_t m_messages{0};
};

std::string
StagesText(const std::vector<Operation>& operations)
{
    std::string text;
    for (const Operation& operation : operations)
    {
        text += std::to_string(operation.stage) + ", ";
    }
    return text + "or all";
}

/// The operations of a piece, each of one stage.
std::vector<Operation>
StagesOf(const SlicePiece& piece, OperationFinder& finder, const std::vector<Operation>& operations)
{
    const std::string list = "scaleacross calibrate STUDY --list prints the operations";
    if (piece.operation >= operations.size())
    {
        throw ConfigError("--slice",
                          "there is no operation " + std::to_string(piece.operation),
                          operations.empty()
                              ? "nothing, for this plan sends nothing between servers"
                              : "0 to " + std::to_string(operations.size() - 1),
                          list);
    }
    const Operation& operation = operations[piece.operation];
    if (piece.times < 1 || piece.times > operation.times)
    {
        throw ConfigError("--slice",
                          "operation " + std::to_string(piece.operation) + " is asked for " +
                              std::to_string(piece.times) + " times",
                          "1 to " + std::to_string(operation.times) +
                              ", as often as a rank does it in an iteration",
                          list);
    }
    if (!piece.allStages && !piece.stage)
    {
        return {operation};
    }
    std::vector<Operation> all = finder.OfAllStages(operation);
    if (piece.allStages)
    {
        return all;
    }
    for (const Operation& one : all)
    {
        if (one.stage == *piece.stage)
        {
            return {one};
        }
    }
    throw ConfigError("--slice",
                      "stage " + std::to_string(*piece.stage) + " does not " +
                          (operation.IsMessage() ? "begin" : "do") + " operation " +
                          std::to_string(piece.operation),
                      StagesText(all),
                      list);
}

SlicePiece
ParsePiece(const std::string& text)
{
    SlicePiece piece;
    std::string number = text;
    if (const size_t cross = number.find('x'); cross != std::string::npos)
    {
        piece.times = static_cast<uint32_t>(ParseWhole(number.substr(0, cross), 1, UINT32_MAX));
        number = number.substr(cross + 1);
    }
    if (const size_t at = number.find('@'); at != std::string::npos)
    {
        const std::string stage = number.substr(at + 1);
        piece.allStages = stage == "all";
        if (!piece.allStages)
        {
            piece.stage = static_cast<uint32_t>(ParseWhole(stage, 0, UINT32_MAX));
        }
        number = number.substr(0, at);
    }
    piece.operation = static_cast<uint32_t>(ParseWhole(number, 0, UINT32_MAX));
    return piece;
}

} // namespace

double
WindowOf(const Collective& collective, double most)
{
    if (collective.chunks == 1)
    {
        return most;
    }
    auto chunks = static_cast<uint32_t>(most * collective.chunks);
    const uint32_t even = 2 * collective.channels;
    chunks -= chunks % (chunks < even ? 2 : even);
    return static_cast<double>(chunks) / collective.chunks;
}

SliceSpec::SliceSpec(uint32_t operation, double part)
    : pieces(1),
      part(part)
{
    pieces.front().operation = operation;
}

SliceSpec
ParseSlice(const std::string& text)
{
    const size_t colon = text.find(':');
    SliceSpec slice;
    std::istringstream pieces(text.substr(0, colon) + "+");
    for (std::string piece; std::getline(pieces, piece, '+');)
    {
        slice.pieces.push_back(ParsePiece(piece));
    }
    if (colon != std::string::npos)
    {
        slice.part = ParseNumber(text.substr(colon + 1), 1e-9, 1.0);
    }
    return slice;
}

std::string
ToString(const SliceSpec& slice)
{
    std::string text;
    for (const SlicePiece& piece : slice.pieces)
    {
        text += text.empty() ? "" : "+";
        text += piece.times > 1 ? std::to_string(piece.times) + "x" : "";
        text += std::to_string(piece.operation);
        text += piece.allStages ? "@all" : piece.stage ? "@" + std::to_string(*piece.stage) : "";
    }
    return text + (slice.part < 1 ? ":" + NumberText(slice.part) : std::string());
}

PreparedRun
SliceOf(const PreparedRun& run, const SliceSpec& slice, const ClusterPaths& paths)
{
    OperationFinder finder(run.graph, paths);
    const std::vector<Operation> operations = finder.All();
    SliceWriter writer(run.graph, slice.part);
    std::set<std::tuple<uint32_t, uint32_t, int32_t>> known; // by stage
    for (const SlicePiece& piece : slice.pieces)
    {
        for (const Operation& operation : StagesOf(piece, finder, operations))
        {
            if (!known.emplace(operation.stage, piece.operation, operation.peer).second)
            {
                throw ConfigError("--slice",
                                  "operation " + std::to_string(piece.operation) + " of stage " +
                                      std::to_string(operation.stage) + " is there twice",
                                  "each operation of a stage once",
                                  "2x" + std::to_string(piece.operation) +
                                      " does it twice, one after the other");
            }
            const std::vector<uint32_t>& classes = finder.ClassesOf(operation);
            if (operation.IsMessage())
            {
                writer.AddMessage(operation, classes, piece.times);
            }
            else
            {
                writer.AddCollective(operation, classes, piece.times);
            }
        }
    }
    PreparedRun part = run;
    writer.WriteTo(part.graph);
    part.layout.takingPart = TakingPart(part.graph);
    return part;
}

} // namespace scaleacross
