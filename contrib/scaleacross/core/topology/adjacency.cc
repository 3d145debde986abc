// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/adjacency.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/topology/text-lines.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <sstream>
#include <utility>

namespace scaleacross
{

namespace
{

constexpr uint64_t kMostNodes = 16'000'000;
constexpr uint64_t kMostLinks = 1'000'000'000;
constexpr const char* kFormat = "NODES SWITCHES LINKS, then the switches' numbers, then "
                                "SOURCE DESTINATION RATE DELAY LOSS for each link";

/// As the text has it.
struct TextLink
{
    uint32_t ends[2];
    BitRate rate;
    Duration delay;
    double loss;
};

struct NodeName
{
    std::string site;
    VertexKind kind;
};

class AdjacencyReader
{
  public:
    AdjacencyReader(std::string_view text, std::string name)
        : m_name(std::move(name)),
          m_lines(LinesOf(text))
    {
    }

    AdjacencyFabric Read()
    {
        ReadCounts();
        ReadSwitches();
        ReadLinks();
        ReadNames();
        CheckHosts();
        return Build();
    }

  private:
    [[noreturn]] void Fail(size_t line,
                           const std::string& problem,
                           const std::string& allowed,
                           const std::string& remedy = "") const
    {
        throw ConfigError(m_name + ":" + std::to_string(line), problem, allowed, remedy);
    }

    /// The next line; `what` was expected if there is none.
    const TextLine& Next(const std::string& what)
    {
        if (m_next == m_lines.size())
        {
            Fail(m_lines.empty() ? 1 : m_lines.back().number,
                 m_lines.empty() ? "the file is empty" : "the file ends here, before " + what,
                 kFormat);
        }
        return m_lines[m_next++];
    }

    /// A value of a line by one of the parsers of core/base, with the place in the message.
    template <class Parse>
    auto Value(const TextLine& line, const std::string& what, Parse parse) const
    {
        try
        {
            return parse();
        }
        catch (const ValueError& error)
        {
            Fail(line.number, what + ": " + error.Problem(), error.Allowed(), error.Remedy());
        }
    }

    uint64_t Whole(const TextLine& line, size_t word, const std::string& what, uint64_t most) const
    {
        return Value(line, what, [&] { return ParseWhole(line.words[word], 0, most); });
    }

    uint32_t Node(const TextLine& line, size_t word, const std::string& what) const
    {
        return static_cast<uint32_t>(Whole(line, word, what, m_isSwitch.size() - 1));
    }

    void ReadCounts()
    {
        const TextLine& line = Next("the counts");
        if (line.words.size() != 3)
        {
            Fail(line.number,
                 "the first line has " + std::to_string(line.words.size()) + " words",
                 "three: the numbers of nodes, switches and links");
        }
        const uint64_t nodes =
            Value(line, "nodes", [&] { return ParseWhole(line.words[0], 1, kMostNodes); });
        m_switches = Whole(line, 1, "switches", nodes);
        m_isSwitch.assign(nodes, false);
        m_linkCount = Whole(line, 2, "links", kMostLinks);
        m_links.reserve(std::min<uint64_t>(m_linkCount, m_lines.size())); // one a line at most
    }

    void ReadSwitches()
    {
        for (uint64_t left = m_switches; left > 0;)
        {
            const TextLine& line = Next("the number of every switch");
            if (line.words.size() > left)
            {
                Fail(line.number,
                     "there are more than the " + std::to_string(m_switches) +
                         " switches of the first line",
                     "as many as it says",
                     "see whether the first line counts all switches");
            }
            for (size_t i = 0; i < line.words.size(); i++)
            {
                const uint32_t node = Node(line, i, "switch");
                if (m_isSwitch[node])
                {
                    Fail(line.number,
                         "switch " + line.words[i] + " is named twice",
                         "different numbers");
                }
                m_isSwitch[node] = true;
            }
            left -= line.words.size();
        }
    }

    void ReadLinks()
    {
        for (uint64_t i = 0; i < m_linkCount; i++)
        {
            const TextLine& line =
                Next("link " + std::to_string(i + 1) + " of " + std::to_string(m_linkCount));
            if (line.words.size() != 5)
            {
                Fail(line.number,
                     "a link has " + std::to_string(line.words.size()) + " words",
                     "five: SOURCE DESTINATION RATE DELAY LOSS");
            }
            TextLink link;
            link.ends[0] = Node(line, 0, "source");
            link.ends[1] = Node(line, 1, "destination");
            if (link.ends[0] == link.ends[1])
            {
                Fail(line.number,
                     "node " + line.words[0] + " is linked to itself",
                     "two different nodes");
            }
            if (!m_isSwitch[link.ends[0]] && !m_isSwitch[link.ends[1]])
            {
                Fail(line.number,
                     "nodes " + line.words[0] + " and " + line.words[1] + " are both hosts",
                     "links with a switch at one end at least");
            }
            link.rate = Value(line, "rate", [&] { return Rate(line.words[2]); });
            link.delay = Value(line, "delay", [&] { return ParseDuration(line.words[3]); });
            const NumberRange losses{0, 1, false, true}; // not of every packet
            link.loss = Value(line, "loss", [&] { return ParseNumber(line.words[4], losses); });
            if (link.rate < BitRate(1))
            {
                Fail(line.number, "rate: " + line.words[2] + " is too slow", "1bps or more");
            }
            if (link.delay < Duration())
            {
                Fail(line.number, "delay: " + line.words[3] + " is negative", "0ns or more");
            }
            m_links.push_back(link);
        }
    }

    /// ns-3 also writes Gb/s for Gbps.
    static BitRate Rate(std::string text)
    {
        const size_t length = text.size();
        if (length > 3 && text.compare(length - 3, 3, "b/s") == 0)
        {
            text.replace(length - 3, 3, "bps");
        }
        return ParseBitRate(text);
    }

    void ReadNames()
    {
        std::vector<bool> named(m_isSwitch.size(), false);
        std::set<std::string> texts;
        while (m_next < m_lines.size())
        {
            const TextLine& line = m_lines[m_next++];
            if (line.words.size() == 5 && IsDigits(line.words[0]) && IsDigits(line.words[1]))
            {
                Fail(line.number,
                     "there is another link after the " + std::to_string(m_linkCount) +
                         " of the first line",
                     "as many as it says",
                     "see whether the first line counts all links");
            }
            if (line.words.size() < 3 || line.words[0] != "name" || !IsDigits(line.words[1]))
            {
                continue; // a note
            }
            m_names.resize(m_isSwitch.size());
            const uint32_t node = Node(line, 1, "node");
            std::string text = line.words[2]; // names of sites may have blanks
            for (size_t i = 3; i < line.words.size(); i++)
            {
                text += " " + line.words[i];
            }
            if (named[node] || !texts.insert(text).second)
            {
                Fail(line.number,
                     named[node] ? "node " + line.words[1] + " has a name already"
                                 : "the name '" + text + "' is given twice",
                     "one name for each node");
            }
            named[node] = true;
            m_names[node] = NameOf(line, text);
            if ((m_names[node].kind == VertexKind::Nic) == m_isSwitch[node])
            {
                Fail(line.number,
                     "node " + line.words[1] + " is a " + (m_isSwitch[node] ? "switch" : "host") +
                         ", and called " + text,
                     m_isSwitch[node] ? "leaf, spine or agg" : "nic");
            }
        }
        const auto missing = std::find(named.begin(), named.end(), false);
        if (!m_names.empty() && missing != named.end())
        {
            Fail(m_lines.back().number,
                 "node " + std::to_string(missing - named.begin()) + " has no name",
                 "names for all nodes or for none");
        }
    }

    NodeName NameOf(const TextLine& line, const std::string& text) const
    {
        const size_t slash = text.rfind('/');
        if (slash != std::string::npos && slash > 0)
        {
            const size_t digits = text.find_first_of("0123456789", slash);
            const std::string kind = text.substr(slash + 1, digits - slash - 1);
            for (const auto& [word, value] : Kinds())
            {
                if (kind == word && digits != std::string::npos)
                {
                    return {text.substr(0, slash), value};
                }
            }
        }
        Fail(line.number,
             "the name '" + text + "' does not say where the node is",
             "a site, a slash, nic, leaf, spine or agg, and a number: east/leaf0");
    }

    static const std::map<std::string, VertexKind>& Kinds()
    {
        static const std::map<std::string, VertexKind> kinds = {{"nic", VertexKind::Nic},
                                                                {"leaf", VertexKind::Leaf},
                                                                {"spine", VertexKind::Spine},
                                                                {"agg", VertexKind::Aggregation}};
        return kinds;
    }

    void CheckHosts() const
    {
        std::vector<bool> linked = m_isSwitch;
        for (const TextLink& link : m_links)
        {
            linked[link.ends[0]] = true;
            linked[link.ends[1]] = true;
        }
        const auto alone = std::find(linked.begin(), linked.end(), false);
        if (alone != linked.end())
        {
            Fail(m_lines.front().number,
                 "node " + std::to_string(alone - linked.begin()) +
                     " is a host, and no link leads to it",
                 "a link for every host",
                 "see whether all switches are named in the second line");
        }
    }

    /// Links between a node and the nearest host's switch; large where there is no way.
    std::vector<uint32_t> Heights() const
    {
        std::vector<std::vector<uint32_t>> neighbours(m_isSwitch.size());
        std::vector<uint32_t> heights(m_isSwitch.size(), UINT32_MAX);
        std::vector<uint32_t> queue;
        for (const TextLink& link : m_links)
        {
            for (const int side : {0, 1})
            {
                const uint32_t here = link.ends[side];
                const uint32_t there = link.ends[1 - side];
                if (m_isSwitch[here] && m_isSwitch[there])
                {
                    neighbours[here].push_back(there);
                }
                else if (m_isSwitch[here] && heights[here] != 0)
                {
                    heights[here] = 0;
                    queue.push_back(here);
                }
            }
        }
        for (size_t head = 0; head < queue.size(); head++)
        {
            for (const uint32_t to : neighbours[queue[head]])
            {
                if (heights[to] == UINT32_MAX)
                {
                    heights[to] = heights[queue[head]] + 1;
                    queue.push_back(to);
                }
            }
        }
        return heights;
    }

    AdjacencyFabric Build()
    {
        const auto nodes = static_cast<uint32_t>(m_isSwitch.size());
        const std::vector<uint32_t> heights = Heights();
        std::vector<std::vector<size_t>> linksOf(nodes); // of hosts
        for (size_t i = 0; i < m_links.size(); i++)
        {
            for (const uint32_t end : m_links[i].ends)
            {
                if (!m_isSwitch[end])
                {
                    linksOf[end].push_back(i);
                }
            }
        }
        if (m_names.empty())
        {
            m_fabric.sites.emplace_back();
        }
        std::vector<uint32_t> nicOf(m_links.size(), UINT32_MAX);
        for (uint32_t node = 0; node < nodes; node++)
        {
            for (const size_t link : linksOf[node])
            {
                nicOf[link] = AddVertex(node, VertexKind::Nic);
            }
        }
        std::vector<uint32_t> vertexOf(nodes, UINT32_MAX); // of switches
        for (uint32_t node = 0; node < nodes; node++)
        {
            if (m_isSwitch[node])
            {
                vertexOf[node] = AddVertex(node, KindAt(heights[node]));
            }
        }
        for (size_t i = 0; i < m_links.size(); i++)
        {
            const TextLink& link = m_links[i];
            uint32_t low = link.ends[0];
            uint32_t high = link.ends[1];
            if (!m_isSwitch[high] || (m_isSwitch[low] && heights[high] < heights[low]))
            {
                std::swap(low, high);
            }
            AddLink(m_isSwitch[low] ? vertexOf[low] : nicOf[i], vertexOf[high], link);
        }
        return std::move(m_fabric);
    }

    static VertexKind KindAt(uint32_t height)
    {
        return height == 0   ? VertexKind::Leaf
               : height == 1 ? VertexKind::Spine
                             : VertexKind::Aggregation;
    }

    uint32_t AddVertex(uint32_t node, VertexKind kind)
    {
        uint32_t site = 0;
        if (!m_names.empty())
        {
            kind = m_names[node].kind;
            const auto known = m_sites.try_emplace(m_names[node].site, m_fabric.sites.size());
            if (known.second)
            {
                m_fabric.sites.push_back(m_names[node].site);
            }
            site = static_cast<uint32_t>(known.first->second);
        }
        m_fabric.graph.vertices.push_back({kind, site, m_counts[{kind, site}]++});
        m_fabric.nodes.push_back(node);
        return static_cast<uint32_t>(m_fabric.graph.vertices.size() - 1);
    }

    void AddLink(uint32_t a, uint32_t b, const TextLink& link)
    {
        const Vertex& low = m_fabric.graph.vertices[a];
        const Vertex& high = m_fabric.graph.vertices[b];
        FabricLink added;
        added.a = a;
        added.b = b;
        added.rate = link.rate;
        added.delay = link.delay;
        added.loss = link.loss;
        if (low.kind == VertexKind::Nic)
        {
            added.kind = LinkKind::Nic;
        }
        else if (low.site != high.site)
        {
            added.kind = LinkKind::Cross;
            const auto pair = std::minmax(low.site, high.site);
            const auto number = static_cast<uint32_t>(m_spans.size());
            added.span = m_spans.try_emplace(pair, number).first->second;
        }
        else
        {
            added.kind = LinkKind::Inside;
        }
        m_fabric.graph.links.push_back(added);
    }

    std::string m_name;
    std::vector<TextLine> m_lines;
    size_t m_next{0};
    uint64_t m_switches{0};
    uint64_t m_linkCount{0};
    std::vector<bool> m_isSwitch; //!< by node
    std::vector<TextLink> m_links;
    std::vector<NodeName> m_names; //!< by node; empty if there are none
    AdjacencyFabric m_fabric;
    std::map<std::string, size_t> m_sites;
    std::map<std::pair<VertexKind, uint32_t>, uint32_t> m_counts;
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> m_spans;
};

} // namespace

AdjacencyFabric
ParseAdjacency(std::string_view text, const std::string& name)
{
    return AdjacencyReader(text, name).Read();
}

bool
LooksLikeAdjacency(std::string_view text)
{
    const std::vector<TextLine> lines = LinesOf(text);
    return !lines.empty() &&
           std::all_of(lines.front().words.begin(), lines.front().words.end(), IsDigits);
}

} // namespace scaleacross
