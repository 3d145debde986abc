// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WORD_H
#define SCALEACROSS_WORD_H

#include "core/base/errors.h"

#include <algorithm>
#include <string>
#include <vector>

namespace scaleacross
{

/// What other software, or who guesses, calls a word, or one with something beside it.
struct OtherName
{
    std::string name;
    std::string here; //!< what a study says in its place
};

/// What every row of a vocabulary says, besides what is special to it.
struct WordFacts
{
    std::string word;  //!< as a study writes it
    std::string help;  //!< one line for `scaleacross list`
    bool usual{false}; //!< what holds where a study says nothing: one row of a vocabulary
    std::vector<OtherName> others{}; //!< refused, and told what to say

    const std::string& Name() const
    {
        return word;
    }

    const std::string& Help() const
    {
        return help;
    }

    bool IsUsual() const
    {
        return usual;
    }
};

/**
 * A word of a vocabulary as a value: what a plan holds. Two are equal if they are the same word;
 * `->` leads to its row, all that is known of it.
 *
 * A vocabulary is a list of rows in one source file, its registry, which specialises Rows() and
 * instantiates this class (word-registry.h). A row has
 * a Name(), Help() and IsUsual(). What the rest of the program needs
 * to know of a word it asks of the row; nothing but the registry, and what implements the word,
 * names one to find out. So a new word is a new row, and rebuilds one file.
 */
template <class Row>
class Word
{
  public:
    /// The usual one.
    Word();

    /// By name, so that code reads as a study does: plan.sharding = "fsdp". Throws ValueError
    /// with all words for one that is not known, with what to say for a name of other software, or
    /// the nearest.
    Word(const char* name);
    Word(const std::string& name);

    /// `row` lives as long as this value: one of Rows(), or one of a test.
    Word(const Row& row)
        : m_row(&row)
    {
    }

    /// All words, in the order in which they are listed.
    static const std::vector<const Row*>& Rows();

    /// The first of which this is true. Domain: there is one.
    template <class Is>
    static Word First(Is is)
    {
        const auto& rows = Rows();
        const auto found =
            std::find_if(rows.begin(), rows.end(), [&is](const Row* row) { return is(*row); });
        SCALEACROSS_INVARIANT(found != rows.end(), "no word is so");
        return **found;
    }

    /// Their names.
    static const std::vector<std::string>& Names();

    const std::string& Name() const;

    const Row* operator->() const
    {
        return m_row;
    }

    const Row& operator*() const
    {
        return *m_row;
    }

    friend bool operator==(Word a, Word b)
    {
        return a.m_row == b.m_row;
    }

    friend bool operator!=(Word a, Word b)
    {
        return !(a == b);
    }

  private:
    const Row* m_row;
};

template <class Row>
std::string
ToString(Word<Row> word)
{
    return word.Name();
}

} // namespace scaleacross

#endif // SCALEACROSS_WORD_H
