// SPDX-License-Identifier: GPL-2.0-only

#include "lane-map.h"

#include "core/base/errors.h"

#include "ns3/fabric-packet.h"
#include "ns3/table-text.h"

namespace scaleacross
{

namespace
{

/// Ports are numbers of 8 bits in InfiniBand; this leaves room for one large switch that stands for
/// several, with a table of 64 MiB.
constexpr uint32_t kMostPorts = 4096;
constexpr uint32_t kLevels = kPriorities;
constexpr uint32_t kIdentity = 0x76543210;

[[noreturn]] void
Complain(const std::string& where, size_t number, const std::string& what)
{
    throw ConfigError(where,
                      "rule " + std::to_string(number) + ": " + what,
                      "rules as in PORT out PORT SL:VL,...; with a port's number or any, and SL "
                      "and VL 0 to 7",
                      "for instance: in any out 1 0:1,3:4; in 2 out 1 0:0");
}

/// Takes `word` and a port off the front; false if they are not there.
bool
TakePort(std::string& text, const std::string& word, uint32_t any, uint32_t& port)
{
    if (TakeUntil(text, ' ') != word)
    {
        return false;
    }
    std::string name = TakeUntil(text, ' ');
    port = any;
    return name == "any" || (TakeNumber(name, kMostPorts - 1, port) && name.empty());
}

} // namespace

LaneMap
LaneMap::Parse(const std::string& text, const std::string& where)
{
    LaneMap map;
    std::string rest = text;
    for (size_t number = 1; !rest.empty(); ++number)
    {
        std::string rule = TakeUntil(rest, ';');
        const std::string whole = rule;
        Rule entry{};
        if (!TakePort(rule, "in", kAny, entry.in) || !TakePort(rule, "out", kAny, entry.out))
        {
            Complain(where, number, "'" + whole + "' does not begin with in PORT out PORT");
        }
        if (rule.empty() || rule.back() == ',')
        {
            Complain(where, number, "'" + whole + "' does not end with SL:VL");
        }
        while (!rule.empty())
        {
            const std::string pair = TakeUntil(rule, ',');
            std::string left = pair;
            uint32_t level = 0;
            uint32_t lane = 0;
            bool good = TakeNumber(left, kLevels - 1, level) && !left.empty() && left[0] == ':';
            left.erase(0, good ? 1 : 0);
            good = good && TakeNumber(left, kPriorities - 1, lane) && left.empty();
            if (!good)
            {
                Complain(where, number, "'" + pair + "' is not SL:VL");
            }
            entry.level = static_cast<uint8_t>(level);
            entry.lane = static_cast<uint8_t>(lane);
            map.m_rules.push_back(entry);
        }
    }
    return map;
}

void
LaneMap::Resolve(uint32_t ports, uint32_t lanes, const std::string& where)
{
    if (ports > kMostPorts)
    {
        throw ConfigError(where,
                          "the switch has " + std::to_string(ports) + " ports",
                          "at most " + std::to_string(kMostPorts) + " with a map",
                          "");
    }
    m_ports = ports;
    m_rows.assign(size_t{ports} * ports, kIdentity);
    for (const Rule& rule : m_rules)
    {
        for (const uint32_t port : {rule.in, rule.out})
        {
            if (port != kAny && port >= ports)
            {
                throw ConfigError(where,
                                  "names port " + std::to_string(port),
                                  "ports 0 to " + std::to_string(ports - 1),
                                  "");
            }
        }
        if (((lanes >> rule.lane) & 1U) == 0)
        {
            throw ConfigError(where,
                              "names virtual lane " + std::to_string(rule.lane) +
                                  ", which has no buffer",
                              "lanes of FabricSwitch::VirtualLanes",
                              "");
        }
        const uint32_t shift = 4U * rule.level;
        const uint32_t bits = uint32_t{rule.lane} << shift;
        for (uint32_t in = rule.in == kAny ? 0 : rule.in;
             in < (rule.in == kAny ? ports : rule.in + 1);
             ++in)
        {
            for (uint32_t out = rule.out == kAny ? 0 : rule.out;
                 out < (rule.out == kAny ? ports : rule.out + 1);
                 ++out)
            {
                uint32_t& row = m_rows[size_t{in} * ports + out];
                row = (row & ~(15U << shift)) | bits;
            }
        }
    }
}

} // namespace scaleacross
