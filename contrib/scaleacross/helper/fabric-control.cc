// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-control.h"

#include "attribute-setter.h"
#include "core/base/errors.h"
#include "fabric-helper.h"

#include "ns3/boolean.h"
#include "ns3/nstime.h"
#include "ns3/telemetry.h"
#include "ns3/type-id.h"

namespace ns3
{

using scaleacross::CongestionControl;

namespace
{

/// What switches have to mark for a control.
struct Marking
{
    const char* reference; //!< rate at which the thresholds hold
    uint64_t kmin;
    uint64_t kmax;
    double pmax;
    uint32_t rate{0};
};

/// What receivers do about marks.
enum class Notification : uint8_t
{
    None,    //!< the ACK says so
    Limited, //!< a CNP, one per CnpInterval
    Every    //!< a CNP for each
};

/// Everything that there is to know of a control here: one line to add for a new one.
struct Entry
{
    CongestionControl control;
    const char* type;
    const Marking* marking; //!< null: nothing is marked for it
    Notification notification;
    bool pulls{false}; //!< it goes by pulls, packet by packet
};

constexpr Marking kRed{"40Gbps", 5'000, 200'000, 0.01};
constexpr Marking kStep{"100Gbps", 100'000, 100'000, 1.0};
/// 4 us of queue to what switches trim at (UseTransport).
constexpr Marking kWide{"100Gbps", 50'000, 168'000, 1.0};
constexpr Marking kFecn{"100Gbps", 50'000, 50'000, 1.0, 15};

constexpr Entry kEntries[] = {
    {CongestionControl::None, "ns3::RdmaCongestionOps", nullptr, Notification::None},
    {CongestionControl::Dcqcn, "ns3::Dcqcn", &kRed, Notification::Limited},
    {CongestionControl::Dctcp, "ns3::DctcpLike", &kStep, Notification::None},
    {CongestionControl::Swift, "ns3::Swift", nullptr, Notification::None},
    {CongestionControl::Timely, "ns3::Timely", nullptr, Notification::None},
    {CongestionControl::Hpcc, "ns3::Hpcc", nullptr, Notification::None},
    {CongestionControl::Nscc, "ns3::Nscc", &kWide, Notification::None},
    {CongestionControl::ReceiverCredit, "ns3::ReceiverCredit", &kWide, Notification::None, true},
    {CongestionControl::InfinibandCc, "ns3::InfinibandCc", &kFecn, Notification::Every},
};

const Entry&
EntryOf(CongestionControl control)
{
    const Entry& entry = kEntries[static_cast<size_t>(control)];
    SCALEACROSS_INVARIANT(entry.control == control, "the entries are not in the order of the enum");
    return entry;
}

} // namespace

uint32_t
TelemetryBytes(CongestionControl control, uint32_t switches)
{
    return control == CongestionControl::Hpcc
               ? scaleacross::kTelemetryHeader + scaleacross::kTelemetryEntry * switches
               : 0;
}

void
UseControl(FabricHelper& fabric, CongestionControl control, const std::set<std::string>& chosen)
{
    const Entry& entry = EntryOf(control);
    if (chosen.count("ns3::RdmaQueuePair::CongestionOps") > 0)
    {
        return; // one that has no word here, and whose marking is set besides
    }
    AttributeSetter set(fabric, chosen);
    set.QueuePair("CongestionOps", TypeIdValue(TypeId::LookupByName(entry.type)));
    if (control != CongestionControl::None)
    {
        set.QueuePair("SendCnps", BooleanValue(entry.notification != Notification::None));
        set.ResetQueuePair("CnpInterval");
    }
    if (entry.notification == Notification::Every)
    {
        set.QueuePair("CnpInterval", TimeValue(Time(0)));
    }
    if (entry.pulls)
    {
        set.QueuePair("WindowCountsFlight", BooleanValue(true));
    }
    if (entry.marking != nullptr)
    {
        const Marking& marking = *entry.marking;
        set.Marking(marking.reference, marking.kmin, marking.kmax, marking.pmax, marking.rate);
    }
}

} // namespace ns3
