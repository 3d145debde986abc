// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/trace-spec.h"

#include "core/base/field-rows.h"

namespace scaleacross
{

const FieldTable<TraceSpec>&
TraceSpec::Fields()
{
    using Row = FieldRows<TraceSpec>;
    static const FieldTable<TraceSpec> fields = {
        Row::Text("files",
                  "what stands before .RANK.et in the names of the traces, from the study's folder",
                  &TraceSpec::files)
            .Required("files: traces/step")
            .Label(),
        Row::Bool(
            "lower",
            "write collectives as the network plan says, also in traces of ScaleAcross, which "
            "say how theirs are done",
            &TraceSpec::lowers),
        Row::Text("digest",
                  "of the content of all files, which must be this one",
                  &TraceSpec::digest),
    };
    return fields;
}

} // namespace scaleacross
