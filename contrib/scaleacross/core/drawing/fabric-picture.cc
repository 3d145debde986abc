// SPDX-License-Identifier: GPL-2.0-only

#include "core/drawing/fabric-picture.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

/// 16,384
std::string
Grouped(uint64_t number)
{
    std::string text = std::to_string(number);
    for (size_t i = text.size(); i > 3;)
    {
        i -= 3;
        text.insert(i, ",");
    }
    return text;
}

std::string
Counted(uint64_t number, const std::string& what)
{
    return Grouped(number) + " " + what + (number == 1 ? "" : "s");
}

const char*
KindName(VertexKind kind)
{
    switch (kind)
    {
    case VertexKind::Nic:
        return "nic";
    case VertexKind::Leaf:
        return "leaf";
    case VertexKind::Spine:
        return "spine";
    case VertexKind::Aggregation:
        break;
    }
    return "agg";
}

/// "0-63, 70 (65)": which of a kind, and how many.
std::string
IndexText(std::vector<uint32_t> indices)
{
    std::sort(indices.begin(), indices.end());
    std::vector<std::pair<uint32_t, uint32_t>> runs;
    for (const uint32_t index : indices)
    {
        if (!runs.empty() && runs.back().second + 1 == index)
        {
            runs.back().second = index;
        }
        else
        {
            runs.emplace_back(index, index);
        }
    }
    constexpr size_t mostRuns = 3;
    std::string text;
    for (size_t i = 0; i < std::min(runs.size(), mostRuns); i++)
    {
        const auto& [first, last] = runs[i];
        text += (i == 0 ? "" : ", ") + std::to_string(first) +
                (first == last ? "" : "-" + std::to_string(last));
    }
    text += runs.size() > mostRuns ? ", ..." : "";
    return indices.size() == 1 ? text : text + " (" + Grouped(indices.size()) + ")";
}

/// The smallest and largest of some values, as text: "16", or "12 to 16".
template <class T, class Text>
std::string
RangeText(const std::vector<T>& values, Text text)
{
    const auto least = *std::min_element(values.begin(), values.end());
    const auto most = *std::max_element(values.begin(), values.end());
    return text(least) + (text(least) == text(most) ? "" : " to " + text(most));
}

/// Links that are drawn as one.
using Bundle = std::vector<const FabricLink*>;

class PictureMaker
{
  public:
    PictureMaker(const FabricGraph& graph, const PictureNames& names)
        : m_graph(graph)
    {
        m_picture.names = names;
    }

    FabricPicture Make()
    {
        Refine();
        MakeBoxes();
        std::map<std::pair<uint32_t, uint32_t>, Bundle> edges;
        std::map<std::pair<uint32_t, uint32_t>, Bundle> spans;
        for (const FabricLink& link : m_graph.links)
        {
            const Vertex& a = m_graph.vertices[link.a];
            const Vertex& b = m_graph.vertices[link.b];
            if (a.site != b.site)
            {
                spans[std::minmax(a.site, b.site)].push_back(&link);
                continue;
            }
            uint32_t low = m_boxOf[link.a];
            uint32_t high = m_boxOf[link.b];
            if (std::make_pair(b.kind, high) < std::make_pair(a.kind, low))
            {
                std::swap(low, high);
            }
            edges[{low, high}].push_back(&link);
        }
        for (const auto& [ends, links] : edges)
        {
            AddEdge(ends.first, ends.second, links);
        }
        for (const auto& [sites, links] : spans)
        {
            AddSpan(sites.first, sites.second, links);
        }
        Summarise();
        return std::move(m_picture);
    }

  private:
    /// Colours of the vertices: equal for those that cannot be told apart.
    void Refine()
    {
        const size_t count = m_graph.vertices.size();
        m_colour.assign(count, 0);
        std::map<std::pair<uint32_t, VertexKind>, uint32_t> first;
        for (size_t v = 0; v < count; v++)
        {
            const Vertex& vertex = m_graph.vertices[v];
            const auto number = static_cast<uint32_t>(first.size());
            m_colour[v] = first.try_emplace({vertex.site, vertex.kind}, number).first->second;
        }
        // Properties of links as numbers, so that they are quick to compare.
        std::map<std::tuple<double, int64_t, double, bool>, uint32_t> properties;
        std::vector<std::vector<std::pair<uint32_t, uint32_t>>> links(count); // to, property
        for (const FabricLink& link : m_graph.links)
        {
            const auto number = static_cast<uint32_t>(properties.size());
            const uint32_t property =
                properties
                    .try_emplace({link.rate.Value(), link.delay.Ps(), link.loss, link.pfc}, number)
                    .first->second;
            links[link.a].emplace_back(link.b, property);
            links[link.b].emplace_back(link.a, property);
        }
        for (size_t colours = first.size();;)
        {
            using Seen = std::vector<std::pair<uint32_t, uint32_t>>; // colour, property
            std::map<std::pair<uint32_t, Seen>, uint32_t> known;
            std::vector<uint32_t> next(count);
            for (size_t v = 0; v < count; v++)
            {
                Seen seen;
                for (const auto& [to, property] : links[v])
                {
                    seen.emplace_back(m_colour[to], property);
                }
                std::sort(seen.begin(), seen.end());
                const auto number = static_cast<uint32_t>(known.size());
                next[v] = known.try_emplace({m_colour[v], std::move(seen)}, number).first->second;
            }
            m_colour = std::move(next);
            if (known.size() == colours)
            {
                return;
            }
            colours = known.size();
        }
    }

    void MakeBoxes()
    {
        std::map<std::pair<uint32_t, VertexKind>, std::set<uint32_t>> colours;
        for (size_t v = 0; v < m_colour.size(); v++)
        {
            const Vertex& vertex = m_graph.vertices[v];
            colours[{vertex.site, vertex.kind}].insert(m_colour[v]);
        }
        std::map<std::tuple<uint32_t, VertexKind, uint32_t>, uint32_t> boxes;
        std::vector<std::vector<uint32_t>> indices;
        m_boxOf.resize(m_colour.size());
        for (size_t v = 0; v < m_colour.size(); v++)
        {
            const Vertex& vertex = m_graph.vertices[v];
            const bool apart = colours[{vertex.site, vertex.kind}].size() <= kMostBoxes;
            const auto number = static_cast<uint32_t>(boxes.size());
            const auto [place, fresh] =
                boxes.try_emplace({vertex.site, vertex.kind, apart ? m_colour[v] : 0}, number);
            m_boxOf[v] = place->second;
            if (fresh)
            {
                m_picture.boxes.push_back({vertex.site, vertex.kind, 0, {}});
                indices.emplace_back();
            }
            m_picture.boxes[m_boxOf[v]].count++;
            indices[m_boxOf[v]].push_back(vertex.index);
        }
        for (size_t i = 0; i < indices.size(); i++)
        {
            PictureBox& box = m_picture.boxes[i];
            box.lines.push_back(std::string(KindName(box.kind)) + " " + IndexText(indices[i]));
            if (colours[{box.site, box.kind}].size() > kMostBoxes)
            {
                box.lines.emplace_back("not all alike");
            }
        }
    }

    /// Links of each vertex of a box, among those of a bundle.
    std::vector<uint32_t> Degrees(uint32_t box, const Bundle& links) const
    {
        std::map<uint32_t, uint32_t> degree;
        for (const FabricLink* link : links)
        {
            for (const uint32_t end : {link->a, link->b})
            {
                if (m_boxOf[end] == box)
                {
                    degree[end]++;
                }
            }
        }
        std::vector<uint32_t> degrees;
        for (const auto& [vertex, number] : degree)
        {
            degrees.push_back(number);
        }
        if (degrees.size() < m_picture.boxes[box].count)
        {
            degrees.push_back(0);
        }
        return degrees;
    }

    /// Number of parallel links between each two vertices that have any.
    static std::vector<uint32_t> Parallel(const Bundle& links)
    {
        std::map<std::pair<uint32_t, uint32_t>, uint32_t> pairs;
        for (const FabricLink* link : links)
        {
            pairs[std::minmax(link->a, link->b)]++;
        }
        std::vector<uint32_t> numbers;
        for (const auto& [pair, number] : pairs)
        {
            numbers.push_back(number);
        }
        return numbers;
    }

    /// Parts of a bundle that have no vertex in common.
    static size_t Groups(const Bundle& links)
    {
        std::map<uint32_t, uint32_t> parent;
        const auto root = [&](uint32_t v) {
            parent.try_emplace(v, v);
            while (parent[v] != v)
            {
                v = parent[v] = parent[parent[v]];
            }
            return v;
        };
        for (const FabricLink* link : links)
        {
            const uint32_t a = root(link->a);
            parent[a] = root(link->b);
        }
        return static_cast<size_t>(
            std::count_if(parent.begin(), parent.end(), [](const auto& entry) {
                return entry.first == entry.second;
            }));
    }

    static std::string RateText(const Bundle& links)
    {
        std::vector<BitRate> rates;
        for (const FabricLink* link : links)
        {
            rates.push_back(link->rate);
        }
        return RangeText(rates, [](BitRate rate) { return ToString(rate); });
    }

    static std::string DelayText(const Bundle& links)
    {
        std::vector<Duration> delays;
        for (const FabricLink* link : links)
        {
            delays.push_back(link->delay);
        }
        return RangeText(delays, [](Duration delay) { return ToString(delay); });
    }

    /// "loss 1e-05"; empty if nothing is lost.
    static std::string LossText(const Bundle& links)
    {
        std::vector<double> losses;
        for (const FabricLink* link : links)
        {
            losses.push_back(link->loss);
        }
        const bool any = *std::max_element(losses.begin(), losses.end()) > 0;
        return any ? "loss " + RangeText(losses, [](double loss) { return NumberText(loss); }) : "";
    }

    static BitRate Capacity(const Bundle& links)
    {
        BitRate sum;
        for (const FabricLink* link : links)
        {
            sum += link->rate;
        }
        return sum;
    }

    static void AppendPart(std::string& text, const std::string& part)
    {
        text += part.empty() || text.empty() ? part : ", " + part;
    }

    void AddEdge(uint32_t low, uint32_t high, const Bundle& links)
    {
        const auto number = [](uint32_t value) { return Grouped(value); };
        std::string first = Grouped(links.size()) + " x " + RateText(links);
        AppendPart(first, DelayText(links));
        AppendPart(first, LossText(links));
        if (low == high)
        {
            m_picture.boxes[low].lines.push_back(first + " among them");
            return;
        }
        std::string second;
        const auto each = [&](uint32_t box, const char* way) {
            const PictureBox& of = m_picture.boxes[box];
            if (of.kind != VertexKind::Nic)
            {
                AppendPart(second,
                           std::string(KindName(of.kind)) + ": " +
                               RangeText(Degrees(box, links), number) + way);
            }
        };
        each(low, " up");
        each(high, " down");
        std::string third;
        const std::vector<uint32_t> parallel = Parallel(links);
        if (*std::max_element(parallel.begin(), parallel.end()) > 1)
        {
            third = RangeText(parallel, number) + " parallel";
        }
        const size_t groups = Groups(links);
        const bool toLeaf = m_picture.boxes[low].kind == VertexKind::Nic;
        if (groups > 1 && !toLeaf)
        {
            AppendPart(third, "in " + Grouped(groups) + " groups");
        }
        PictureEdge edge{low, high, {first, second}};
        if (!third.empty())
        {
            edge.lines.push_back(third);
        }
        m_picture.edges.push_back(std::move(edge));
    }

    void AddSpan(uint32_t a, uint32_t b, const Bundle& links)
    {
        const auto number = [](uint32_t value) { return Grouped(value); };
        std::vector<Distance> distances;
        bool pfc = true;
        for (const FabricLink* link : links)
        {
            if (link->span < m_picture.names.spans.size())
            {
                distances.push_back(m_picture.names.spans[link->span]);
            }
            pfc = pfc && link->pfc;
        }
        std::string first;
        if (!distances.empty())
        {
            first = RangeText(distances, [](Distance distance) { return ToString(distance); });
        }
        const std::string distance = first.empty() ? DelayText(links) : first;
        AppendPart(first, DelayText(links));
        std::string rest = ToString(Capacity(links));
        AppendPart(rest, LossText(links));
        AppendPart(first, rest);
        const std::vector<uint32_t> lanes = Parallel(links);
        std::string second = Counted(lanes.size(), "plane") + " x ";
        if (*std::max_element(lanes.begin(), lanes.end()) > 1)
        {
            second += RangeText(lanes, number) + " lanes x ";
        }
        second += RateText(links);
        AppendPart(second, pfc ? "" : "no PFC");
        m_picture.spans.push_back({a, b, {first, second}, distance, {rest, second}});
    }

    void Summarise()
    {
        std::set<uint32_t> sites;
        uint64_t nics = 0;
        for (const Vertex& vertex : m_graph.vertices)
        {
            sites.insert(vertex.site);
            nics += vertex.kind == VertexKind::Nic ? 1 : 0;
        }
        const uint64_t switches = m_graph.vertices.size() - nics;
        m_picture.summary = (sites.size() > 1 ? Counted(sites.size(), "site") + ", " : "") +
                            Counted(nics, "NIC port") + ", " + Grouped(switches) +
                            (switches == 1 ? " switch, " : " switches, ") +
                            Counted(m_graph.links.size(), "link");
    }

    const FabricGraph& m_graph;
    FabricPicture m_picture;
    std::vector<uint32_t> m_colour; //!< by vertex
    std::vector<uint32_t> m_boxOf;  //!< by vertex
};

} // namespace

FabricPicture
MakePicture(const FabricGraph& graph, const PictureNames& names)
{
    for (const Vertex& vertex : graph.vertices)
    {
        SCALEACROSS_INVARIANT(vertex.site < names.sites.size(), "every site has a name");
    }
    return PictureMaker(graph, names).Make();
}

} // namespace scaleacross
