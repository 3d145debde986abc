// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STUDY_ATTRIBUTES_H
#define SCALEACROSS_STUDY_ATTRIBUTES_H

#include "core/spec/network-plan.h"

#include <map>
#include <set>
#include <string>

namespace ns3
{

/// The ns-3 attributes ("ns3::TypeId::Attribute") that keys of a study stand for, and which keys.
const std::map<std::string, std::string>& StudyAttributes();

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
