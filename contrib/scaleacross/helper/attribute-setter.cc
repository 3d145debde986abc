// SPDX-License-Identifier: GPL-2.0-only

#include "attribute-setter.h"

#include "core/base/errors.h"
#include "fabric-helper.h"

#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/fabric-switch.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/switch-port.h"
#include "ns3/uinteger.h"

namespace ns3
{

namespace
{

/// What an attribute is if nobody sets it.
Ptr<const AttributeValue>
DefaultOf(TypeId type, const std::string& name)
{
    TypeId::AttributeInformation attribute;
    const bool found = type.LookupAttributeByName(name, &attribute);
    SCALEACROSS_INVARIANT(found, "no attribute " + type.GetName() + "::" + name);
    return attribute.initialValue;
}

} // namespace

std::string
AttributeName(const TypeId& type, const std::string& attribute)
{
    for (TypeId declaring = type;; declaring = declaring.GetParent())
    {
        for (size_t i = 0; i < declaring.GetAttributeN(); i++)
        {
            if (declaring.GetAttribute(i).name == attribute)
            {
                return declaring.GetName() + "::" + attribute;
            }
        }
        if (!declaring.HasParent())
        {
            return "";
        }
    }
}

void
ExpectNoSwitches(const FabricHelper& fabric, const std::string& caller)
{
    if (!fabric.Wires().empty())
    {
        throw scaleacross::ConfigError(caller,
                                       "the fabric has " +
                                           std::to_string(fabric.Switches().size()) +
                                           " switches, which keep what they were made with",
                                       "a fabric without wires",
                                       "call it before switches and buildings are made");
    }
}

AttributeSetter::AttributeSetter(FabricHelper& fabric, const std::set<std::string>& chosen)
    : m_fabric(fabric),
      m_chosen(chosen)
{
}

bool
AttributeSetter::IsChosen(const TypeId& type, const std::string& name) const
{
    return m_chosen.count(AttributeName(type, name)) > 0;
}

void
AttributeSetter::Switch(const std::string& name, const AttributeValue& value)
{
    if (!IsChosen(FabricSwitch::GetTypeId(), name))
    {
        m_fabric.SetSwitchAttribute(name, value);
    }
}

void
AttributeSetter::SwitchPort(const std::string& name, const AttributeValue& value)
{
    if (!IsChosen(SwitchPort::GetTypeId(), name))
    {
        m_fabric.SetSwitchPortAttribute(name, value);
    }
}

void
AttributeSetter::QueuePair(const std::string& name, const AttributeValue& value)
{
    if (!IsChosen(RdmaQueuePair::GetTypeId(), name))
    {
        m_fabric.SetQueuePairAttribute(name, value);
    }
}

void
AttributeSetter::Nic(const std::string& name, const AttributeValue& value)
{
    if (!IsChosen(RdmaNic::GetTypeId(), name))
    {
        m_fabric.SetNicAttribute(name, value);
    }
}

void
AttributeSetter::ResetSwitch(const std::string& name)
{
    Switch(name, *DefaultOf(FabricSwitch::GetTypeId(), name));
}

void
AttributeSetter::ResetQueuePair(const std::string& name)
{
    QueuePair(name, *DefaultOf(RdmaQueuePair::GetTypeId(), name));
}

uint64_t
AttributeSetter::DataPriority() const
{
    return uint64_t{1} << std::stoul(m_fabric.GetQueuePairAttribute("Priority"));
}

void
AttributeSetter::Mark(const scaleacross::Marking& marking)
{
    Switch("EcnPriorities", UintegerValue(DataPriority()));
    Switch("EcnReferenceRate", DataRateValue(DataRate(marking.reference)));
    Switch("EcnKmin", UintegerValue(marking.kmin));
    Switch("EcnKmax", UintegerValue(marking.kmax));
    Switch("EcnPmax", DoubleValue(marking.pmax));
    Switch("EcnMarkingRate", UintegerValue(marking.rate));
}

void
AttributeSetter::ResetMarking()
{
    for (const char* name :
         {"EcnPriorities", "EcnReferenceRate", "EcnKmin", "EcnKmax", "EcnPmax", "EcnMarkingRate"})
    {
        ResetSwitch(name);
    }
}

} // namespace ns3
