// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TABLE_H
#define SCALEACROSS_TABLE_H

#include <cstddef>
#include <string>
#include <vector>

namespace scaleacross
{

/// Columns of the terminal that standard output goes to; SIZE_MAX if it goes elsewhere.
size_t OutputWidth();

/// Columns of a table that explains, of cells as long as sentences: those of the terminal, else
/// 100, so that it can be read in a file or through a pager as well. Programs are given --json or
/// --csv.
size_t ReadingWidth();

/// A small table for people: columns as wide as their widest cell, two spaces apart. Where that is
/// wider than the output, titles and cells of left columns go over several lines, between words,
/// those of the widest column first; numbers and their units stay together.
class Table
{
  public:
    enum class Align
    {
        Left,
        Right
    };

    struct Column
    {
        std::string title;
        Align align{Align::Right};
    };

    explicit Table(std::vector<Column> columns);

    /// One cell per column.
    void Add(std::vector<std::string> cells);

    /// Titles and rows, each line ended by a newline, without trailing spaces. Wider than `width`
    /// only if single words and numbers are.
    std::string Text(size_t width = OutputWidth()) const;

  private:
    /// The words of a cell that stay together.
    std::vector<std::string> PartsOf(size_t row, size_t column) const;
    std::vector<size_t> WidthsWithin(size_t width) const;

    std::vector<Column> m_columns;
    std::vector<std::vector<std::string>> m_rows;
};

/// "12.3 %" of a fraction.
std::string PercentText(double fraction);

/// "+12.3 %", "-1.0 %" of a fraction.
std::string SignedPercent(double fraction);

} // namespace scaleacross

#endif // SCALEACROSS_TABLE_H
