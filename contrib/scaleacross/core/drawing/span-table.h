// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SPAN_TABLE_H
#define SCALEACROSS_SPAN_TABLE_H

#include "core/drawing/fabric-picture.h"
#include "core/drawing/svg-canvas.h"

#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The spans of a picture as a table: rows are sites by number and name, columns the same by number,
 * and a cell has the distance of the span between the two. What else spans say stands once below
 * the table, by a letter behind the distance where they do not all say the same.
 */
class SpanTable
{
  public:
    explicit SpanTable(const FabricPicture& picture);

    double Width() const;
    double Height() const;

    void Draw(SvgCanvas& canvas, double left, double top) const;

  private:
    struct Cell
    {
        size_t row;
        size_t column;
        std::string text;
    };

    std::vector<std::string> m_rows; //!< "3 east"
    std::vector<Cell> m_cells;
    std::vector<std::string> m_legend;
    double m_head{0}; //!< width of the names
    double m_cell{0};
};

/// The picture without spans, where of sites that are alike only the first is there, under a name
/// that says how many others it stands for.
FabricPicture WithoutLikeness(const FabricPicture& picture);

} // namespace scaleacross

#endif // SCALEACROSS_SPAN_TABLE_H
