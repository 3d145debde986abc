// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LANE_MAP_H
#define SCALEACROSS_LANE_MAP_H

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * InfiniBand's mapping of service levels to virtual lanes in one switch.
 *
 * Model: a packet keeps the service level with which its NIC sends it. In a switch it goes on by
 * lane
 *
 *   VL = map(port it came in by, port it leaves by, SL),
 *
 * SL unless something else is said. As text: rules, separated by semicolons, each with two ports,
 * numbers or `any`, and a list of SL:VL; where several fit, the last one counts.
 *
 *   in any out 1 0:1,3:4; in 2 out 1 0:0
 *
 * The lane that a packet came in on is not known to the map, as in the standard: so routes that
 * wind around a ring need one service level for paths that cross a certain wire and another for
 * those that do not, unless paths are so short that the ports say it.
 *
 * Left out: service levels 8 to 15, and the map of a NIC, which sends level s on lane s.
 *
 * Worked case: with the text above packets of level 0 that leave by port 1 have lane 1, unless they
 * came in by port 2, and those of level 3 have lane 4, from wherever they came.
 */
class LaneMap
{
  public:
    /// Throws ConfigError that names `where` and the rule that is wrong.
    static LaneMap Parse(const std::string& text, const std::string& where);

    /// Makes the table for a switch of so many ports, `lanes` having a bit for each lane there is.
    /// Throws ConfigError if a rule names another port or lane.
    void Resolve(uint32_t ports, uint32_t lanes, const std::string& where);

    /// Domain: after Resolve; level 0 to 7.
    uint8_t LaneOf(uint32_t in, uint32_t out, uint8_t level) const
    {
        return static_cast<uint8_t>((m_rows[in * m_ports + out] >> (4U * level)) & 7U);
    }

  private:
    /// Stands for all ports.
    static constexpr uint32_t kAny = UINT32_MAX;

    struct Rule
    {
        uint32_t in;
        uint32_t out;
        uint8_t level;
        uint8_t lane;
    };

    std::vector<Rule> m_rules;
    uint32_t m_ports{0};
    std::vector<uint32_t> m_rows; //!< by in * m_ports + out: four bits for each service level
};

} // namespace scaleacross

#endif // SCALEACROSS_LANE_MAP_H
