// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/software-stack.h"

#include "core/base/field-rows.h"

namespace scaleacross
{

namespace
{

/// Megatron-LM of 2021 (SC21, and what vTrain measured): FP16, dropout.
SoftwareStack
Megatron2021()
{
    SoftwareStack stack;
    stack.name = "megatron-2021";
    stack.help = "Megatron-LM of 2021: attention scores in HBM, dropout, no sequence parallelism";
    // Bias, dropout and residual read two, write one and a mask of a byte: 7h in place of 6h; with
    // the norm's 4h, 11 for 10.
    stack.elementwise = 1.1;
    stack.flashAttention = false;
    stack.scorePasses = 6.2; // fitted, see doc/compute.md
    stack.sequenceParallel = false;
    stack.overlapsTensorReduction = false;
    // Read gradient and sum, write the sum, FP16.
    stack.accumulation = 6;
    // Gradient to FP32 (2 + 4), unscale (8), norm (4), clip (8), Adam (28), weights to FP16 (6).
    stack.optimizerBytes = 60;
    stack.hostPerLayer = Duration::Microseconds(2820); // fitted
    return stack;
}

/// A year later, without sequence parallelism still (2205.05198's baseline).
SoftwareStack
Megatron2022()
{
    SoftwareStack stack = Megatron2021();
    stack.name = "megatron-2022";
    stack.help = "as megatron-2021, with weight gradients beside tensor-parallel reductions";
    stack.overlapsTensorReduction = true;
    // Weight gradients add up in FP32 in their GEMM: no kernel for that, no copy before the step.
    stack.accumulation = 0;
    stack.optimizerBytes = 54;
    return stack;
}

SoftwareStack
MegatronCore()
{
    SoftwareStack stack;
    stack.name = "megatron-core";
    stack.help = "Megatron Core with Transformer Engine: flash attention";
    // Fitted, see doc/compute.md: norms and loss in FP32, and what launches and waits cost.
    stack.elementwise = 3.8;
    return stack;
}

SoftwareStack
TorchCompile()
{
    SoftwareStack stack;
    stack.name = "torch-compile";
    stack.help = "PyTorch modules, compiled layer by layer";
    stack.elementwise = 1.2; // I: nearly fused
    // TorchTitan's modules wq, wk, wv and w1, w3; DTensor waits for a collective where its result
    // is used, and autograd saves what a linear layer has read.
    stack.joinedProjections = false;
    stack.gathersForWeights = false;
    stack.overlapsTensorReduction = false;
    return stack;
}

SoftwareStack
TorchEager()
{
    SoftwareStack stack = TorchCompile();
    stack.name = "torch-eager";
    stack.help = "PyTorch modules, one kernel per operation";
    stack.elementwise = 3.2; // fitted, see doc/compute.md
    return stack;
}

} // namespace

bool
operator==(const SoftwareStack& a, const SoftwareStack& b)
{
    return EqualFields(SoftwareStack::Fields(), a, b);
}

const FieldTable<SoftwareStack>&
SoftwareStack::Fields()
{
    using Row = FieldRows<SoftwareStack>;
    using S = SoftwareStack;
    static const FieldTable<SoftwareStack> fields = {
        Row::Text("name", "for people", &S::name).Label(),
        Row::Number("elementwise",
                    1,
                    1000,
                    "HBM traffic of element-wise kernels over that of fused ones",
                    &S::elementwise),
        Row::Bool("flash_attention",
                  "core attention in one kernel that keeps its scores on the chip",
                  &S::flashAttention),
        Row::Number("score_passes",
                    0,
                    1000,
                    "without it: how often kernels read or write the scores on their way",
                    &S::scorePasses),
        Row::Bool("sequence_parallel",
                  "norms, residuals and dropout on a share of the sequence",
                  &S::sequenceParallel),
        Row::Bool("joined_projections",
                  "query, key and value are one GEMM, and so are gate and up",
                  &S::joinedProjections),
        Row::Bool(
            "gathers_for_weights",
            "a rank keeps its part of a gathered input and gathers again for weight gradients",
            &S::gathersForWeights),
        Row::Bool("overlaps_tensor_reduction",
                  "weight gradients beside the reduction of input gradients",
                  &S::overlapsTensorReduction),
        Row::Number("accumulation",
                    0,
                    1000,
                    "bytes per parameter and microbatch of kernels that add up weight gradients",
                    &S::accumulation),
        Row::Number("optimizer_bytes",
                    0,
                    10000,
                    "bytes per parameter that an optimizer step touches",
                    &S::optimizerBytes),
        // A second is a slip of the unit.
        Row::Amount("host_per_layer",
                    Duration(),
                    Duration::Seconds(1),
                    "time that the host needs to issue a layer's forward",
                    &S::hostPerLayer),
    };
    return fields;
}

const std::vector<SoftwareStack>&
SoftwareStacks()
{
    static const std::vector<SoftwareStack> stacks = {SoftwareStack(),
                                                      MegatronCore(),
                                                      Megatron2021(),
                                                      Megatron2022(),
                                                      TorchCompile(),
                                                      TorchEager()};
    return stacks;
}

const SoftwareStack&
SoftwareStackOf(const std::string& name)
{
    std::vector<std::string> names;
    for (const auto& stack : SoftwareStacks())
    {
        if (stack.name == name)
        {
            return stack;
        }
        names.push_back(stack.name);
    }
    const std::string nearest = Nearest(name, names);
    throw ValueError(Quoted(name) + " is not known",
                     AnyOf(names),
                     nearest.empty() ? "" : "did you mean " + nearest + "?");
}

} // namespace scaleacross
