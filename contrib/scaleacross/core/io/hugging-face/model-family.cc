// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/hugging-face/model-family.h"

#include "core/base/text.h"
#include "core/io/hugging-face/layer-pattern.h"

#include <algorithm>
#include <map>

namespace scaleacross
{

namespace
{

/// More than any model has, and what ModelSpec allows.
constexpr uint32_t g_mostLayers = 4096;

/// "full_attention", or what the model's windowed layers are called.
std::string
LayerTypeOf(const ModelSpec& model, uint32_t layer)
{
    if (!model.IsWindowedLayer(layer))
    {
        return "full_attention";
    }
    return model.chunkedWindow ? "chunked_attention" : "sliding_attention";
}

} // namespace

std::vector<ModelFamily>
ModelFamilies()
{
    std::vector<ModelFamily> families;
    for (const auto& part : {DenseFamilies(), MoeFamilies(), LatentFamilies(), Llama4Families()})
    {
        families.insert(families.end(), part.begin(), part.end());
    }
    std::sort(families.begin(), families.end(), [](const ModelFamily& a, const ModelFamily& b) {
        return a.type < b.type;
    });
    return families;
}

const std::vector<std::string>&
NeutralKeys()
{
    static const std::vector<std::string> keys = {
        // What the file is, and who wrote it.
        "_attn_implementation_autoset",
        "_commit_hash",
        "_name_or_path",
        "architectures",
        "attn_implementation",
        "auto_map",
        "model_type",
        "name_or_path",
        "tokenizer_class",
        "transformers_version",
        // How weights are stored: what training computes in is workload.precision.
        "compression_config",
        "dtype",
        "quantization_config",
        "torch_dtype",
        // Tokens.
        "bos_token_id",
        "cls_token_id",
        "decoder_start_token_id",
        "eos_token_id",
        "forced_bos_token_id",
        "forced_eos_token_id",
        "mask_token_id",
        "pad_token_id",
        "sep_token_id",
        // Positions, none of which is learned.
        "default_theta",
        "max_position_embeddings",
        "original_max_position_embeddings",
        "partial_rotary_factor",
        "rope_interleave",
        "rope_parameters",
        "rope_scaling",
        "rope_theta",
        "rotary_dim",
        "rotary_pct",
        // Activations, norms, initialisation, dropout.
        "attention_dropout",
        "attn_pdrop",
        "embd_pdrop",
        "hidden_act",
        "hidden_activation",
        "hidden_dropout",
        "initializer_range",
        "layer_norm_eps",
        "norm_eps",
        "resid_pdrop",
        "rms_norm_eps",
        // Routing and its losses, and scales of what is computed anyway.
        "attention_multiplier",
        "aux_loss_alpha",
        "embedding_multiplier",
        "logits_scaling",
        "norm_topk_prob",
        "output_router_logits",
        "residual_multiplier",
        "routed_scaling_factor",
        "router_aux_loss_coef",
        "router_jitter_noise",
        "scoring_func",
        "seq_aux",
        "topk_method",
        // How it is run elsewhere.
        "chunk_size_feed_forward",
        "ep_size",
        "gradient_checkpointing",
        "output_attentions",
        "output_hidden_states",
        "pretraining_tp",
        "return_dict",
        "tf_legacy_loss",
        "torchscript",
        "use_bfloat16",
        "use_cache",
        "use_return_dict",
        // Other tasks.
        "classifier_dropout",
        "finetuning_task",
        "id2label",
        "label2id",
        "num_labels",
        "prefix",
        "problem_type",
        "task_specific_params",
        // Text generation.
        "bad_words_ids",
        "begin_suppress_tokens",
        "cache_implementation",
        "diversity_penalty",
        "do_sample",
        "early_stopping",
        "encoder_no_repeat_ngram_size",
        "exponential_decay_length_penalty",
        "generation_config",
        "is_decoder",
        "length_penalty",
        "max_length",
        "max_new_tokens",
        "min_length",
        "min_p",
        "no_repeat_ngram_size",
        "num_beam_groups",
        "num_beams",
        "num_return_sequences",
        "output_scores",
        "remove_invalid_values",
        "repetition_penalty",
        "return_dict_in_generate",
        "suppress_tokens",
        "temperature",
        "tie_encoder_decoder",
        "top_k",
        "top_p",
        "typical_p",
    };
    return keys;
}

std::optional<std::string>
MissingOf(const std::string& type)
{
    static const std::map<std::string, std::vector<std::string>> types = {
        {"state space layers (Mamba)",
         {"bamba",
          "falcon_h1",
          "falcon_mamba",
          "hymba",
          "jamba",
          "mamba",
          "mamba2",
          "nemotron_h",
          "phi4flash",
          "plamo2",
          "zamba",
          "zamba2"}},
        {"layers that may be state space layers (Mamba)", {"granitemoehybrid"}},
        {"recurrent layers", {"recurrent_gemma", "rwkv", "rwkv7", "xlstm"}},
        {"linear attention",
         {"kimi_linear",
          "minimax",
          "minimax_m1",
          "minimax_text_01",
          "olmo_hybrid",
          "qwen3_5",
          "qwen3_5_moe",
          "qwen3_5_moe_text",
          "qwen3_5_text",
          "qwen3_next"}},
        {"sparse attention with an indexer",
         {"deepseek_v32",
          "deepseek_v4",
          "glm_moe_dsa",
          "minimax_m3",
          "minimax_m3_vl",
          "minimax_m3_vl_text"}},
        {"layers of convolutions", {"lfm2", "lfm2_moe", "zaya", "zaya1_vl"}},
        {"norms behind attention and MLP besides those before them",
         {"gemma2", "gemma3", "gemma3_text", "gemma3n", "gemma3n_text", "glm4", "grok-1"}},
        {"scores that are capped, with windows in every second layer", {"vaultgemma"}},
        {"attention to what follows as well as to what precedes", {"paligemma"}},
        {"attention and MLP side by side in a layer",
         {"codegen", "cohere", "cohere2", "falcon", "gpt_neox", "gptj", "phi"}},
        {"norms with biases around an MLP of two matrices", {"persimmon", "starcoder2"}},
        {"norms with biases, and in some files attention and MLP side by side", {"stablelm"}},
        {"learned positions", {"biogpt", "gpt2", "gpt_bigcode", "gpt_neo", "openai-gpt", "opt"}},
        {"positions that are added to the embedding", {"xglm"}},
        {"positions by ALiBi and a norm behind the embedding", {"bloom"}},
        {"layers of different widths", {"deci", "nemotron-nas", "openelm"}},
        {"a gate of the shared expert", {"qwen2_moe"}},
        {"two attentions in a layer and experts that compute nothing", {"longcat_flash"}},
        {"a dense MLP beside the experts of a layer", {"arctic"}},
        {"experts of attention's projections", {"jetmoe"}},
        {"layers of attention to pictures", {"mllama", "mllama_text_model"}},
        {"an encoder", {"bart",      "bert",    "blenderbot", "deberta-v2", "distilbert",
                        "electra",   "longt5",  "m2m_100",    "mbart",      "modernbert",
                        "moonshine", "mt5",     "pegasus",    "roberta",    "switch_transformers",
                        "t5",        "t5gemma", "umt5",       "whisper",    "xlm-roberta"}},
    };
    for (const auto& [missing, names] : types)
    {
        if (std::find(names.begin(), names.end(), type) != names.end())
        {
            return missing;
        }
    }
    return std::nullopt;
}

const OuterFamily*
FindOuterFamily(const std::string& type)
{
    static const std::vector<OuterFamily> families = {
        {"kimi_k25", "kimi_k2", {}},
        {"llama4", "llama4_text", {}},
        {"mistral3", "mistral", {}},
        {"qwen3_vl", "qwen3_vl_text", {}},
        // Its text's class would tie, and is never asked: the outer model owns the head.
        {"qwen3_vl_moe", "qwen3_vl_moe_text", false},
    };
    const auto found =
        std::find_if(families.begin(), families.end(), [&type](const OuterFamily& family) {
            return family.type == type;
        });
    return found == families.end() ? nullptr : &*found;
}

ModelSpec
ReadDimensions(const ConfigObject& config)
{
    ModelSpec model;
    model.layers = config.Count<uint32_t>("num_hidden_layers");
    if (model.layers == 0 || model.layers > g_mostLayers)
    {
        config.Fail("num_hidden_layers",
                    std::to_string(model.layers) + " layers make no model here",
                    "1 to " + std::to_string(g_mostLayers),
                    "");
    }
    model.hidden = config.Count<uint32_t>("hidden_size");
    model.heads = config.Count<uint32_t>("num_attention_heads");
    if (model.heads == 0)
    {
        config.Fail("num_attention_heads", "0: the model has no heads", "1 or more", "");
    }
    model.kvHeads = config.MaybeCount<uint32_t>("num_key_value_heads").value_or(model.heads);
    if (model.kvHeads == 0 || model.heads % model.kvHeads != 0)
    {
        config.Fail("num_key_value_heads",
                    std::to_string(model.kvHeads) + config.DefaultNote("num_key_value_heads") +
                        " does not divide the " + std::to_string(model.heads) +
                        " num_attention_heads",
                    "a divisor of num_attention_heads",
                    "give the two as the model's publisher does");
    }
    model.vocabulary = config.Count<uint64_t>("vocab_size");
    model.tiedEmbedding = config.Flag("tie_word_embeddings");
    return model;
}

ModelSpec
ReadCommon(const ConfigObject& config)
{
    ModelSpec model = ReadDimensions(config);
    if (const auto width = config.MaybeCount<uint32_t>("head_dim"); width)
    {
        model.headDim = *width;
        return model;
    }
    if (model.hidden % model.heads != 0)
    {
        // Some classes of transformers refuse this, others round the width of a head down.
        config.Fail("hidden_size",
                    std::to_string(model.hidden) + " is no multiple of " +
                        std::to_string(model.heads) +
                        " num_attention_heads, and head_dim is left out",
                    "a multiple, or a head_dim",
                    "give head_dim as the model's publisher does");
    }
    model.headDim = model.hidden / model.heads;
    return model;
}

void
SetMoeLayers(const ConfigObject& config,
             const std::string& key,
             const std::vector<bool>& isMoe,
             ModelSpec& model)
{
    if (std::find(isMoe.begin(), isMoe.end(), true) == isMoe.end())
    {
        model.experts = 0;
        model.topK = 0;
        model.expertFfn = 0;
        model.sharedFfn = 0;
        return;
    }
    if (model.experts == 0)
    {
        config.Fail(key,
                    "it makes some layers MoE layers, but there are no experts",
                    "no MoE layers, or experts",
                    "give the number of experts");
    }
    const auto pattern = MoePatternOf(isMoe);
    if (!pattern)
    {
        config.Fail(key,
                    "the MoE layers are not every n-th layer behind some dense first ones",
                    "layers n-1, 2n-1, ... from 0, but for the first ones",
                    "no other pattern is modelled");
    }
    model.leadingDense = pattern->leadingDense;
    model.moeEvery = pattern->every;
}

void
SetWindowedLayers(const ConfigObject& config,
                  const std::string& key,
                  const std::vector<bool>& isWindowed,
                  uint32_t window,
                  ModelSpec& model)
{
    if (std::find(isWindowed.begin(), isWindowed.end(), true) == isWindowed.end())
    {
        model.window = 0;
        model.chunkedWindow = false;
        return;
    }
    const auto every = FullAttentionEvery(isWindowed);
    if (!every)
    {
        config.Fail(key,
                    "the layers without a window are neither none nor every n-th",
                    "a window for all layers, for none, or for all but the layers n-1, 2n-1, ... "
                    "from 0",
                    "no other pattern is modelled");
    }
    if (window == 0)
    {
        config.Fail(key,
                    "it gives layers a window, but how wide that is stands nowhere",
                    "no windowed layers, or a width",
                    "give the width of the window");
    }
    model.window = window;
    model.fullAttentionEvery = *every;
}

std::optional<std::vector<bool>>
WindowedByLayerTypes(const ConfigObject& config,
                     const ModelSpec& model,
                     const std::string& windowed)
{
    const auto types = config.Texts("layer_types");
    if (!types)
    {
        return std::nullopt;
    }
    if (types->size() != model.layers)
    {
        config.Fail("layer_types",
                    std::to_string(types->size()) + " words for " + std::to_string(model.layers) +
                        " layers",
                    "a word for each layer",
                    "");
    }
    std::vector<bool> flags;
    for (const std::string& type : *types)
    {
        if (type != "full_attention" && type != windowed)
        {
            config.Fail("layer_types",
                        Quoted(type) + " is an attention that is not modelled here",
                        "full_attention or " + windowed,
                        "");
        }
        flags.push_back(type == windowed);
    }
    return flags;
}

void
CheckLayerTypes(const ConfigObject& config, const ModelSpec& model)
{
    const auto types = config.Texts("layer_types");
    for (uint32_t layer = 0; types && layer < model.layers; layer++)
    {
        const std::string expected = LayerTypeOf(model, layer);
        if (layer >= types->size() || (*types)[layer] != expected)
        {
            config.Fail("layer_types",
                        layer >= types->size()
                            ? "it ends before layer " + std::to_string(layer)
                            : "layer " + std::to_string(layer) + " is " + Quoted((*types)[layer]) +
                                  ", but by the other keys it is " + expected,
                        "what the other keys say of each layer: models of this type do not look "
                        "at it",
                        "leave it out");
        }
    }
}

void
ReadWindowOfAll(const ConfigObject& config, ModelSpec& model)
{
    model.window = config.MaybeCount<uint32_t>("sliding_window").value_or(0);
    CheckLayerTypes(config, model);
}

void
ReadGroups(const ConfigObject& config, ModelSpec& model)
{
    const auto groups = config.MaybeCount<uint32_t>("n_group").value_or(1);
    const auto visited = config.MaybeCount<uint32_t>("topk_group").value_or(groups);
    if (visited > groups)
    {
        config.Fail("topk_group",
                    std::to_string(visited) + config.DefaultNote("topk_group") +
                        ", but n_group is " + std::to_string(groups) +
                        config.DefaultNote("n_group"),
                    "at most n_group",
                    "give both, or neither");
    }
    if (visited < groups)
    {
        model.expertGroups = groups;
        model.topKGroups = visited;
    }
}

void
ReadDenseWidth(const ConfigObject& config, const std::string& key, ModelSpec& model)
{
    const bool isDense = model.MoeLayers() < model.layers;
    model.denseFfn = isDense ? config.Count<uint64_t>(key) : 0;
    if (!isDense)
    {
        config.Value(key); // which there is no layer for
    }
}

} // namespace scaleacross
