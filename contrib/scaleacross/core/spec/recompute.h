// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RECOMPUTE_H
#define SCALEACROSS_RECOMPUTE_H

#include "core/base/word.h"

#include <string>
#include <vector>

/// What backward computes again instead of keeping it from forward.
namespace scaleacross
{

/// By parts of a layer. The first six are the modules of which a study may join any.
struct RecomputedParts
{
    bool norms{false};         //!< the outputs of a layer's norms
    bool activations{false};   //!< the outputs of activation functions, of experts and dense layers
    bool upProjections{false}; //!< with MLA queries, keys and values, from the latent vectors
    bool denseMlp{false};      //!< all of a dense layer's MLP, from its norm's output
    /// All of a MoE layer from its norm's output: router, dispatch, routed and shared experts, and
    /// what combines them, communication included.
    bool experts{false};
    bool sharedExperts{false}; //!< of a MoE layer, with their communication

    /// Every second linear layer, routers, routed experts, all that is element-wise: TorchTitan's
    /// selective recomputation by operation. Core attention, and what was communicated, are kept.
    bool linears{false};
    bool layers{false}; //!< whole layers, of which only the input is kept
    /// and queries, keys and values: MaxText's save_qkv_proj. XLA leaves out the MLP's last GEMM,
    /// which makes nothing but the next layer's input.
    bool keepsProjections{false};

    /// Whether the MLP of a layer, dense or MoE, is done again as a whole, its layer not.
    bool WholeMlp(bool moe) const
    {
        return moe ? experts : denseMlp;
    }

    /// Whether of a MoE layer nothing but the shared experts is.
    bool OnlySharedExperts() const
    {
        return sharedExperts && !experts;
    }
};

bool operator==(const RecomputedParts& a, const RecomputedParts& b);

/// A word of it: a module, or what stands alone.
struct RecomputeFacts : WordFacts
{
    /// The part that the module is, if it is one.
    bool RecomputedParts::*module{nullptr};
    RecomputedParts parts{}; //!< of what stands alone
};

/// A word of it: a module, or what stands alone.
using RecomputeWord = Word<RecomputeFacts>;

template <>
const std::vector<const RecomputeFacts*>& RecomputeWord::Rows();
extern template class Word<RecomputeFacts>;

/**
 * What a plan computes again: a word that stands alone, or modules joined by "+" in any order, as
 * in "mlp+moe". Values that mean the same parts are equal and have one text: "activation+norm" is
 * "selective". `->` leads to the parts.
 *
 * Megatron-Core's option is such a list: its modules layernorm, moe_act (activation here, in dense
 * layers, too), mla_up_proj, mlp, moe and shared_experts. Its core_attn changes nothing here, where
 * attention is flash attention and never keeps its scores.
 */
class Recompute
{
  public:
    /// Nothing.
    Recompute() = default;

    /// Throws ValueError for a word that is not known, one that is no module beside others, and a
    /// module that is named twice.
    Recompute(const char* text);
    Recompute(const std::string& text);

    const RecomputedParts* operator->() const
    {
        return &m_parts;
    }

    const RecomputedParts& operator*() const
    {
        return m_parts;
    }

    /// Without one of the modules, whether it was there or not.
    Recompute Without(bool RecomputedParts::*module) const;

    friend bool operator==(const Recompute& a, const Recompute& b)
    {
        return *a == *b;
    }

    friend bool operator!=(const Recompute& a, const Recompute& b)
    {
        return !(a == b);
    }

  private:
    RecomputedParts m_parts;
};

/// What the constructor reads: the word that stands alone if there is one, else the modules in the
/// order of their rows.
std::string ToString(const Recompute& value);

/// What the constructor allows, for messages.
const std::string& RecomputeAllowed();

} // namespace scaleacross

#endif // SCALEACROSS_RECOMPUTE_H
