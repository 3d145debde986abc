// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/plan-reader.h"

#include "core/io/map-reader.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

constexpr size_t g_mostValues = 256;

/// The keys right below a prefix such as "plan" or "network" that the table of plan fields knows,
/// in its order: "qps", and "tiers" for all of "network.tiers...".
std::vector<std::string>
KeysOf(const std::string& prefix)
{
    std::vector<std::string> keys;
    for (const auto& field : PlanFields())
    {
        if (field.key.compare(0, prefix.size() + 1, prefix + ".") == 0)
        {
            const std::string rest = field.key.substr(prefix.size() + 1);
            const std::string key = rest.substr(0, rest.find('.'));
            if (std::find(keys.begin(), keys.end(), key) == keys.end())
            {
                keys.push_back(key);
            }
        }
    }
    return keys;
}

/// The texts of a range: from, then times factor or plus step, up to and including to.
std::vector<std::string>
RangeOf(const YamlNode& node, const std::string& path)
{
    const MapReader map(node, path, {"from", "to", "factor", "step"});
    constexpr uint64_t most = UINT32_MAX;
    uint64_t from = 0;
    uint64_t to = 0;
    uint64_t factor = 1;
    uint64_t step = 0;
    map.GetRequired("from", from, Whole(0, most), "from: 1");
    map.GetRequired("to", to, Whole(0, most), "to: 64");
    const bool byFactor = map.Get("factor", factor, Whole(2, most));
    const bool byStep = map.Get("step", step, Whole(1, most));
    if (byFactor == byStep)
    {
        FailAt(node,
               path,
               byFactor ? "factor and step are both given" : "neither factor nor step is given",
               "exactly one of them",
               "write e.g. {from: 1, to: 64, factor: 2}");
    }
    if (from > to || (byFactor && from == 0))
    {
        FailAt(node,
               path,
               "the range from " + std::to_string(from) + " to " + std::to_string(to) +
                   (from > to ? " is empty" : " never grows by a factor"),
               "from at most to, and at least 1 with a factor",
               "");
    }
    std::vector<std::string> texts;
    // All bounds are below 2^32, so neither step overflows 64 bits.
    for (uint64_t value = from; value <= to; value = value * factor + step)
    {
        texts.push_back(std::to_string(value));
        if (texts.size() > g_mostValues)
        {
            FailAt(node,
                   path,
                   "the range has too many values",
                   "at most " + std::to_string(g_mostValues),
                   "use a larger step, or a factor");
        }
    }
    return texts;
}

SearchAxis
ReadAxis(const PlanField& field, const YamlNode& node, const std::string& path)
{
    SearchAxis axis;
    axis.key = field.key;
    Plan scratch;
    const auto add = [&](const std::string& text, const YamlNode& place, const std::string& at) {
        SetField(field, scratch, text, place, at);
        const std::string value = field.get(scratch);
        if (std::find(axis.values.begin(), axis.values.end(), value) != axis.values.end())
        {
            FailAt(place, at, Quoted(text) + " is given twice", "every value once", "");
        }
        axis.values.push_back(value);
    };
    if (node.kind == YamlNode::Kind::Map)
    {
        for (const auto& text : RangeOf(node, path))
        {
            add(text, node, path);
        }
        return axis;
    }
    const auto list = ListOf(node, path);
    if (list.empty() || list.size() > g_mostValues)
    {
        FailAt(node,
               path,
               "there are " + std::to_string(list.size()) + " values",
               "1 to " + std::to_string(g_mostValues) + " values: " + field.allowed,
               "");
    }
    for (size_t i = 0; i < list.size(); i++)
    {
        const std::string at = path + "." + std::to_string(i);
        add(ScalarText(*list[i], at), *list[i], at);
    }
    return axis;
}

} // namespace

void
ReadPlanFields(Plan& plan, const YamlNode& node, const std::string& prefix, const std::string& path)
{
    std::vector<std::string> keys = KeysOf(prefix);
    if (prefix == "network")
    {
        keys.emplace_back("ns3");
    }
    const MapReader map(node, path, keys);
    for (size_t i = 0; i < node.keys.size(); i++)
    {
        const std::string& key = node.keys[i].text;
        const YamlNode& value = node.children[i];
        const PlanField* field = FindPlanField(prefix + "." + key);
        if (field != nullptr)
        {
            SetField(*field, plan, value, map.PathOf(key));
            continue;
        }
        if (!KeysOf(prefix + "." + key).empty())
        {
            ReadPlanFields(plan, value, prefix + "." + key, map.PathOf(key));
            continue;
        }
        // Only ns3 is left: attribute names with their values, which ns-3 alone can judge.
        if (value.kind == YamlNode::Kind::Scalar || value.kind == YamlNode::Kind::List)
        {
            FailAt(value,
                   map.PathOf(key),
                   "this is " + value.KindName(),
                   "a map of ns-3 attributes",
                   "write e.g. ns3: {\"ns3::TcpSocket::SegmentSize\": 1448}");
        }
        for (size_t j = 0; j < value.keys.size(); j++)
        {
            const std::string& name = value.keys[j].text;
            plan.network.ns3Attributes[name] =
                ScalarText(value.children[j], map.PathOf(key) + "." + name);
        }
    }
}

namespace
{

/// The axes below a prefix, in the table's order, whatever the order in the file: the search is the
/// same.
void
ReadAxes(std::vector<SearchAxis>& axes,
         const YamlNode& node,
         const std::string& prefix,
         const std::string& path)
{
    const std::vector<std::string> keys = KeysOf(prefix);
    const MapReader map(node, path, keys);
    for (const auto& key : keys)
    {
        const YamlNode* value = map.Find(key);
        if (value == nullptr)
        {
            continue;
        }
        const std::string full = prefix + "." + key;
        const PlanField* field = FindPlanField(full);
        if (field != nullptr)
        {
            axes.push_back(ReadAxis(*field, *value, map.PathOf(key)));
        }
        else
        {
            ReadAxes(axes, *value, full, map.PathOf(key));
        }
    }
}

} // namespace

SearchWords
ReadSearch(const YamlNode& node)
{
    SearchWords search;
    if (node.kind == YamlNode::Kind::Scalar && node.text == "auto")
    {
        search.complete = true;
        return search;
    }
    if (node.kind == YamlNode::Kind::Scalar)
    {
        FailAt(node,
               "search",
               Quoted(node.text) + " is no search",
               "auto, or a map of plan and network fields to their values",
               "write e.g. search: auto");
    }
    const MapReader map(node, "search", {"plan", "network", "rest"});
    for (const auto* prefix : {"plan", "network"})
    {
        if (const YamlNode* part = map.Find(prefix); part != nullptr)
        {
            ReadAxes(search.axes, *part, prefix, map.PathOf(prefix));
        }
    }
    if (const YamlNode* rest = map.Find("rest"); rest != nullptr)
    {
        const std::string word = ScalarText(*rest, map.PathOf("rest"));
        if (word != "auto" && word != "fixed")
        {
            FailAt(*rest, map.PathOf("rest"), Quoted(word) + " is not known", "auto or fixed", "");
        }
        search.complete = word == "auto";
    }
    return search;
}

std::vector<std::string>
GivenFields(const YamlNode& node, const std::string& prefix)
{
    std::vector<std::string> given;
    for (size_t i = 0; i < node.keys.size(); i++)
    {
        const std::string whole = prefix + "." + node.keys[i].text;
        if (FindPlanField(whole) != nullptr)
        {
            given.push_back(whole);
            continue;
        }
        const auto below = GivenFields(node.children[i], whole);
        given.insert(given.end(), below.begin(), below.end());
    }
    return given;
}

} // namespace scaleacross
