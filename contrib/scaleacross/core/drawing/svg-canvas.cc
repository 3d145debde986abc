// SPDX-License-Identifier: GPL-2.0-only

#include "core/drawing/svg-canvas.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace scaleacross
{

namespace
{

constexpr double kGlyph = 6.4; // width of a character at the size of labels

std::string
Escaped(const std::string& text)
{
    std::string escaped;
    for (const char c : text)
    {
        escaped += c == '&'   ? "&amp;"
                   : c == '<' ? "&lt;"
                   : c == '>' ? "&gt;"
                   : c == '"' ? "&quot;"
                              : std::string(1, c);
    }
    return escaped;
}

/// A coordinate: a tenth of a pixel is fine enough.
std::string
At(double value)
{
    const auto tenths = std::llround(value * 10);
    const std::string text = std::to_string(tenths / 10);
    return tenths % 10 == 0 ? text : text + "." + std::to_string(std::abs(tenths % 10));
}

std::string
Rectangle(double x, double y, double width, double height, const char* style)
{
    return "<rect x=\"" + At(x) + "\" y=\"" + At(y) + "\" width=\"" + At(width) + "\" height=\"" +
           At(height) + "\" rx=\"5\" class=\"" + style + "\"/>\n";
}

} // namespace

double
SvgWidthOf(const std::vector<std::string>& lines)
{
    size_t longest = 0;
    for (const std::string& line : lines)
    {
        longest = std::max(longest, line.size());
    }
    return kGlyph * static_cast<double>(longest);
}

double
SvgHeightOf(const std::vector<std::string>& lines)
{
    return kSvgLine * static_cast<double>(lines.size());
}

void
SvgCanvas::Line(double x1, double y1, double x2, double y2, const char* style)
{
    m_lines += "<line x1=\"" + At(x1) + "\" y1=\"" + At(y1) + "\" x2=\"" + At(x2) + "\" y2=\"" +
               At(y2) + "\" class=\"" + style + "\"/>\n";
}

void
SvgCanvas::Bridge(double x1, double y1, double x2, double y2, double level)
{
    m_lines += "<path d=\"M " + At(x1) + " " + At(y1) + " V " + At(level) + " H " + At(x2) + " V " +
               At(y2) + "\" class=\"span\"/>\n";
}

void
SvgCanvas::Frame(double x, double y, double width, double height, const char* style)
{
    m_frames += Rectangle(x, y, width, height, style);
}

void
SvgCanvas::Box(double x, double y, double width, double height, const char* style)
{
    m_boxes += Rectangle(x, y, width, height, style);
}

void
SvgCanvas::Text(double x,
                double y,
                const std::vector<std::string>& lines,
                const char* style,
                const char* back)
{
    const double height = SvgHeightOf(lines);
    if (back != nullptr)
    {
        const double width = SvgWidthOf(lines) + 6;
        m_texts += Rectangle(x - width / 2, y - height / 2 - 1, width, height + 2, back);
    }
    for (size_t i = 0; i < lines.size(); i++)
    {
        m_texts += "<text x=\"" + At(x) + "\" y=\"" +
                   At(y - height / 2 + kSvgLine * static_cast<double>(i) + 11) + "\" class=\"" +
                   style + "\">" + Escaped(lines[i]) + "</text>\n";
    }
}

std::string
SvgCanvas::Svg(double width, double height) const
{
    const std::string size = At(width) + "\" height=\"" + At(height);
    return "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + size + "\" viewBox=\"0 0 " +
           At(width) + " " + At(height) +
           "\">\n"
           "<style>\n"
           "text { font-family: sans-serif; font-size: 11.5px; text-anchor: middle; }\n"
           ".title { text-anchor: start; font-size: 18px; font-weight: bold; }\n"
           ".site { font-size: 14px; font-weight: bold; }\n"
           ".key { text-anchor: start; }\n"
           ".heading { text-anchor: start; font-size: 14px; font-weight: bold; }\n"
           ".stripe { fill: #f1f3f5; stroke: none; }\n"
           ".page { fill: white; }\n"
           ".frame { fill: #f1f3f5; stroke: #adb5bd; }\n"
           ".behind { fill: #f1f3f5; }\n"
           ".nic { fill: #d3f9d8; stroke: #2b8a3e; }\n"
           ".leaf { fill: #d0ebff; stroke: #1864ab; }\n"
           ".spine { fill: #e5dbff; stroke: #5f3dc4; }\n"
           ".agg { fill: #ffe8cc; stroke: #d9480f; }\n"
           ".edge { stroke: #495057; stroke-width: 1.5; }\n"
           ".span { stroke: #c92a2a; stroke-width: 2; fill: none; }\n"
           // Who knows no media queries draws the light.
           "@media (prefers-color-scheme: dark) {\n"
           "text { fill: #e6e9ec; }\n"
           ".stripe { fill: #212830; }\n"
           ".page { fill: #181d23; }\n"
           ".frame { fill: #212830; stroke: #56606b; }\n"
           ".behind { fill: #212830; }\n"
           ".nic { fill: #173d22; stroke: #6fd08c; }\n"
           ".leaf { fill: #12344d; stroke: #7cbcf0; }\n"
           ".spine { fill: #2f2450; stroke: #b197fc; }\n"
           ".agg { fill: #4a2a10; stroke: #f0a55b; }\n"
           ".edge { stroke: #a7b0b9; }\n"
           ".span { stroke: #ff8787; }\n"
           "}\n"
           "</style>\n<rect class=\"page\" width=\"" +
           size + "\"/>\n" + m_frames + m_lines + m_boxes + m_texts + "</svg>\n";
}

} // namespace scaleacross
