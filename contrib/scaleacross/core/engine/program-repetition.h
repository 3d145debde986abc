// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PROGRAM_REPETITION_H
#define SCALEACROSS_PROGRAM_REPETITION_H

#include "core/program/program.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace scaleacross
{

/// The part of a program in which it does the same again and again with later microbatches.
struct ProgramRepetition
{
    uint32_t period{0}; //!< operations
    /// Operation i + period is operation i with later microbatches, for begin <= i < end.
    uint32_t begin{0};
    uint32_t end{0};
    /// The first operation from `begin` on that runs a forward of the first chunk and has others a
    /// period, two periods, ... behind it.
    uint32_t mark{0};

    bool operator==(const ProgramRepetition& o) const
    {
        return period == o.period && begin == o.begin && end == o.end && mark == o.mark;
    }
};

/**
 * The repetition of a program that is in the middle of its microbatches and advances by so many of
 * them per period; none if it has no such period there.
 *
 * What a microbatch is known by is the number of its messages, which counts microbatches within a
 * boundary of the pipeline: with `microbatches` more, the number is as much greater. All else is
 * equal: bodies, collectives, peers, bytes, and the order. Domain: microbatches > 0.
 *
 * Worked case: the last of two stages runs 1F1B over four microbatches as receive, F, B, send four
 * times. With one microbatch per period, the period is four operations, begin 0 and end 12. The
 * first stage runs F, send, F, send, receive, B, F, send, ..., receive, B: its period is as long,
 * begin 2 and end 10, as no forward follows the last backward but one.
 */
std::optional<ProgramRepetition> RepetitionOf(const Program& program, uint32_t microbatches);

/// How programs that advance together repeat themselves.
struct Repetition
{
    uint32_t microbatches{0}; //!< by which all of them advance in a period
    /// By class; a period of 0 for one without a program.
    std::vector<ProgramRepetition> classes;
};

/// The shortest that all classes of a graph have, each for twice its period and a quarter of its
/// program at least; none if there is none with a quarter of the microbatches or fewer.
std::optional<Repetition> RepetitionOf(const TaskGraph& graph);

} // namespace scaleacross

#endif // SCALEACROSS_PROGRAM_REPETITION_H
