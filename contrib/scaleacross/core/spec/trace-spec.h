// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TRACE_SPEC_H
#define SCALEACROSS_TRACE_SPEC_H

#include "core/base/field.h"

#include <memory>
#include <string>

namespace scaleacross
{

/// What traces have the ranks do: core/work/graph/trace-graph.h.
struct TraceWork;

/**
 * A job that replays execution traces, in place of training.
 *
 * Two are equal if their files have the same content: where these are is no part of a result.
 */
struct TraceSpec
{
    std::string files;  //!< with ".RANK.et" behind it the name of a rank's file
    bool lowers{false}; //!< write collectives as phases anew, also those that have theirs
    std::string digest; //!< of the content of all files; empty: they have not been read
    /// Set by who reads them; what is not read cannot be run.
    std::shared_ptr<const TraceWork> work;

    /// What a study may say of it.
    static const FieldTable<TraceSpec>& Fields();
};

} // namespace scaleacross

#endif // SCALEACROSS_TRACE_SPEC_H
