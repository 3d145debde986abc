// SPDX-License-Identifier: GPL-2.0-only

#include "flow-hash.h"

#include "core/base/errors.h"

#include <algorithm>
#include <sstream>

namespace scaleacross
{

namespace
{

struct NamedField
{
    const char* name;
    HashField field;
};

constexpr NamedField kFields[] = {{"source", kHashSource},
                                  {"destination", kHashDestination},
                                  {"udp-source-port", kHashUdpSourcePort},
                                  {"destination-qp", kHashQueuePair}};

} // namespace

uint8_t
ParseHashFields(const std::string& names)
{
    uint32_t fields = 0;
    std::istringstream list(names);
    std::string name;
    while (std::getline(list, name, ','))
    {
        const auto* found =
            std::find_if(std::begin(kFields), std::end(kFields), [&](const NamedField& field) {
                return name == field.name;
            });
        if (found == std::end(kFields))
        {
            fields = 0;
            break;
        }
        fields |= found->field;
    }
    if (fields == 0)
    {
        throw ConfigError("FabricSwitch::HashFields",
                          names.empty() ? "no fields" : "\"" + name + "\" is not known",
                          "some of " + NamesOfHashFields(UINT8_MAX) + ", separated by commas",
                          "");
    }
    return static_cast<uint8_t>(fields);
}

std::string
NamesOfHashFields(uint8_t fields)
{
    std::string names;
    for (const NamedField& field : kFields)
    {
        if ((fields & field.field) != 0)
        {
            names += (names.empty() ? "" : ",") + std::string(field.name);
        }
    }
    return names;
}

} // namespace scaleacross
