// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/link-kind.h"

namespace scaleacross
{

std::string
LinkKindOf(const ResourceReport& link)
{
    const auto endsWith = [&link](const std::string& end) {
        return link.name.size() >= end.size() &&
               link.name.compare(link.name.size() - end.size(), end.size(), end) == 0;
    };
    for (const char* kind : {"scale-up", "NIC", "leaf", "zone"})
    {
        for (const char* direction : {" out", " in", " up", " down", " link"})
        {
            if (endsWith(std::string(" ") + kind + direction))
            {
                return kind;
            }
        }
    }
    return link.shared ? "span" : link.name;
}

std::string
LinkFamilyOf(const ResourceReport& link)
{
    // The names of ports begin as NetworkModel::ClassName() has it.
    const std::string stage = "stage ";
    if (link.shared || link.name.compare(0, stage.size(), stage) != 0)
    {
        return link.name;
    }
    const size_t end = link.name.find(' ', stage.size());
    const std::string rest = end == std::string::npos ? link.name : link.name.substr(end + 1);
    return rest.compare(0, 3, "in ") == 0 ? rest.substr(3) : rest;
}

} // namespace scaleacross
