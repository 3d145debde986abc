// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MODEL_CONFIG_H
#define SCALEACROSS_MODEL_CONFIG_H

#include "core/spec/model-spec.h"

#include <string>

namespace scaleacross
{

/**
 * Reads the dimensions of a language model from a Hugging Face `config.json`, as the configuration
 * class of its `model_type` in transformers reads it: keys that are left out have that class's
 * defaults. Of a model that also sees or hears the `text_config` is read.
 *
 * Every key that changes the shape, attention or the number of parameters is read, or refused by
 * its name. Keys of the file that the class does not have are named in ModelSpec::warnings. What a
 * file says of stored weights (quantization_config, dtype) changes nothing: training computes in
 * workload.precision.
 *
 * @param path of the file, or of the folder that holds config.json
 * Throws ConfigError (where = "path key") also for an architecture with layers that are not
 * modelled, which it names.
 */
ModelSpec ReadModelConfig(const std::string& path);

/// As ReadModelConfig(), from text; `name` stands in messages and becomes ModelSpec::name.
ModelSpec ParseModelConfig(const std::string& text, const std::string& name);

} // namespace scaleacross

#endif // SCALEACROSS_MODEL_CONFIG_H
