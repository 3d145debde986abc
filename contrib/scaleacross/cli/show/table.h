// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TABLE_H
#define SCALEACROSS_TABLE_H

#include <string>
#include <vector>

namespace scaleacross
{

/// A small table for people: columns as wide as their widest cell, two spaces apart.
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

    /// Title line and rows, each ended by a newline, without trailing spaces.
    std::string Text() const;

  private:
    std::vector<Column> m_columns;
    std::vector<std::vector<std::string>> m_rows;
};

/// "12.3 %" of a fraction.
std::string PercentText(double fraction);

/// "+12.3 %", "-1.0 %" of a fraction.
std::string SignedPercent(double fraction);

} // namespace scaleacross

#endif // SCALEACROSS_TABLE_H
