// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WORD_REGISTRY_H
#define SCALEACROSS_WORD_REGISTRY_H

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/base/word.h"

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

/**
 * What a registry includes: Word's definitions. It writes
 *
 *     template <> const std::vector<const CopyFacts*>& Copy::Rows() {
 *         static const auto rows = PointersTo<CopyFacts>({{{"zero-copy", "..."}, ...}, ...});
 *         return rows;
 *     }
 *     template class Word<CopyFacts>;
 */
namespace scaleacross
{

/// Pointers to rows that exist from now on.
template <class Row>
std::vector<const Row*>
PointersTo(std::vector<Row> rows)
{
    static const std::vector<Row> kept = std::move(rows);
    std::vector<const Row*> pointers;
    for (const Row& row : kept)
    {
        pointers.push_back(&row);
    }
    return pointers;
}

/// Throws ValueError for what others call a word.
template <class Row>
void
RefuseOtherName(const std::string& name)
{
    if constexpr (std::is_base_of_v<WordFacts, Row>)
    {
        for (const Row* row : Word<Row>::Rows())
        {
            for (const OtherName& other : row->others)
            {
                if (other.name == name)
                {
                    throw ValueError(Quoted(name) + " is said otherwise here",
                                     AnyOf(Word<Row>::Names()),
                                     "say " + other.here);
                }
            }
        }
    }
}

template <class Row>
Word<Row>::Word()
    : Word(First([](const Row& row) { return row.IsUsual(); }))
{
}

template <class Row>
Word<Row>::Word(const char* name)
    : Word(std::string(name))
{
}

template <class Row>
Word<Row>::Word(const std::string& name)
{
    const auto& rows = Rows();
    const auto found = std::find_if(rows.begin(), rows.end(), [&name](const Row* row) {
        return row->Name() == name;
    });
    if (found == rows.end())
    {
        RefuseOtherName<Row>(name);
        const std::string nearest = Nearest(name, Names());
        throw ValueError(Quoted(name) + " is not known",
                         AnyOf(Names()),
                         nearest.empty() ? "" : "did you mean " + nearest + "?");
    }
    m_row = *found;
}

template <class Row>
const std::vector<std::string>&
Word<Row>::Names()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const Row* row : Rows())
        {
            all.push_back(row->Name());
        }
        return all;
    }();
    return names;
}

template <class Row>
const std::string&
Word<Row>::Name() const
{
    return m_row->Name();
}

} // namespace scaleacross

#endif // SCALEACROSS_WORD_REGISTRY_H
