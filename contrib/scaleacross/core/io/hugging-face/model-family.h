// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MODEL_FAMILY_H
#define SCALEACROSS_MODEL_FAMILY_H

#include "core/io/hugging-face/config-object.h"
#include "core/spec/model-spec.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/// A `model_type` of Hugging Face transformers, and how its configuration class is read.
struct ModelFamily
{
    std::string type;        //!< model_type
    std::string configClass; //!< as transformers calls it
    std::string defaults;    //!< JSON of the class's defaults of the keys that `read` asks for
    /// Second names of keys: {alias, key}, the class's attribute_map.
    std::vector<std::pair<std::string, std::string>> aliases;
    /// Keys of the class, or of published files of the family, that change neither the shape nor
    /// attention nor the number of parameters.
    std::vector<std::string> neutral;
    /// Makes the model of a file. Throws ConfigError for what is not modelled.
    ModelSpec (*read)(const ConfigObject& config);
};

/// Returns all families that are read, by their types.
std::vector<ModelFamily> ModelFamilies();

// The parts of that list, each in a file of its own.
std::vector<ModelFamily> DenseFamilies();  //!< without experts
std::vector<ModelFamily> MoeFamilies();    //!< with experts, and an attention of heads
std::vector<ModelFamily> LatentFamilies(); //!< with latent attention
std::vector<ModelFamily> Llama4Families(); //!< with chunked attention

/// Keys of every configuration class that change neither the shape nor attention nor the number of
/// parameters: those of PreTrainedConfig, of positions, of dropout, initialisation and losses, and
/// what older releases wrote of text generation. Read in transformers 5, main branch of 2026.
const std::vector<std::string>& NeutralKeys();

/// Returns what of a family's layers is not modelled ("state space layers (Mamba)"); nothing for a
/// type that is not known either.
std::optional<std::string> MissingOf(const std::string& type);

/// A `model_type` of models that also see or hear, which keep their language model in
/// `text_config`.
struct OuterFamily
{
    std::string type;
    std::string textType; //!< model_type of the text_config where that does not say it
    /// Whether the embedding is tied where neither object says it and the outer class has a default
    /// of its own that counts.
    std::optional<bool> tie;
};

/// Returns the outer family of that type, or nothing.
const OuterFamily* FindOuterFamily(const std::string& type);

/// Returns a flag for each layer: whether `holds(layer)`.
template <class Predicate>
std::vector<bool>
LayersWhere(const ModelSpec& model, Predicate holds)
{
    std::vector<bool> flags(model.layers, false);
    for (uint32_t layer = 0; layer < model.layers; layer++)
    {
        flags[layer] = holds(layer);
    }
    return flags;
}

/// Reads what all families have in common: layers, width, heads, vocabulary and the tied embedding.
ModelSpec ReadDimensions(const ConfigObject& config);

/// Reads the dimensions and the width of a head. One that is left out is the width of the hidden
/// state over the heads, which has to be whole.
ModelSpec ReadCommon(const ConfigObject& config);

/// Sets which layers are MoE layers; without any the model is dense. Throws ConfigError for a
/// pattern that ModelSpec cannot say (where = key, the one that decides).
void SetMoeLayers(const ConfigObject& config,
                  const std::string& key,
                  const std::vector<bool>& isMoe,
                  ModelSpec& model);

/// Sets which layers have a window of `window` tokens. Throws ConfigError (where = key) if
/// ModelSpec cannot say it. Without any all layers see all.
void SetWindowedLayers(const ConfigObject& config,
                       const std::string& key,
                       const std::vector<bool>& isWindowed,
                       uint32_t window,
                       ModelSpec& model);

/// Returns which layers `layer_types` windows; nothing where the key is left out. Throws
/// ConfigError for a list of another length than there are layers, or with other words than
/// full_attention and `windowed`.
std::optional<std::vector<bool>> WindowedByLayerTypes(const ConfigObject& config,
                                                      const ModelSpec& model,
                                                      const std::string& windowed);

/// Throws ConfigError where the file has `layer_types` that say something else than the model:
/// classes without that key do not look at it.
void CheckLayerTypes(const ConfigObject& config, const ModelSpec& model);

/// Reads `sliding_window` where it is a window of all layers; null or left out: none.
void ReadWindowOfAll(const ConfigObject& config, ModelSpec& model);

/// Reads `n_group` groups of experts, of which a token visits `topk_group`, where that limits it.
void ReadGroups(const ConfigObject& config, ModelSpec& model);

/// Reads the width of the dense layers' MLPs from `key`, where there are such layers.
void ReadDenseWidth(const ConfigObject& config, const std::string& key, ModelSpec& model);

} // namespace scaleacross

#endif // SCALEACROSS_MODEL_FAMILY_H
