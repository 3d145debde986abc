// SPDX-License-Identifier: GPL-2.0-only

#include "table-text.h"

#include <charconv>

namespace scaleacross
{

namespace
{

std::string
Trim(const std::string& text)
{
    const size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? ""
                                      : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

} // namespace

bool
TakeNumber(std::string& text, uint32_t most, uint32_t& number)
{
    const char* end = text.data() + text.size();
    const auto [next, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc() || number > most)
    {
        return false;
    }
    text.erase(0, static_cast<size_t>(next - text.data()));
    return true;
}

std::string
TakeUntil(std::string& text, char separator)
{
    const size_t at = text.find(separator);
    std::string part = Trim(text.substr(0, at));
    text.erase(0, at == std::string::npos ? at : at + 1);
    return part;
}

} // namespace scaleacross
