// SPDX-License-Identifier: GPL-2.0-only

#include "core/drawing/fabric-picture.h"
#include "core/drawing/span-table.h"
#include "core/drawing/svg-canvas.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace scaleacross
{

namespace
{

// Everything in pixels.
constexpr double kPad = 14;
constexpr double kGap = 40; // between sites
constexpr double kMargin = 24;
/// Up to this many spans are labelled where they are, more by a letter.
constexpr size_t kMostLabelledSpans = 6;

/// Where the tiers, sites and spans of a picture go.
class Layout
{
  public:
    /// @param table what stands below the sites in place of their spans; may be null
    explicit Layout(const FabricPicture& picture, const SpanTable* table = nullptr)
        : m_picture(picture),
          m_table(table),
          m_boxesOf(picture.names.sites.size()),
          m_left(picture.names.sites.size()),
          m_width(picture.names.sites.size()),
          m_top(picture.names.sites.size()),
          m_middle(picture.boxes.size())
    {
        for (uint32_t i = 0; i < picture.boxes.size(); i++)
        {
            const PictureBox& box = picture.boxes[i];
            m_boxesOf[box.site][box.kind].push_back(i);
        }
    }

    std::string Draw()
    {
        NameSpans();
        PlaceColumns();
        StackSpans();
        PlaceRows();
        DrawSites();
        DrawEdges();
        DrawSpans();
        if (m_table != nullptr)
        {
            m_table->Draw(m_canvas, kMargin, m_bottom + kMargin);
        }
        return m_canvas.Svg(m_pageWidth, m_pageHeight);
    }

  private:
    /// What stands at each span: its label, or a letter that the legend explains.
    void NameSpans()
    {
        const auto& spans = m_picture.spans;
        std::map<std::vector<std::string>, std::string> letters;
        for (const PictureSpan& span : spans)
        {
            if (spans.size() <= kMostLabelledSpans)
            {
                m_spanLines.push_back(span.lines);
                continue;
            }
            const size_t number = letters.size();
            const auto [place, fresh] = letters.try_emplace(
                span.lines,
                std::string(number / 26, 'Z') + static_cast<char>('A' + number % 26));
            if (fresh)
            {
                std::string line = place->second + ": ";
                for (size_t i = 0; i < span.lines.size(); i++)
                {
                    line += (i == 0 ? "" : "; ") + span.lines[i];
                }
                m_legend.push_back(line);
            }
            m_spanLines.push_back({place->second});
        }
    }

    double BoxWidth(uint32_t box) const
    {
        return std::max(110.0, SvgWidthOf(m_picture.boxes[box].lines) + 2 * kPad);
    }

    double BoxHeight(uint32_t box) const
    {
        return SvgHeightOf(m_picture.boxes[box].lines) + kPad;
    }

    /// Sites side by side, as wide as their widest row or label; boxes in the middle.
    void PlaceColumns()
    {
        double x = kMargin;
        std::vector<double> widest(m_left.size(), 0);
        for (const PictureEdge& edge : m_picture.edges)
        {
            double& width = widest[m_picture.boxes[edge.low].site];
            width = std::max(width, SvgWidthOf(edge.lines) + 20);
        }
        for (size_t site = 0; site < m_left.size(); site++)
        {
            double width = std::max(widest[site], 1.3 * SvgWidthOf({m_picture.names.sites[site]}));
            for (const auto& [kind, boxes] : m_boxesOf[site])
            {
                double row = 0;
                for (const uint32_t box : boxes)
                {
                    row += BoxWidth(box) + kPad;
                }
                width = std::max(width, row);
            }
            m_left[site] = x;
            m_width[site] = width + 2 * kPad;
            for (const auto& [kind, boxes] : m_boxesOf[site])
            {
                double row = -kPad;
                for (const uint32_t box : boxes)
                {
                    row += BoxWidth(box) + kPad;
                }
                double at = x + (m_width[site] - row) / 2;
                for (const uint32_t box : boxes)
                {
                    m_middle[box].first = at + BoxWidth(box) / 2;
                    at += BoxWidth(box) + kPad;
                }
            }
            x += m_width[site] + kGap;
        }
        m_pageWidth = std::max({x - kGap + kMargin,
                                SvgWidthOf(m_legend) + 2 * kMargin,
                                m_table == nullptr ? 0 : m_table->Width() + 2 * kMargin,
                                1.8 * SvgWidthOf({m_picture.names.title}) + 2 * kMargin,
                                SvgWidthOf({m_picture.summary}) + 2 * kMargin});
    }

    /**
     * Where each span leaves the frames of its sites, and at which level it crosses: short ones
     * below, and none through another of its level.
     */
    void StackSpans()
    {
        const auto& spans = m_picture.spans;
        // Ends at one site in the order of the sites they lead to, so that few cross.
        std::vector<std::vector<std::pair<size_t, size_t>>> ends(m_left.size()); // other, span
        m_ends.resize(spans.size());
        for (size_t i = 0; i < spans.size(); i++)
        {
            ends[spans[i].a].emplace_back(spans[i].b, i);
            ends[spans[i].b].emplace_back(spans[i].a, i);
        }
        for (size_t site = 0; site < ends.size(); site++)
        {
            // Those to the left first, near ones before far ones; then those to the right, far
            // ones first. Far ones cross higher up, so at one site none crosses another.
            const auto key = [&](const std::pair<size_t, size_t>& end) {
                return std::make_pair(end.first > site,
                                      static_cast<double>(site) - static_cast<double>(end.first));
            };
            std::sort(ends[site].begin(), ends[site].end(), [&](const auto& x, const auto& y) {
                return key(x) < key(y);
            });
            for (size_t i = 0; i < ends[site].size(); i++)
            {
                const double share =
                    (static_cast<double>(i) + 1) / (static_cast<double>(ends[site].size()) + 1);
                const size_t span = ends[site][i].second;
                const double x = m_left[site] + share * m_width[site];
                (spans[span].a == site ? m_ends[span].first : m_ends[span].second) = x;
            }
        }
        std::vector<size_t> order(spans.size());
        for (size_t i = 0; i < order.size(); i++)
        {
            order[i] = i;
        }
        const auto reach = [&](size_t i) {
            const double half = SvgWidthOf(m_spanLines[i]) / 2 + 4;
            const auto [left, right] = std::minmax(m_ends[i].first, m_ends[i].second);
            const double middle = (left + right) / 2;
            return std::make_pair(std::min(left, middle - half), std::max(right, middle + half));
        };
        std::stable_sort(order.begin(), order.end(), [&](size_t x, size_t y) {
            return std::abs(m_ends[x].second - m_ends[x].first) <
                   std::abs(m_ends[y].second - m_ends[y].first);
        });
        std::vector<std::vector<std::pair<double, double>>> levels;
        m_level.resize(spans.size());
        for (const size_t i : order)
        {
            const auto mine = reach(i);
            size_t level = 0;
            for (; level < levels.size(); level++)
            {
                const bool free =
                    std::none_of(levels[level].begin(),
                                 levels[level].end(),
                                 [&](const auto& other) {
                                     return mine.first < other.second && other.first < mine.second;
                                 });
                if (free)
                {
                    break;
                }
            }
            levels.resize(std::max(levels.size(), level + 1));
            levels[level].push_back(mine);
            m_level[i] = level;
        }
        for (const auto& lines : m_spanLines)
        {
            m_levelHeight = std::max(m_levelHeight, SvgHeightOf(lines) + 12);
        }
        m_levels = levels.size();
    }

    /// Tiers as rows over all sites, the highest on top; between them room for all labels.
    void PlaceRows()
    {
        m_titleHeight = kMargin + 44 + SvgHeightOf(m_legend);
        double y = m_titleHeight + m_levelHeight * static_cast<double>(m_levels) + 48;
        double bottom = y;
        for (const VertexKind kind :
             {VertexKind::Aggregation, VertexKind::Spine, VertexKind::Leaf, VertexKind::Nic})
        {
            double height = 0;
            double room = 0;
            for (size_t site = 0; site < m_boxesOf.size(); site++)
            {
                const auto row = m_boxesOf[site].find(kind);
                if (row == m_boxesOf[site].end())
                {
                    continue;
                }
                for (const uint32_t box : row->second)
                {
                    height = std::max(height, BoxHeight(box));
                }
                double labels = 0;
                for (const PictureEdge& edge : m_picture.edges)
                {
                    const PictureBox& high = m_picture.boxes[edge.high];
                    labels +=
                        high.site == site && high.kind == kind ? SvgHeightOf(edge.lines) + 8 : 0;
                }
                room = std::max(room, labels);
            }
            if (height == 0)
            {
                continue;
            }
            for (size_t site = 0; site < m_boxesOf.size(); site++)
            {
                const auto row = m_boxesOf[site].find(kind);
                if (row == m_boxesOf[site].end())
                {
                    continue;
                }
                m_top[site] = m_top[site] == 0 ? y - kPad - 20 : m_top[site];
                for (const uint32_t box : row->second)
                {
                    m_middle[box].second = y + height / 2;
                }
            }
            bottom = y + height;
            y = bottom + room + 2 * kPad;
            m_rowBottom[kind] = bottom;
        }
        m_bottom = bottom + kPad;
        m_pageHeight = m_bottom + kMargin + (m_table == nullptr ? 0 : m_table->Height() + kMargin);
    }

    void DrawSites()
    {
        // On the left, where who sees a part of a wide drawing begins.
        m_canvas.Text(kMargin, kMargin + 8, {m_picture.names.title}, "title");
        m_canvas.Text(kMargin, kMargin + 32, {m_picture.summary}, "key");
        for (size_t i = 0; i < m_legend.size(); i++)
        {
            m_canvas.Text(kMargin,
                          kMargin + 56 + kSvgLine * static_cast<double>(i),
                          {m_legend[i]},
                          "key");
        }
        for (size_t site = 0; site < m_left.size(); site++)
        {
            if (m_boxesOf[site].empty())
            {
                continue;
            }
            double bottom = 0;
            for (const auto& [kind, boxes] : m_boxesOf[site])
            {
                bottom = std::max(bottom, m_rowBottom[kind] + kPad);
            }
            m_canvas.Frame(m_left[site], m_top[site], m_width[site], bottom - m_top[site], "frame");
            m_canvas.Text(m_left[site] + m_width[site] / 2,
                          m_top[site] + 14,
                          {m_picture.names.sites[site]},
                          "site");
        }
        for (uint32_t i = 0; i < m_picture.boxes.size(); i++)
        {
            const PictureBox& box = m_picture.boxes[i];
            const char* const styles[] = {"nic", "leaf", "spine", "agg"};
            const char* style = styles[static_cast<size_t>(box.kind)];
            const double x = m_middle[i].first - BoxWidth(i) / 2;
            const double y = m_middle[i].second - BoxHeight(i) / 2;
            for (double shift = box.count > 1 ? 6 : 0; shift >= 0; shift -= 3) // cards behind
            {
                m_canvas.Box(x + shift, y - shift, BoxWidth(i), BoxHeight(i), style);
            }
            m_canvas.Text(m_middle[i].first, m_middle[i].second, box.lines, "box");
        }
    }

    /// Straight lines; labels one below the other in the gap under the upper tier.
    void DrawEdges()
    {
        std::map<std::pair<uint32_t, VertexKind>, double> used;
        for (const PictureEdge& edge : m_picture.edges)
        {
            const auto& [x1, y1] = m_middle[edge.low];
            const auto& [x2, y2] = m_middle[edge.high];
            m_canvas.Line(x1, y1, x2, y2, "edge");
            const PictureBox& high = m_picture.boxes[edge.high];
            double& below = used[{high.site, high.kind}];
            const double y = m_rowBottom[high.kind] + kPad + below + SvgHeightOf(edge.lines) / 2;
            below += SvgHeightOf(edge.lines) + 8;
            const double share = y1 == y2 ? 0.5 : std::clamp((y - y2) / (y1 - y2), 0.0, 1.0);
            const double half = SvgWidthOf(edge.lines) / 2 + kPad;
            const double left = m_left[high.site] + half;
            const double right = m_left[high.site] + m_width[high.site] - half;
            const double x = std::clamp(x2 + share * (x1 - x2), left, std::max(left, right));
            m_canvas.Text(x, y, edge.lines, "label", "behind");
        }
    }

    void DrawSpans()
    {
        for (size_t i = 0; i < m_picture.spans.size(); i++)
        {
            const PictureSpan& span = m_picture.spans[i];
            const double level =
                m_titleHeight + m_levelHeight * static_cast<double>(m_levels - m_level[i]);
            m_canvas.Bridge(m_ends[i].first, m_top[span.a], m_ends[i].second, m_top[span.b], level);
            m_canvas.Text((m_ends[i].first + m_ends[i].second) / 2,
                          level - (m_legend.empty() ? SvgHeightOf(m_spanLines[i]) / 2 + 3 : 0),
                          m_spanLines[i],
                          "label",
                          "page");
        }
    }

    const FabricPicture& m_picture;
    const SpanTable* m_table;
    std::vector<std::map<VertexKind, std::vector<uint32_t>>> m_boxesOf; //!< by site
    std::vector<double> m_left;                                         //!< of the sites' frames
    std::vector<double> m_width;
    std::vector<double> m_top;
    std::vector<std::pair<double, double>> m_middle; //!< of the boxes
    std::map<VertexKind, double> m_rowBottom;
    std::vector<std::vector<std::string>> m_spanLines;
    std::vector<std::string> m_legend;
    std::vector<std::pair<double, double>> m_ends; //!< of the spans: x at a and at b
    std::vector<size_t> m_level;
    size_t m_levels{0};
    double m_levelHeight{0};
    double m_titleHeight{0};
    double m_bottom{0};
    double m_pageWidth{0};
    double m_pageHeight{0};
    SvgCanvas m_canvas;
};

} // namespace

std::string
SvgText(const FabricPicture& picture)
{
    if (picture.spans.size() <= kMostDrawnSpans && picture.names.sites.size() <= kMostDrawnSites)
    {
        return Layout(picture).Draw();
    }
    const FabricPicture few = WithoutLikeness(picture);
    const SpanTable table(picture);
    return Layout(few, &table).Draw();
}

} // namespace scaleacross
