// SPDX-License-Identifier: GPL-2.0-only

#include "core/drawing/span-table.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace scaleacross
{

namespace
{

constexpr double kRow = 20;
constexpr double kPad = 8;
constexpr double kCaption = 28;

/// "A", "B", ..., "Z", "ZA".
std::string
LetterOf(size_t number)
{
    return std::string(number / 26, 'Z') + static_cast<char>('A' + number % 26);
}

/// What is drawn of a site: boxes by kind and edges by the places of their ends among these.
using Likeness = std::pair<std::vector<std::tuple<VertexKind, uint32_t, std::vector<std::string>>>,
                           std::vector<std::tuple<uint32_t, uint32_t, std::vector<std::string>>>>;

std::vector<Likeness>
LikenessOf(const FabricPicture& picture)
{
    std::vector<Likeness> sites(picture.names.sites.size());
    std::vector<uint32_t> place;
    for (const PictureBox& box : picture.boxes)
    {
        auto& boxes = sites[box.site].first;
        place.push_back(static_cast<uint32_t>(boxes.size()));
        boxes.emplace_back(box.kind, box.count, box.lines);
    }
    for (const PictureEdge& edge : picture.edges)
    {
        sites[picture.boxes[edge.low].site].second.emplace_back(place[edge.low],
                                                                place[edge.high],
                                                                edge.lines);
    }
    return sites;
}

} // namespace

SpanTable::SpanTable(const FabricPicture& picture)
{
    for (size_t site = 0; site < picture.names.sites.size(); site++)
    {
        m_rows.push_back(std::to_string(site + 1) + " " + picture.names.sites[site]);
    }
    std::map<std::vector<std::string>, size_t> letters;
    for (const PictureSpan& span : picture.spans)
    {
        letters.try_emplace(span.rest, letters.size());
    }
    for (const PictureSpan& span : picture.spans)
    {
        const size_t number = letters.at(span.rest);
        const std::string text = span.distance + (letters.size() > 1 ? " " + LetterOf(number) : "");
        m_cells.push_back({span.a, span.b, text});
        m_cells.push_back({span.b, span.a, text});
    }
    m_legend.resize(letters.size());
    for (const auto& [rest, number] : letters)
    {
        std::string line = letters.size() > 1 ? LetterOf(number) + ": " : "All spans: ";
        for (size_t i = 0; i < rest.size(); i++)
        {
            line += (i == 0 ? "" : "; ") + rest[i];
        }
        m_legend[number] = line;
    }
    m_head = SvgWidthOf(m_rows) + kPad;
    std::vector<std::string> texts{std::to_string(m_rows.size())};
    for (const Cell& cell : m_cells)
    {
        texts.push_back(cell.text);
    }
    m_cell = SvgWidthOf(texts) + kPad;
}

double
SpanTable::Width() const
{
    return std::max(m_head + m_cell * static_cast<double>(m_rows.size()), SvgWidthOf(m_legend));
}

double
SpanTable::Height() const
{
    return kCaption + kRow * static_cast<double>(m_rows.size() + 1) + kPad + SvgHeightOf(m_legend);
}

void
SpanTable::Draw(SvgCanvas& canvas, double left, double top) const
{
    const auto middle = [](double begin, double step, size_t number) {
        return begin + step * (static_cast<double>(number) + 0.5);
    };
    canvas.Text(left, top + kRow / 2, {"Spans between sites"}, "heading");
    const double head = top + kCaption;
    const double body = head + kRow;
    for (size_t i = 0; i < m_rows.size(); i++)
    {
        canvas.Text(left, middle(body, kRow, i), {m_rows[i]}, "key");
        canvas.Text(middle(left + m_head, m_cell, i),
                    head + kRow / 2,
                    {std::to_string(i + 1)},
                    "label");
        if (i % 2 == 0)
        {
            canvas.Frame(left - 4,
                         body + kRow * static_cast<double>(i),
                         m_head + m_cell * static_cast<double>(m_rows.size()) + 8,
                         kRow,
                         "stripe");
        }
    }
    for (const Cell& cell : m_cells)
    {
        canvas.Text(middle(left + m_head, m_cell, cell.column),
                    middle(body, kRow, cell.row),
                    {cell.text},
                    "label");
    }
    const double legend = body + kRow * static_cast<double>(m_rows.size()) + kPad;
    for (size_t i = 0; i < m_legend.size(); i++)
    {
        canvas.Text(left, middle(legend, kSvgLine, i), {m_legend[i]}, "key");
    }
}

FabricPicture
WithoutLikeness(const FabricPicture& picture)
{
    const auto sites = LikenessOf(picture);
    std::map<Likeness, std::vector<uint32_t>> alike;
    for (uint32_t site = 0; site < sites.size(); site++)
    {
        alike[sites[site]].push_back(site);
    }
    FabricPicture few;
    few.names.title = picture.names.title;
    few.summary = picture.summary;
    std::vector<uint32_t> boxes(picture.boxes.size()); // in the other
    for (uint32_t site = 0; site < sites.size(); site++)
    {
        const auto& same = alike.at(sites[site]);
        if (same.front() != site)
        {
            continue;
        }
        const auto number = static_cast<uint32_t>(few.names.sites.size());
        few.names.sites.push_back(
            picture.names.sites[site] +
            (same.size() > 1 ? " and " + std::to_string(same.size() - 1) + " alike" : ""));
        for (size_t i = 0; i < picture.boxes.size(); i++)
        {
            if (picture.boxes[i].site == site)
            {
                boxes[i] = static_cast<uint32_t>(few.boxes.size());
                few.boxes.push_back(picture.boxes[i]);
                few.boxes.back().site = number;
            }
        }
        for (const PictureEdge& edge : picture.edges)
        {
            if (picture.boxes[edge.low].site == site)
            {
                few.edges.push_back({boxes[edge.low], boxes[edge.high], edge.lines});
            }
        }
    }
    return few;
}

} // namespace scaleacross
