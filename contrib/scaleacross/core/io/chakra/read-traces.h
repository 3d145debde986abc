// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_READ_TRACES_H
#define SCALEACROSS_READ_TRACES_H

#include "core/spec/trace-spec.h"

namespace scaleacross
{

/**
 * Reads the execution traces of Chakra that a job names, FILES.0.et to FILES.N-1.et of N ranks, and
 * sets its work and digest.
 *
 * Traces of ChakraWriter's give the task graph that they were made from, unless collectives are to
 * be lowered; all others, and then these too, are put together as foreign-trace.h says.
 *
 * Throws ConfigError (where = file): where one is missing or cannot be read, is no trace, has been
 * changed since it was written, says what no engine can do, or has another digest than the job
 * says. doc/chakra.md has a list.
 */
void ReadTraces(TraceSpec& trace);

} // namespace scaleacross

#endif // SCALEACROSS_READ_TRACES_H
