// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_TENSOR_COUNT_H
#define SCALEACROSS_TESTS_TENSOR_COUNT_H

#include <cstdint>
#include <nlohmann/json.hpp>

namespace scaleacross
{

/**
 * Counts the parameters of a language model as its modelling code in transformers makes them,
 * module by module from the keys of its configuration: an oracle that knows nothing of ModelSpec
 * and its formulas. A tied output head counts once, buffers do not count.
 *
 * @param config the object of the language model, with all keys that the modules need
 */
uint64_t TensorCount(const nlohmann::json& config);

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_TENSOR_COUNT_H
