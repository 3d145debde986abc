// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-control.h"

#include "attribute-setter.h"
#include "fabric-helper.h"

#include "ns3/boolean.h"
#include "ns3/nstime.h"
#include "ns3/type-id.h"

namespace ns3
{

using scaleacross::CongestionControl;
using scaleacross::Notification;

void
UseControl(FabricHelper& fabric, CongestionControl control, const std::set<std::string>& chosen)
{
    if (chosen.count("ns3::RdmaQueuePair::CongestionOps") > 0)
    {
        return; // one that has no word here, and whose marking is set besides
    }
    AttributeSetter set(fabric, chosen);
    set.QueuePair("CongestionOps", TypeIdValue(TypeId::LookupByName(control->type)));
    if (control->controls)
    {
        set.QueuePair("SendCnps", BooleanValue(control->notification != Notification::Ack));
        set.ResetQueuePair("CnpInterval");
    }
    if (control->notification == Notification::Every)
    {
        set.QueuePair("CnpInterval", TimeValue(Time(0)));
    }
    if (control->pulls)
    {
        set.QueuePair("WindowCountsFlight", BooleanValue(true));
    }
    if (control->marking)
    {
        ExpectNoSwitches(fabric, "UseControl");
        set.Mark(*control->marking);
    }
}

} // namespace ns3
