// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MODEL_CONFIG_H
#define SCALEACROSS_MODEL_CONFIG_H

#include "core/spec/model-spec.h"

#include <string>

namespace scaleacross
{

/**
 * Reads the dimensions of a model from a Hugging Face `config.json`.
 *
 * Understood by their model_type: llama, llama4 and llama4_text (the text part), mixtral, qwen3,
 * qwen3_moe. Any other is refused by name, because fields of the same name mean other things there.
 * Left out on purpose: biases, per-head norms, quantisation, and attention that is cut into chunks
 * or windows (Llama 4's is at most 8,192 tokens wide, so that longer sequences cost less than what
 * is computed here).
 *
 * @param path of the file, or of the folder that holds config.json
 * Throws ConfigError (where = "path key").
 */
ModelSpec ReadModelConfig(const std::string& path);

/// As ReadModelConfig(), from text; `name` stands in messages and becomes ModelSpec::name.
ModelSpec ParseModelConfig(const std::string& text, const std::string& name);

} // namespace scaleacross

#endif // SCALEACROSS_MODEL_CONFIG_H
