// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/workload-spec.h"

#include "core/base/errors.h"
#include "core/base/field-rows.h"
#include "core/base/text.h"

namespace scaleacross
{

namespace
{

/// Gradients by the name of their format.
Field<WorkloadSpec>
GradientField()
{
    static const std::vector<std::pair<std::string, uint32_t>> formats = {{"fp32", 4}, {"bf16", 2}};
    const auto parse = [](const std::string& text) {
        for (const auto& [name, bytes] : formats)
        {
            if (text == name)
            {
                return bytes;
            }
        }
        throw ValueError(Quoted(text) + " is not known", "fp32 or bf16", "");
    };
    const auto print = [](uint32_t value) {
        for (const auto& [name, bytes] : formats)
        {
            if (value == bytes)
            {
                return name;
            }
        }
        return std::to_string(value) + " bytes";
    };
    Field<WorkloadSpec> field = FieldRows<WorkloadSpec>::Make(
        "gradients",
        "fp32 or bf16",
        "format of gradients on the network: fp32 (4 bytes, Llama 3's choice) or bf16 (2)",
        &WorkloadSpec::gradientBytes,
        parse,
        print);
    field.words = {"fp32", "bf16"};
    field.meanings = {"4 bytes an element", "2 bytes an element"};
    return field;
}

} // namespace

const FieldTable<WorkloadSpec>&
WorkloadSpec::Fields()
{
    using Row = FieldRows<WorkloadSpec>;
    using W = WorkloadSpec;
    static const FieldTable<WorkloadSpec> fields = {
        Row::Whole("sequence", 1, 1U << 24, "tokens of a sequence", &W::sequence)
            .Required("sequence: 8192"),
        Row::Whole("global_batch",
                   1,
                   1U << 24,
                   "sequences of an optimizer step, all replicas together",
                   &W::globalBatch)
            .Required("global_batch: 2048"),
        GradientField(),
        Row::Bool("causal_attention",
                  "count core attention as s^2/2, in time and MFU; false: s^2",
                  &W::causalAttention),
        Row::Word("precision",
                  "number format of the linear layers' GEMMs, and its scaling",
                  &W::precision),
        // All tokens on one of 16,384 ranks is as far as imbalance can go.
        Row::Number("expert_imbalance",
                    1,
                    16384,
                    "routed tokens of the fullest expert-parallel rank over the mean",
                    &W::expertImbalance),
        Row::Number("capacity_factor",
                    0,
                    1024,
                    "copies of tokens that an expert takes over those of an even share, padded; 0: "
                    "all that come",
                    &W::capacityFactor),
        Row::Bool("memory_limit",
                  "a plan that needs more HBM than there is cannot run; false: it runs, and the "
                  "warnings say what it lacks",
                  &W::memoryLimit),
    };
    return fields;
}

void
WorkloadSpec::Validate() const
{
    CheckFields(Fields(), *this, "workload");
    CheckFields(SoftwareStack::Fields(), stack, "workload.stack");
    if (capacityFactor > 0 && expertImbalance != 1)
    {
        throw ConfigError("workload.expert_imbalance",
                          NumberText(expertImbalance) +
                              ", but with capacity_factor all experts take as much",
                          "1 with workload.capacity_factor",
                          "leave out one of the two");
    }
}

} // namespace scaleacross
