// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STUDY_ATTRIBUTES_H
#define SCALEACROSS_STUDY_ATTRIBUTES_H

#include "core/spec/network-plan.h"

#include "ns3/attribute.h"
#include "ns3/ptr.h"
#include "ns3/type-id.h"

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace ns3
{

/// An ns-3 attribute that a key of a study stands for.
struct StudyAttribute
{
    std::string name; //!< "ns3::TypeId::Attribute", of the type that declares it
    std::string key;  //!< "network.mtu"
    /// What the key makes of it; empty where it differs from object to object or where a word says
    /// several attributes at once (UseTransport and the like).
    std::function<Ptr<AttributeValue>(const scaleacross::NetworkPlan&)> value;
};

/// All of them. What stands here is refused under network.ns3.
const std::vector<StudyAttribute>& StudyAttributes();

/// Values of the attributes of a type that follow from the network's keys alone, by their names
/// without the type.
std::map<std::string, Ptr<AttributeValue>> StudyAttributesOf(
    const TypeId& type,
    const scaleacross::NetworkPlan& network);

/// Throws ConfigError (where = "network.ns3.<name>") if network.ns3 sets one of them, which the
/// study's own key would override, or what ns-3 does not have or take.
void CheckAttributes(const scaleacross::NetworkPlan& network);

/// The names that network.ns3 sets.
std::set<std::string> ChosenAttributes(const scaleacross::NetworkPlan& network);

/// Sets defaults of attributes by name, for the process. Throws ConfigError (where = prefix and
/// name) if there is no such attribute, or if it does not take the value.
void SetAttributeDefaults(const std::map<std::string, std::string>& attributes,
                          const std::string& prefix);

} // namespace ns3

#endif // SCALEACROSS_STUDY_ATTRIBUTES_H
