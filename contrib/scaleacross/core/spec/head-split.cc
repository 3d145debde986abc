// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/head-split.h"

#include "core/base/text.h"

#include <string>

namespace scaleacross
{

namespace
{

/// Width of queries, keys and values together: (a + 2g) d.
uint64_t
JointWidth(const ModelSpec& model)
{
    return (uint64_t{model.heads} + 2 * uint64_t{model.kvHeads}) * model.headDim;
}

enum class Problem
{
    None,
    Queries,     //!< they do not divide
    Keys,        //!< neither divides the other
    NotRepeated, //!< fewer KV heads than ranks, with software that cannot do with that
    Columns,     //!< of the joint projection, which do not divide
};

Problem
ProblemOf(const ModelSpec& model, bool repeats, uint32_t tp)
{
    if (tp == 0 || model.heads % tp != 0)
    {
        return Problem::Queries;
    }
    if (model.kvHeads % tp == 0)
    {
        return Problem::None;
    }
    if (tp % model.kvHeads != 0)
    {
        return Problem::Keys;
    }
    if (!repeats)
    {
        return Problem::NotRepeated;
    }
    return JointWidth(model) % tp == 0 ? Problem::None : Problem::Columns;
}

std::string
TextOf(Problem problem, const ModelSpec& model, const SoftwareStack& stack, uint32_t tp)
{
    const std::string given = "plan.tp " + std::to_string(tp);
    const std::string keys = std::to_string(model.kvHeads) + " KV heads";
    switch (problem)
    {
    case Problem::Queries:
        return given + " does not divide the " + std::to_string(model.heads) + " query heads";
    case Problem::Keys:
        return given + " and the " + keys + ": neither divides the other";
    case Problem::NotRepeated:
        return given + " is more than the " + keys + ", which workload.stack " + stack.name +
               " does not repeat (repeats_kv_heads: false)";
    case Problem::Columns:
        return given + " does not divide the " + std::to_string(JointWidth(model)) +
               " columns of queries, keys and values together";
    case Problem::None:
        break;
    }
    return "";
}

} // namespace

std::optional<Infeasible>
CheckHeads(const ModelSpec& model, const SoftwareStack& stack, uint32_t tp)
{
    const Problem problem = ProblemOf(model, stack.repeatsKvHeads, tp);
    if (problem == Problem::None)
    {
        return std::nullopt;
    }
    std::vector<std::string> allowed;
    for (const uint32_t degree : HeadSplits(model, stack))
    {
        allowed.push_back(std::to_string(degree));
    }
    const bool repeated = ProblemOf(model, true, tp) == Problem::None;
    return Infeasible{"heads",
                      TextOf(problem, model, stack, tp) + ": take tp " + AnyOf(allowed) +
                          (repeated ? ", or a stack that repeats KV heads, as Megatron Core does "
                                      "from 0.16 on"
                                    : "")};
}

std::vector<uint32_t>
HeadSplits(const ModelSpec& model, const SoftwareStack& stack)
{
    std::vector<uint32_t> degrees;
    for (uint32_t tp = 1; tp <= model.heads; tp++)
    {
        if (ProblemOf(model, stack.repeatsKvHeads, tp) == Problem::None)
        {
            degrees.push_back(tp);
        }
    }
    return degrees;
}

} // namespace scaleacross
