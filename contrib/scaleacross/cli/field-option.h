// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FIELD_OPTION_H
#define SCALEACROSS_FIELD_OPTION_H

#include "core/spec/plan-fields.h"

#include <string>

namespace scaleacross
{

/// The plan field that an option stands for. Domain: keys of PlanFields().
const PlanField& FieldOf(const std::string& key);

/// That option: "--control" for "network.control".
std::string OptionOf(const std::string& key);

/// Gives a field of `plan` the value of its option; throws ConfigError at the option.
void SetField(Plan& plan, const std::string& key, const std::string& word);

} // namespace scaleacross

#endif // SCALEACROSS_FIELD_OPTION_H
