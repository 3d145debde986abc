// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/plan-format.h"
#include "core/base/errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <iterator>

namespace scaleacross
{

const PlanFormat& ChakraFormat();
const PlanFormat& MegatronFormat();
const PlanFormat& NcclFormat();
const PlanFormat& TorchTitanFormat();
const PlanFormat& TorchTitanMainFormat();

const std::vector<const PlanFormat*>&
PlanFormats()
{
    static const std::vector<const PlanFormat*> formats = {
        &ChakraFormat(),
        &MegatronFormat(),
        &NcclFormat(),
        &TorchTitanFormat(),
        &TorchTitanMainFormat(),
    };
    return formats;
}

std::string
PlanFormatHelp()
{
    std::string help;
    for (const PlanFormat* format : PlanFormats())
    {
        help += (help.empty() ? "" : "; ") + format->word + ": " + format->help;
    }
    return help;
}

const PlanFormat&
PlanFormatOf(const std::string& word)
{
    const auto& formats = PlanFormats();
    const auto found = std::find_if(formats.begin(), formats.end(), [&](const PlanFormat* format) {
        return format->word == word;
    });
    if (found == formats.end())
    {
        std::vector<std::string> words;
        std::transform(formats.begin(),
                       formats.end(),
                       std::back_inserter(words),
                       [](const PlanFormat* format) { return format->word; });
        const std::string nearest = Nearest(word, words);
        throw ConfigError("--format",
                          Quoted(word) + " is none",
                          AnyOf(words),
                          nearest.empty() ? "" : "say " + nearest);
    }
    return **found;
}

} // namespace scaleacross
