// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TEXT_H
#define SCALEACROSS_TEXT_H

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

/**
 * Reading and writing single values as text: the same on every machine, whatever its locale.
 *
 * Numbers are decimal. A leading zero ("010") is refused, since some readers take it as octal, and
 * so is everything that only some languages call a number or a truth value (0x10, 1_000, yes, nan).
 */
namespace scaleacross
{

/// A text that is not the value it should be, in the parts that a ConfigError is made of.
class ValueError : public std::invalid_argument
{
  public:
    ValueError(std::string problem, std::string allowed, std::string remedy);

    const std::string& Problem() const
    {
        return m_problem;
    }

    const std::string& Allowed() const
    {
        return m_allowed;
    }

    const std::string& Remedy() const
    {
        return m_remedy;
    }

  private:
    std::string m_problem;
    std::string m_allowed;
    std::string m_remedy;
};

/// The decimal number that a text begins with.
struct Decimal
{
    std::string mantissa; //!< "-12.5": sign, digits, at most one point
    int64_t exponent{0};  //!< of ten
    size_t length{0};     //!< characters read; 0 if the text does not begin with a number
};

Decimal ScanDecimal(std::string_view text);

/**
 * The double nearest to mantissa x 10^(exponent + shift), rounded once: equal values written with
 * different units are equal to the bit. Throws std::out_of_range beyond the largest double.
 */
double DecimalValue(const Decimal& decimal, int shift);

/// A whole number in [least, most], digits only. Throws ValueError.
uint64_t ParseWhole(std::string_view text, uint64_t least, uint64_t most);

/// The numbers from one to another; an end that is open is not among them.
struct NumberRange
{
    double least{0};
    double most{0};
    bool leastIsOpen{false};
    bool mostIsOpen{false};

    /// Those between the two, neither of which is among them.
    static NumberRange Between(double above, double below)
    {
        return {above, below, true, true};
    }

    bool Has(double value) const;

    /// What messages call it: "a number from 0 to 1", "a number above 0 and below 1".
    std::string Text() const;
};

/// A finite number of the range. Throws ValueError.
double ParseNumber(std::string_view text, const NumberRange& range);

/// A finite number in [least, most]. Throws ValueError.
double ParseNumber(std::string_view text, double least, double most);

/// "2%", "2 %" or "0.02" as 0.02. Throws ValueError for what is none, or not in [least, below).
double ParseFraction(const std::string& text, double least, double below);

/// "true" or "false". Throws ValueError.
bool ParseBool(std::string_view text);

/// The shortest decimal text that reads back as exactly this double; "nan" and "inf", which nothing
/// reads, for what is none.
std::string NumberText(double value);

/// Without the blanks, tabs and line ends around it.
std::string Trimmed(std::string_view text);

/// Whether it is one or more of 0 to 9 and nothing else.
bool IsDigits(std::string_view text);

/// Without the byte order mark that some programs begin UTF-8 with.
std::string_view WithoutByteOrderMark(std::string_view text);

/// The parts between commas, Trimmed(): "a, b" is a and b. An empty part is a part, but not what is
/// behind a comma at the end; an empty text has none.
std::vector<std::string> ListParts(std::string_view text);

/// "a, b or c".
std::string AnyOf(const std::vector<std::string>& words);

/// "a", "a and b", "a, b and c".
std::string AllOf(const std::vector<std::string>& parts);

/// The candidate with the least edit distance to `word`, where to leave out the rest of a word
/// counts as one edit; of equally near ones those that begin with `word`, and of these the
/// shortest. Empty if none is near enough to suggest.
std::string Nearest(const std::string& word, const std::vector<std::string>& candidates);

/// `text` in quotes for a message: control characters as \\xNN, cut after 60 characters.
std::string Quoted(std::string_view text);

} // namespace scaleacross

#endif // SCALEACROSS_TEXT_H
