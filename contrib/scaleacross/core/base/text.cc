// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <locale>
#include <optional>
#include <sstream>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

/// "a, b" and the last with its own separator.
std::string
Listed(const std::vector<std::string>& parts, const char* last)
{
    std::string text;
    for (size_t i = 0; i < parts.size(); i++)
    {
        text += i == 0 ? "" : i + 1 == parts.size() ? last : ", ";
        text += parts[i];
    }
    return text;
}

bool
IsDigit(char c)
{
    return c >= '0' && c <= '9';
}

/// The value of a short number: with digits that make a whole number below 2^53, and a power of ten
/// up to 10^22, both are doubles without error, so that one multiplication or division rounds as
/// the number itself does. Studies are full of them, and a stream takes ten times as long.
std::optional<double>
ExactValue(const std::string& mantissa, int64_t exponent)
{
    constexpr std::array<double, 23> powers = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                               1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                               1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    constexpr uint64_t most = uint64_t{1} << 53;
    uint64_t whole = 0;
    bool point = false;
    for (const char c : mantissa)
    {
        if (c == '.')
        {
            point = true;
        }
        else if (IsDigit(c))
        {
            whole = whole * 10 + static_cast<uint64_t>(c - '0');
            exponent -= point ? 1 : 0;
        }
        if (whole >= most)
        {
            return std::nullopt;
        }
    }
    if (std::abs(exponent) >= static_cast<int64_t>(powers.size()))
    {
        return std::nullopt;
    }
    const double power = powers[static_cast<size_t>(std::abs(exponent))];
    const auto digits = static_cast<double>(whole);
    const double value = exponent < 0 ? digits / power : digits * power;
    return mantissa.front() == '-' ? -value : value;
}

std::string
Sentence(const std::string& problem, const std::string& allowed, const std::string& remedy)
{
    std::string text = problem;
    text += allowed.empty() ? "" : "; allowed: " + allowed;
    text += remedy.empty() ? "" : "; " + remedy;
    return text;
}

size_t
EditDistance(const std::string& a, const std::string& b)
{
    // One row of the Levenshtein table at a time.
    std::vector<size_t> row(b.size() + 1);
    for (size_t j = 0; j <= b.size(); j++)
    {
        row[j] = j;
    }
    for (size_t i = 1; i <= a.size(); i++)
    {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= b.size(); j++)
        {
            const size_t change = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, change});
        }
    }
    return row[b.size()];
}

/// Lower case, '-' for '_' and ' ': what people confuse should not count as distance.
std::string
Folded(const std::string& word)
{
    std::string folded;
    for (const char c : word)
    {
        folded += (c == '_' || c == ' ')
                      ? '-'
                      : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    return folded;
}

} // namespace

ValueError::ValueError(std::string problem, std::string allowed, std::string remedy)
    : std::invalid_argument(Sentence(problem, allowed, remedy)),
      m_problem(std::move(problem)),
      m_allowed(std::move(allowed)),
      m_remedy(std::move(remedy))
{
}

Decimal
ScanDecimal(std::string_view text)
{
    size_t at = 0;
    if (at < text.size() && (text[at] == '+' || text[at] == '-'))
    {
        at++;
    }
    size_t digits = 0;
    for (bool point = false; at < text.size(); at++)
    {
        if (IsDigit(text[at]))
        {
            digits++;
        }
        else if (text[at] == '.' && !point)
        {
            point = true;
        }
        else
        {
            break;
        }
    }
    if (digits == 0)
    {
        return {};
    }
    Decimal decimal;
    decimal.mantissa = text.substr(0, at);
    // An exponent belongs to the number only where digits follow it: "5em" is 5 and a unit.
    if (at < text.size() && (text[at] == 'e' || text[at] == 'E'))
    {
        size_t end = at + 1;
        const bool negative = end < text.size() && text[end] == '-';
        if (end < text.size() && (text[end] == '-' || text[end] == '+'))
        {
            end++;
        }
        if (end < text.size() && IsDigit(text[end]))
        {
            for (; end < text.size() && IsDigit(text[end]); end++)
            {
                // Beyond this every double is 0 or infinite anyway.
                decimal.exponent =
                    std::min<int64_t>(decimal.exponent * 10 + (text[end] - '0'), 99999);
            }
            decimal.exponent = negative ? -decimal.exponent : decimal.exponent;
            at = end;
        }
    }
    decimal.length = at;
    return decimal;
}

double
DecimalValue(const Decimal& decimal, int shift)
{
    if (const auto exact = ExactValue(decimal.mantissa, decimal.exponent + shift))
    {
        return *exact;
    }
    std::istringstream stream(decimal.mantissa + "e" + std::to_string(decimal.exponent + shift));
    stream.imbue(std::locale::classic());
    double value = 0;
    stream >> value;
    if (stream.fail() || !std::isfinite(value))
    {
        throw std::out_of_range("beyond the largest double");
    }
    return value;
}

uint64_t
ParseWhole(std::string_view text, uint64_t least, uint64_t most)
{
    constexpr uint64_t limit = std::numeric_limits<uint64_t>::max();
    const auto wrong = [&](const std::string& problem, const std::string& remedy) {
        return ValueError(Quoted(text) + problem,
                          "a whole number " + (most == limit ? "from " + std::to_string(least)
                                                             : std::to_string(least) + " to " +
                                                                   std::to_string(most)),
                          remedy);
    };
    const size_t first = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
    if (first == text.size() || !std::all_of(text.begin() + first, text.end(), IsDigit))
    {
        throw wrong(" is not a whole number", "");
    }
    if (text[0] == '-')
    {
        throw wrong(" is negative", "");
    }
    if (first == 1)
    {
        throw wrong(" has a sign", "leave the sign away");
    }
    if (text.size() > 1 && text[0] == '0')
    {
        throw wrong(" begins with a zero, which some readers take as octal",
                    "write the decimal number without leading zeros");
    }
    uint64_t value = 0;
    for (const char c : text)
    {
        const auto digit = static_cast<uint64_t>(c - '0');
        if (value > (limit - digit) / 10)
        {
            throw wrong(" is out of range", "");
        }
        value = value * 10 + digit;
    }
    if (value < least || value > most)
    {
        throw wrong(" is out of range", "");
    }
    return value;
}

bool
NumberRange::Has(double value) const
{
    return (leastIsOpen ? value > least : value >= least) &&
           (mostIsOpen ? value < most : value <= most);
}

std::string
NumberRange::Text() const
{
    if (!leastIsOpen && !mostIsOpen)
    {
        return "a number from " + NumberText(least) + " to " + NumberText(most);
    }
    return std::string("a number ") + (leastIsOpen ? "above " : "from ") + NumberText(least) +
           (mostIsOpen ? (leastIsOpen ? " and below " : " to below ") : " and up to ") +
           NumberText(most);
}

double
ParseNumber(std::string_view text, const NumberRange& range)
{
    const auto wrong = [&](const std::string& problem) {
        return ValueError(Quoted(text) + problem, range.Text(), "");
    };
    const Decimal decimal = ScanDecimal(text);
    if (decimal.length == 0 || decimal.length != text.size())
    {
        throw wrong(" is not a number");
    }
    double value = 0;
    try
    {
        value = DecimalValue(decimal, 0);
    }
    catch (const std::out_of_range&)
    {
        throw wrong(" is out of range");
    }
    if (!range.Has(value))
    {
        throw wrong(value < 0 ? " is negative" : " is out of range");
    }
    return value;
}

double
ParseNumber(std::string_view text, double least, double most)
{
    return ParseNumber(text, NumberRange{least, most});
}

double
ParseFraction(const std::string& text, double least, double below)
{
    const Decimal decimal = ScanDecimal(text);
    const std::string rest = text.substr(decimal.length);
    const bool percent = rest == "%" || rest == " %";
    const std::string allowed = "from " + NumberText(100 * least) + "% to below " +
                                NumberText(100 * below) + "%, also as a fraction";
    if (decimal.length == 0 || !(percent || rest.empty()))
    {
        throw ValueError(Quoted(text) + " is neither a fraction nor a percentage",
                         allowed,
                         "write it as 2% or 0.02");
    }
    // "2" may be meant as 2%; what is beyond 100% may not.
    const auto refuse = [&](double asPercentage) {
        const bool meant = !percent && asPercentage >= least && asPercentage < below;
        throw ValueError(Quoted(text) + " is out of range",
                         allowed,
                         meant ? "did you mean " + text + "%?" : "");
    };
    double value = 0;
    try
    {
        value = DecimalValue(decimal, percent ? -2 : 0);
    }
    catch (const std::out_of_range&)
    {
        refuse(below);
    }
    if (value < least || value >= below)
    {
        refuse(value / 100);
    }
    return value;
}

bool
ParseBool(std::string_view text)
{
    if (text == "true")
    {
        return true;
    }
    if (text == "false")
    {
        return false;
    }
    const std::string folded = Folded(std::string(text));
    const bool yes = folded == "yes" || folded == "on" || folded == "true" || folded == "1";
    const bool no = folded == "no" || folded == "off" || folded == "false" || folded == "0";
    throw ValueError(Quoted(text) + " is not a truth value",
                     "true or false",
                     yes  ? "write true"
                     : no ? "write false"
                          : "");
}

std::string
NumberText(double value)
{
    if (!std::isfinite(value))
    {
        return std::isnan(value) ? "nan" : value < 0 ? "-inf" : "inf";
    }
    // Below 2^53 whole numbers are exact; %g would write 30 as 3e+01.
    if (std::fabs(value) < 9e15 && value == std::trunc(value))
    {
        return std::to_string(static_cast<int64_t>(value));
    }
    std::ostringstream out;
    out.imbue(std::locale::classic());
    for (int digits = 1;; digits++)
    {
        out.str("");
        out.precision(digits);
        out << value;
        const std::string text = out.str();
        if (digits == std::numeric_limits<double>::max_digits10 ||
            DecimalValue(ScanDecimal(text), 0) == value)
        {
            return text;
        }
    }
}

std::string
Trimmed(std::string_view text)
{
    constexpr const char* blanks = " \t\r\n";
    const size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos)
    {
        return "";
    }
    return std::string(text.substr(begin, text.find_last_not_of(blanks) - begin + 1));
}

bool
IsDigits(std::string_view text)
{
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

std::string_view
WithoutByteOrderMark(std::string_view text)
{
    constexpr std::string_view mark = "\xef\xbb\xbf";
    return text.substr(0, mark.size()) == mark ? text.substr(mark.size()) : text;
}

std::vector<std::string>
ListParts(std::string_view text)
{
    std::vector<std::string> parts;
    for (bool more = !text.empty(); more;)
    {
        const size_t comma = std::min(text.find(','), text.size());
        parts.push_back(Trimmed(text.substr(0, comma)));
        text.remove_prefix(std::min(comma + 1, text.size()));
        more = !Trimmed(text).empty();
    }
    return parts;
}

std::string
AllOf(const std::vector<std::string>& parts)
{
    return Listed(parts, " and ");
}

std::string
AnyOf(const std::vector<std::string>& words)
{
    return Listed(words, " or ");
}

std::string
Nearest(const std::string& word, const std::vector<std::string>& candidates)
{
    // Words far longer than any key are not typing errors, and the table would only cost time.
    constexpr size_t longest = 64;
    if (word.empty() || word.size() > longest)
    {
        return "";
    }
    const std::string folded = Folded(word);
    std::string nearest;
    auto least = std::tuple(std::numeric_limits<size_t>::max(), true, size_t{0});
    for (const auto& candidate : candidates)
    {
        if (candidate.size() > longest)
        {
            continue;
        }
        const std::string other = Folded(candidate);
        const size_t distance = EditDistance(folded, other);
        // Some letters and no more are a word that was not typed to its end: one error, however
        // many letters are missing.
        const bool begun = folded.size() >= 3 && other.rfind(folded, 0) == 0;
        const size_t errors = begun ? std::min<size_t>(distance, 1) : distance;
        // More than about a third changed is another word, not a misspelt one.
        const size_t near = std::max<size_t>(1, (std::max(word.size(), candidate.size()) + 1) / 3);
        const auto rank = std::tuple(errors, !begun, distance);
        if (errors <= near && rank < least)
        {
            least = rank;
            nearest = candidate;
        }
    }
    return nearest;
}

std::string
Quoted(std::string_view text)
{
    constexpr size_t longest = 60;
    static const char* const hex = "0123456789abcdef";
    std::string quoted = "'";
    for (const char c : text.substr(0, longest))
    {
        const auto byte = static_cast<unsigned char>(c);
        if (byte < 0x20 || byte == 0x7f)
        {
            quoted += "\\x";
            quoted += hex[byte >> 4];
            quoted += hex[byte & 15];
        }
        else
        {
            quoted += c;
        }
    }
    return quoted + (text.size() > longest ? "...'" : "'");
}

} // namespace scaleacross
