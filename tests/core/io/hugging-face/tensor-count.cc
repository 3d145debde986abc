// SPDX-License-Identifier: GPL-2.0-only

#include "tensor-count.h"

#include <string>

namespace scaleacross
{

namespace
{

using Json = nlohmann::json;

/// One model while it is counted. Functions are named after the modules that they count.
class Modules
{
  public:
    explicit Modules(const Json& config)
        : m_config(config),
          m_type(config.at("model_type"))
    {
    }

    uint64_t CausalLm() const
    {
        uint64_t count = Number("vocab_size") * Hidden(); // embed_tokens
        for (uint64_t layer = 0; layer < Number("num_hidden_layers"); layer++)
        {
            count += DecoderLayer(layer);
        }
        count += Norm(Hidden());
        const bool tied = m_config.value("tie_word_embeddings", false);
        count += tied ? 0 : Hidden() * Number("vocab_size");
        const bool bias = (Is("phimoe") && m_config.value("lm_head_bias", false)) || UsesBias();
        return count + (bias ? Number("vocab_size") : 0);
    }

  private:
    bool Is(const std::string& type) const
    {
        return m_type == type;
    }

    uint64_t Number(const std::string& key) const
    {
        const auto found = m_config.find(key);
        return found == m_config.end() || found->is_null() ? 0 : found->get<uint64_t>();
    }

    uint64_t Hidden() const
    {
        return Number("hidden_size");
    }

    /// ERNIE's key for the biases of all its projections.
    bool UsesBias() const
    {
        return m_config.value("use_bias", false);
    }

    static uint64_t Linear(uint64_t in, uint64_t out, bool bias = false)
    {
        return in * out + (bias ? out : 0);
    }

    /// RMSNorm, or LayerNorm with its bias.
    uint64_t Norm(uint64_t width) const
    {
        return Is("phimoe") ? 2 * width : width;
    }

    uint64_t GatedMlp(uint64_t width) const
    {
        const bool bias = UsesBias() || m_config.value("mlp_bias", false);
        return 2 * Linear(Hidden(), width, bias) + Linear(width, Hidden(), bias);
    }

    uint64_t Attention() const
    {
        const uint64_t heads = Number("num_attention_heads");
        if (m_config.contains("kv_lora_rank"))
        {
            const uint64_t nope = Number("qk_nope_head_dim");
            const uint64_t rope = Number("qk_rope_head_dim");
            const uint64_t value = Number("v_head_dim");
            const uint64_t rank = Number("q_lora_rank");
            const uint64_t c = Number("kv_lora_rank");
            uint64_t count = rank == 0 ? Linear(Hidden(), heads * (nope + rope)) // q_proj
                                       : Linear(Hidden(), rank) + rank +
                                             Linear(rank, heads * (nope + rope)); // q_a, norm, q_b
            count += Linear(Hidden(), c + rope) + c;        // kv_a_proj_with_mqa, kv_a_layernorm
            count += Linear(c, heads * (nope + value));     // kv_b_proj
            return count + Linear(heads * value, Hidden()); // o_proj
        }
        const uint64_t width =
            m_config.contains("head_dim") ? Number("head_dim") : Hidden() / heads;
        const uint64_t query = heads * width;
        const uint64_t keyValue = Number("num_key_value_heads") * width;
        const bool bias = m_config.value("attention_bias", false) || UsesBias();
        const bool inBias = bias || Is("qwen2");
        const bool outBias = bias && !Is("glm4_moe");
        uint64_t count = Linear(Hidden(), query, inBias) + 2 * Linear(Hidden(), keyValue, inBias) +
                         Linear(query, Hidden(), outBias);
        if (m_type.rfind("qwen3", 0) == 0 ||
            (Is("glm4_moe") && m_config.value("use_qk_norm", false)))
        {
            count += 2 * width; // q_norm, k_norm of a head
        }
        if (Is("olmoe") || Is("olmo2") || Is("minimax_m2"))
        {
            count += query + keyValue; // q_norm, k_norm of all heads
        }
        return count + (Is("gpt_oss") ? heads : 0); // sinks
    }

    /// The block of experts of a layer, with its router.
    uint64_t Experts(uint64_t experts, uint64_t width, uint64_t shared) const
    {
        if (Is("gpt_oss"))
        {
            // router with bias; gate_up_proj and down_proj, each with a bias.
            return Linear(Hidden(), experts, true) +
                   experts * (Linear(Hidden(), 2 * width, true) + Linear(width, Hidden(), true));
        }
        uint64_t count = Linear(Hidden(), experts) + experts * GatedMlp(width);
        count += shared > 0 ? GatedMlp(shared) : 0;
        return count + (Is("ernie4_5_moe") ? experts : 0); // moe_statics.e_score_correction_bias
    }

    uint64_t Mlp(uint64_t layer) const
    {
        if (Is("llama4_text"))
        {
            const uint64_t step = Number("interleave_moe_layer_step");
            const bool isMoe = Number("num_local_experts") > 0 && (layer + 1) % step == 0;
            return isMoe ? Experts(Number("num_local_experts"),
                                   Number("intermediate_size"),
                                   Number("intermediate_size"))
                         : GatedMlp(Number("intermediate_size_mlp"));
        }
        const uint64_t narrow = Number("moe_intermediate_size");
        if (m_config.contains("n_routed_experts"))
        {
            return layer < Number("first_k_dense_replace")
                       ? GatedMlp(Number("intermediate_size"))
                       : Experts(Number("n_routed_experts"),
                                 narrow,
                                 narrow * Number("n_shared_experts"));
        }
        if (Is("ernie4_5_moe"))
        {
            const bool isMoe = (layer + 1) % Number("moe_layer_interval") == 0 &&
                               layer >= Number("moe_layer_start_index");
            return !isMoe ? GatedMlp(Number("intermediate_size"))
                          : Experts(Number("moe_num_experts"),
                                    narrow,
                                    narrow * Number("moe_num_shared_experts"));
        }
        if (m_config.contains("num_experts"))
        {
            const uint64_t step = Is("olmoe") ? 1 : Number("decoder_sparse_step");
            if ((layer + 1) % step != 0)
            {
                return GatedMlp(Number("intermediate_size"));
            }
            return Experts(Number("num_experts"),
                           Is("olmoe") ? Number("intermediate_size") : narrow,
                           0);
        }
        if (m_config.contains("num_local_experts"))
        {
            return Experts(Number("num_local_experts"), Number("intermediate_size"), 0);
        }
        return GatedMlp(Number("intermediate_size"));
    }

    /// Two norms, wherever they stand, around attention and MLP.
    uint64_t DecoderLayer(uint64_t layer) const
    {
        return 2 * Norm(Hidden()) + Attention() + Mlp(layer);
    }

    const Json& m_config;
    std::string m_type;
};

} // namespace

uint64_t
TensorCount(const nlohmann::json& config)
{
    return Modules(config).CausalLm();
}

} // namespace scaleacross
