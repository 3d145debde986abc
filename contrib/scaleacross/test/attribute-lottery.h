// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TEST_ATTRIBUTE_LOTTERY_H
#define SCALEACROSS_TEST_ATTRIBUTE_LOTTERY_H

#include "ns3/type-id.h"

#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

namespace fabrictest
{

/**
 * Draws values for the attributes of the module's types, as defaults (Config::SetDefault).
 *
 * Which types and attributes there are comes from ns-3's own tables: a new congestion control or a
 * new attribute is drawn from the day on which it is registered. An attribute for which there is a
 * list of choices takes one of them; any other keeps its value, or takes any word that it knows, or
 * half to twice the number that it has. What is not to be drawn has to be excused.
 */
class AttributeLottery
{
  public:
    explicit AttributeLottery(std::mt19937& random)
        : m_random(random)
    {
    }

    /// All attributes of a type and of those that it is derived from.
    void Draw(const ns3::TypeId& type);

    /// The same for all types derived from one that can be created.
    void DrawChildren(const ns3::TypeId& base);

    /// "ns3::RdmaQueuePair::Window=8192 ...", all that is not as it is by default.
    std::string Text() const;

    /// All that is not as it is by default: values by "ns3::RdmaQueuePair::Window".
    const std::map<std::string, std::string>& Drawn() const
    {
        return m_drawn;
    }

    /// All types of the module that are registered.
    static std::vector<ns3::TypeId> Types();

    /// Those of them that are derived from a type and can be created, by name.
    static std::vector<ns3::TypeId> ChildrenOf(const ns3::TypeId& base);

    /// Attributes that Draw would neither draw nor is told to leave alone, and choices for
    /// attributes that there are not: both should be empty.
    static std::vector<std::string> Unknown();

    /// Of an attribute that has an enumeration's value, its words; none of any other.
    static std::vector<std::string> WordsOf(const ns3::TypeId::AttributeInformation& attribute);

    /// Why an attribute is not drawn; empty if it is.
    static std::string Excuse(const std::string& name);

  private:
    std::string DrawValue(const ns3::TypeId::AttributeInformation& attribute);
    std::string Scale(const std::string& text);

    std::mt19937& m_random;
    std::map<std::string, std::string> m_drawn;
};

} // namespace fabrictest

#endif // SCALEACROSS_TEST_ATTRIBUTE_LOTTERY_H
