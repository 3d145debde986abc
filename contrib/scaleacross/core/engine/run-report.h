// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RUN_REPORT_H
#define SCALEACROSS_RUN_REPORT_H

#include "core/base/figure.h"
#include "core/base/units.h"
#include "core/engine/timeline.h"
#include "core/program/program.h"
#include "core/work/memory/memory.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// Communication of one class during the measured iteration.
struct ClassReport
{
    /// Time in which a collective of the class is under way on the rank, or a pipeline message to
    /// it (posted and not yet arrived), averaged over the ranks.
    Duration busy;
    /// Time a rank's compute stands still for this class, averaged over the ranks; a wait for a
    /// message that has not set out yet is bubble, not exposed communication.
    Duration exposed;
    Bytes bytes;      //!< payload sent by all ranks
    Bytes crossBytes; //!< of it, payload that left its building

    static const FigureTable<ClassReport>& Figures();
};

/// What the network went through (packet engine; zero elsewhere).
struct NetworkReport
{
    uint64_t packetsSent{0};
    uint64_t packetsDelivered{0};
    uint64_t packetsDropped{0};
    uint64_t packetsInFlight{0};
    uint64_t retransmissions{0};
    uint64_t pauses{0};
    /// Largest number of this job's flows that hashed onto one of several equal paths, over the
    /// mean.
    double collisionFactor{1.0};

    static const FigureTable<NetworkReport>& Figures();
};

/// What went over a link that ranks share, or a rank's own, in one direction and one iteration.
struct ResourceReport
{
    std::string name; //!< such as "east leaf up", "east to west", "stage 3 NIC out"
    /// Payload and headers, ACKs apart: of a port, those of the stage's busiest rank; of uplinks,
    /// those of the fullest leaf or zone.
    Bytes bytes;
    /// What events leave of it to the job, in the mean over the measured iterations.
    BitRate capacity;
    double held{1};     //!< share of that to which the engine holds it: links may be unlike
    bool shared{false}; //!< by ranks; else it is a port of one
    bool limited{true}; //!< something holds it to its capacity; else that is one to compare with
    double busy{0};     //!< bytes over capacity, over the iteration time: at most 1

    /// All but the name.
    static const FigureTable<ResourceReport>& Figures();
};

/// What corrections have made of a time.
struct CorrectionReport
{
    std::string set;        //!< whose they are: the name of a file
    uint32_t operations{0}; //!< between servers, of the plan
    uint32_t covered{0};    //!< of these, for which there is a factor
    /// Part of the time of all operations between servers, each alone and as often as it is done,
    /// that those without a factor take; by the model.
    double uncovered{0};
    /// Least and greatest iteration time by the factors, by their low ends, and by their high ends.
    Duration low;
    Duration high;
    std::vector<std::string> missing; //!< operations without a factor
    /// Operations that ports and wires hold to more than their factor asks for: "dp all_gather
    /// ring, leaf, 2 MiB of 4: asked 0.80, got 0.95".
    std::vector<std::string> unreached;

    /// All but names and operations.
    static const FigureTable<CorrectionReport>& Figures();
};

/// What a run has left out that did not change, and how well that is known.
struct FastForwardReport
{
    Duration skipped;   //!< of the whole run, on its clock
    uint64_t skips{0};  //!< in how many pieces
    Duration verified;  //!< that might have been skipped, and was simulated to compare
    uint64_t checks{0}; //!< in how many pieces
    /// Difference between the packets that were sent in these and those that would have been left
    /// out, over these: the mean over time, and of one piece the greatest.
    double error{0};
    double worst{0};

    static const FigureTable<FastForwardReport>& Figures();
};

/// When the measured iterations were, on the clock of the run, warm-up included.
struct MeasuredSpan
{
    Duration from;  //!< the first rank begins them
    Duration until; //!< the last one ends them
};

/**
 * The result of one run, from which everything printed, stored or drawn is taken.
 *
 * What of it is numbers stands in the tables Figures(), from which JSON and columns of the database
 * follow.
 *
 * Iteration time is the steady state: from the start of the first forward of one iteration to the
 * same point of the next, on the slowest rank, after the warm-up iterations.
 */
struct RunReport
{
    std::string engine;                   //!< Engine::Name()
    std::string version;                  //!< of this program
    uint64_t seed{0};                     //!< 0 where the engine draws nothing
    uint32_t iterations{0};               //!< measured
    uint32_t warmup{0};                   //!< run before them
    std::optional<MeasuredSpan> measured; //!< of an engine that replays ranks

    Duration iterationTime;
    double mfu{0};            //!< ModelFlops / (time x GPUs x BF16 peak); no recomputation counted
    Duration computeTime;     //!< GPU busy, averaged over the ranks
    Duration bubble;          //!< idle for want of work from another stage, averaged over the ranks
    double bubbleFraction{0}; //!< bubble / iterationTime
    Duration exposedComm;     //!< sum over the classes
    std::array<ClassReport, kCommClasses> classes; //!< by CommClass

    std::vector<MemoryUse> memory; //!< by stage, of the rank that has the least left
    Bytes memoryMax;               //!< of the rank that holds the most
    Bytes crossBuildingBytes;      //!< payload over building boundaries, all ranks, one iteration
    NetworkReport network;
    std::vector<ResourceReport> resources;        //!< those that carried something
    std::optional<Timeline> timeline;             //!< if it was asked for
    std::optional<CorrectionReport> correction;   //!< where factors have changed the time
    std::optional<FastForwardReport> fastForward; //!< where a run may skip

    /// Those that are one number each; network, classes, memory and resources have their own.
    static const FigureTable<RunReport>& Figures();

    /// Whether it is known what the time consists of. A model of somebody else's may have said
    /// nothing of it; then compute, bubble and exposed communication are 0.
    bool KnowsParts() const
    {
        return Duration() < computeTime || Duration() < bubble || Duration() < exposedComm;
    }

    /// Whether it is known when transfers are under way; else the busy time of every class is 0,
    /// though something is sent.
    bool KnowsBusy() const
    {
        const auto any = [this](auto is) {
            return std::any_of(classes.begin(), classes.end(), is);
        };
        return any([](const ClassReport& comm) { return Duration() < comm.busy; }) ||
               !any([](const ClassReport& comm) { return Bytes() < comm.bytes; });
    }

    const ClassReport& Of(CommClass comm) const
    {
        return classes[static_cast<size_t>(comm)];
    }

    ClassReport& Of(CommClass comm)
    {
        return classes[static_cast<size_t>(comm)];
    }
};

} // namespace scaleacross

#endif // SCALEACROSS_RUN_REPORT_H
