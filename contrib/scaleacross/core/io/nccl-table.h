// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NCCL_TABLE_H
#define SCALEACROSS_NCCL_TABLE_H

#include "core/base/errors.h"
#include "core/base/units.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// The numbers that a rounded one may have been, both included.
struct RoundedRange
{
    double least{0};
    double most{0};
};

/// A line of the table.
struct MeasuredSize
{
    Bytes bytes;
    uint64_t count{0}; //!< elements
    std::string type;
    double us{0};      //!< out of place
    std::string where; //!< "log.txt:12"
    /// Bus bandwidth over size / time, which tells the number of ranks. None: algorithm bandwidth
    /// is not size / time.
    std::optional<RoundedRange> busFactor;
    /// Why results in place are wrong, if they are.
    std::optional<ConfigError> wrongInPlace;
};

/**
 * The table that a program of nccl-tests prints: a head with the names of its columns, and a line
 * for each size.
 *
 * Releases differ in their columns:
 *
 *     1.0           bytes N type [op] [root]    time algbw busbw res     time in ms; a broadcast
 *                                                                        has no columns in place
 *     2.0 to 2.11   size count type [redop] [root] time algbw busbw error    [ ] if the operation
 *                                                                            has it; alltoall has
 *                                                                            a blank redop
 *     2.13 to 2.13.3  size count type redop root time algbw busbw #wrong     redop may be blank
 *     2.13.4 on       the same                                               "none" for blank
 *     2.17.6 on       ... timestamp                       with -S; two words in a line
 *     2.19.2 on       ... #wrong i_min i_max i_p99 i_cv%  with per-iteration times
 *
 * All have the columns from time on once out of place and once in place, rccl-tests with -O 0 only
 * in place. "error" and "res" are the largest relative difference from the right result, of
 * which each further rank may add some, "#wrong" counts elements.
 */
class NcclTable
{
  public:
    /// The index of the word that a head begins with. None: these words are no head.
    static std::optional<size_t> FindHead(const std::vector<std::string>& words);

    /// The index of the word that the line of a size begins with, by its first three: two whole
    /// numbers and a type. None: these words are no such line, or one that ends before its type.
    static std::optional<size_t> FindRow(const std::vector<std::string>& words);

    /**
     * Takes the words of a head, from FindHead() on; `where` is its place.
     *
     * Throws ConfigError if a column is missing.
     */
    NcclTable(std::vector<std::string> columns, const std::string& where);

    const std::string& Where() const
    {
        return m_where;
    }

    /**
     * Reads the words of a line, from its size on, of a run of `ranks`; 0: not known. None: the
     * size is 0, as nobody had an element.
     *
     * Throws ConfigError (where = "`where` column") for a line that ends early, a word that is none
     * of its column, and results out of place that came out wrong.
     */
    std::optional<MeasuredSize> Read(std::vector<std::string> words,
                                     const std::string& where,
                                     size_t ranks) const;

  private:
    /// Throws ConfigError for a line that has not every column, or a word that is none of its
    /// column.
    void CheckWords(const std::vector<std::string>& words, const std::string& where) const;
    std::optional<ConfigError> Wrong(const std::vector<std::string>& words,
                                     size_t column,
                                     const std::string& where,
                                     size_t ranks) const;
    size_t Position(const std::string& column, size_t from = 0) const;

    std::vector<std::string> m_columns; //!< by the names of new releases
    std::string m_where;
    double m_usPerTime{1}; //!< the unit of its times
};

} // namespace scaleacross

#endif // SCALEACROSS_NCCL_TABLE_H
