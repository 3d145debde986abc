// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/text-lines.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace scaleacross
{

std::vector<TextLine>
LinesOf(std::string_view text)
{
    std::vector<TextLine> lines;
    size_t number = 0;
    while (!text.empty())
    {
        number++;
        const size_t end = std::min(text.find('\n'), text.size());
        std::istringstream stream{std::string(text.substr(0, end))};
        text.remove_prefix(std::min(end + 1, text.size()));
        TextLine line{number, {}};
        for (std::string word; stream >> word && word.front() != '#';)
        {
            line.words.push_back(word);
        }
        if (!line.words.empty())
        {
            lines.push_back(std::move(line));
        }
    }
    return lines;
}

} // namespace scaleacross
