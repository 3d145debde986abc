// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SVG_CANVAS_H
#define SCALEACROSS_SVG_CANVAS_H

#include <string>
#include <vector>

namespace scaleacross
{

/// Height of a line of text. Everything is in pixels.
constexpr double kSvgLine = 15;

/// What lines of text take at the size of labels.
double SvgWidthOf(const std::vector<std::string>& lines);
double SvgHeightOf(const std::vector<std::string>& lines);

/// A drawing in SVG 1.1 whose frames lie below its lines, those below its boxes, and text on top.
class SvgCanvas
{
  public:
    void Line(double x1, double y1, double x2, double y2, const char* style);

    /// Up from one point to a height, across, and down to another.
    void Bridge(double x1, double y1, double x2, double y2, double level);

    void Frame(double x, double y, double width, double height, const char* style);

    void Box(double x, double y, double width, double height, const char* style);

    /// Lines of text around a point; with something behind it where lines may pass.
    void Text(double x,
              double y,
              const std::vector<std::string>& lines,
              const char* style,
              const char* back = nullptr);

    /// The whole of it.
    std::string Svg(double width, double height) const;

  private:
    std::string m_frames;
    std::string m_lines;
    std::string m_boxes;
    std::string m_texts;
};

} // namespace scaleacross

#endif // SCALEACROSS_SVG_CANVAS_H
