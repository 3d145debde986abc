// SPDX-License-Identifier: GPL-2.0-only

#include "cli/field-option.h"

#include "core/base/errors.h"

namespace scaleacross
{

const PlanField&
FieldOf(const std::string& key)
{
    const PlanField* field = FindPlanField(key);
    SCALEACROSS_INVARIANT(field != nullptr, key + " is no plan field");
    return *field;
}

std::string
OptionOf(const std::string& key)
{
    return "--" + key.substr(key.find('.') + 1);
}

void
SetField(Plan& plan, const std::string& key, const std::string& word)
{
    try
    {
        FieldOf(key).set(plan, word);
    }
    catch (const ConfigError& error)
    {
        throw error.At(OptionOf(key));
    }
}

} // namespace scaleacross
