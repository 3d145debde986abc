// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ATTRIBUTE_SETTER_H
#define SCALEACROSS_ATTRIBUTE_SETTER_H

#include "core/spec/marking.h"

#include "ns3/attribute.h"
#include "ns3/type-id.h"

#include <set>
#include <string>

namespace ns3
{

class FabricHelper;

/// "ns3::FabricPort::DataRate" for DataRate of a SwitchPort: the attribute by the type that
/// declares it, which may be one that `type` is derived from. Empty if there is none.
std::string AttributeName(const TypeId& type, const std::string& attribute);

/// Throws ConfigError (where = `caller`) if a fabric is wired: its switches keep what they were
/// made with.
void ExpectNoSwitches(const FabricHelper& fabric, const std::string& caller);

/// Sets attributes of what a fabric creates from now on, save those that somebody has chosen
/// ("ns3::Type::Attribute").
class AttributeSetter
{
  public:
    AttributeSetter(FabricHelper& fabric, const std::set<std::string>& chosen);

    void Switch(const std::string& name, const AttributeValue& value);
    void SwitchPort(const std::string& name, const AttributeValue& value);
    void QueuePair(const std::string& name, const AttributeValue& value);
    void Nic(const std::string& name, const AttributeValue& value);

    /// Gives an attribute the value that it has if nobody sets it.
    void ResetSwitch(const std::string& name);
    void ResetQueuePair(const std::string& name);

    /// The priority of data packets, as set by now, as a bit.
    uint64_t DataPriority() const;

    /// Lets switches mark data packets so.
    void Mark(const scaleacross::Marking& marking);
    /// Marking as it is if nobody sets it.
    void ResetMarking();

  private:
    bool IsChosen(const TypeId& type, const std::string& name) const;

    FabricHelper& m_fabric;
    const std::set<std::string>& m_chosen;
};

} // namespace ns3

#endif // SCALEACROSS_ATTRIBUTE_SETTER_H
