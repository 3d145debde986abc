// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SOFTWARE_STACK_H
#define SCALEACROSS_SOFTWARE_STACK_H

#include "core/base/field.h"
#include "core/base/units.h"
#include "core/spec/stack-words.h"

#include <string>

namespace scaleacross
{

/**
 * What the training software makes of a layer, where it differs from a perfectly fused one.
 *
 * The defaults are that perfect one: a chain of element-wise operations is one kernel that reads
 * its inputs and writes its outputs once, attention is flash attention, weight gradients are added
 * up by the GEMM that makes them, and the host is always ahead of the GPU.
 */
struct SoftwareStack
{
    std::string name{"fused"};

    /// HBM traffic of element-wise kernels over that of fused ones, from 1.
    double elementwise{1};

    /// The same of what experts ask for besides their GEMMs: routing probabilities, and bringing
    /// the copies of tokens into the order of experts and back, from 1.
    double permutation{1};

    /// Core attention in one kernel that keeps its scores on the chip and skips what causality
    /// hides. Otherwise two batched GEMMs over all of s^2 with the 16-bit scores in HBM,
    bool flashAttention{true};
    /// which element-wise kernels read or write this often on their way, in either direction.
    double scorePasses{0};

    /// Norms, residuals and dropout on a share of the sequence. Otherwise every tensor-parallel
    /// rank does all of them (and keeps all of their inputs); the messages are as long, an
    /// all-reduce being a reduce-scatter and an all-gather.
    bool sequenceParallel{true};

    /// Q, K and V are one GEMM, and so are gate and up. Otherwise each is its own, and the
    /// gradients of their common input, of all tokens of a tensor-parallel group, are added up by a
    /// kernel.
    bool joinedProjections{true};

    /// Tensor parallelism may have more ranks than there are KV heads (HeadSplits()). As Megatron
    /// Core does it from 0.16 on, every rank projects to its part of the columns of Q, K and V, and
    /// the group gathers all of them; each rank goes on with its query heads and the KV head that
    /// these attend to. Weights are held once, as with any other degree.
    bool repeatsKvHeads{true};

    /// With context parallelism a rank has two pieces of a sequence, of equal length. Here tensor
    /// parallelism has to deal out each of the two evenly; otherwise only both together.
    bool evenHalves{false};

    /// Of a linear layer's gathered input a rank keeps its own part, and gathers it once more for
    /// the weight gradient, beside computing. Otherwise it keeps all of it, or, where backward
    /// makes it again, gathers it when it does that and waits.
    bool gathersForWeights{true};

    /// The backward pass goes on beside the reduction of an input gradient over the tensor-parallel
    /// ranks, with the weight gradient of the same layer.
    bool overlapsTensorReduction{true};

    /// Of what a narrow precision casts, the part that kernels of their own do, whose traffic
    /// counts; the rest is cast by the kernel that makes it, which writes as much as it would have.
    double castShare{1};

    /// In a narrow precision the weights, too, are cast for every microbatch. Otherwise they are
    /// kept narrow from one optimizer step to the next.
    bool castsWeights{true};

    /// Of sharded parameters a rank keeps the master weights only, and casts them to 16 bits when
    /// they are gathered. Otherwise its shard of 16 bits, too.
    bool shardsMasters{false};

    /// HBM bytes per logit (a word of a token) of loss and gradient, a third of them forward.
    /// Fused: read it (2), read it again and overwrite it with its gradient (4); more in FP32 or by
    /// parts.
    double lossBytes{6};
    /// HBM bytes per logit that are live with the loss beside the logits in 16 bits. The default is
    /// a copy in FP32 that becomes the gradient, as in Megatron-LM's cross_entropy.py (inferred
    /// from it); a loss that overwrites the logits has 0, which published peaks hold
    /// (doc/memory.md).
    double lossBuffer{4};

    /// Of the copies of a token that go to experts, those that are live with the experts, beside
    /// what backward needs: that of dispatch and that of combine (inferred), and more where they
    /// are brought into another order first and the software holds on to both, which published
    /// peaks of such software hold (doc/memory.md).
    double dispatchCopies{2};

    /// Biases of experts and clamps of their gates are done by the GEMMs beside them. Otherwise
    /// element-wise kernels of their own do them (part-cost.h has their bytes).
    bool fusesExperts{true};

    /// Weight gradients are added up in their GEMM, and the software that asks for a gradient of
    /// every weight gets a stand-in of 16 bits an element: one for each shape, which stays.
    bool gradientStandIns{false};

    /// Bytes per parameter and microbatch of kernels that add a weight gradient to the sum.
    double accumulation{0};
    /// Bytes per parameter that an optimizer step touches. Adam, fused: read the FP32 gradient (4),
    /// read and write master weight and two moments (12 + 12), write the BF16 weight (2). Clipping
    /// reads the gradient once more (4), and where it always scales it reads and writes it (8).
    double optimizerBytes{30};

    /// Gradients are clipped by the norm of all of them: no rank steps before every rank has
    /// reduced its own, and a number has gone from all ranks to all ranks.
    bool clipsGradients{false};

    /// What the host needs to issue a layer's forward: its time is never below that,
    Duration hostPerLayer;
    /// and its backward, which compiled code issues (PyTorch's autograd engine), faster.
    Duration hostPerLayerBackward;
    /// What the host needs to issue the kernels of an expert on the rank, in either direction of a
    /// MoE layer, and as much again for biases that are kernels of their own. It adds to
    /// hostPerLayer; where forward has waited for the host, forward takes all of it longer.
    Duration hostPerExpert;

    /// What a MoE layer's forward waits for the host where its experts take all tokens that choose
    /// them (no capacity): how many come is known on the GPU only, and the host has to learn it
    /// before it can issue what comes next. Backward knows.
    Duration routingStall;

    /// What the host does not issue kernel by kernel.
    GraphScope cudaGraphs;

    /// Of pipeline messages. Posting one tells the sender, with a message of its own.
    Receives receives;

    /// What a study may say of a stack, in canonical order.
    static const FieldTable<SoftwareStack>& Fields();
};

bool operator==(const SoftwareStack& a, const SoftwareStack& b);

} // namespace scaleacross

#endif // SCALEACROSS_SOFTWARE_STACK_H
