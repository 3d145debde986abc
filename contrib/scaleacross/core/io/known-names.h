// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_KNOWN_NAMES_H
#define SCALEACROSS_KNOWN_NAMES_H

#include <string>

namespace scaleacross
{

/**
 * Whether `name`, as a repository of models has it, names the model that is known by `known`.
 *
 * The organisation before the last / counts no more than upper case and whether parts of a name are
 * separated by - or _. Behind the known name may stand words for what was made of the model without
 * changing its shape: how it was tuned or is stored, a date, a version of the weights ("v0.1").
 * Other words make another model: a DeepSeek-V3.2 is no DeepSeek-V3.
 *
 * Worked case: "mistralai/Mixtral-8x7B-Instruct-v0.1" is known by "mixtral-8x7b".
 */
bool IsNameOf(const std::string& name, const std::string& known);

} // namespace scaleacross

#endif // SCALEACROSS_KNOWN_NAMES_H
