// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/congestion-control.h"

#include "core/base/word-registry.h"

namespace scaleacross
{

namespace
{

/// RED of DCQCN's paper.
constexpr Marking kRed{"40Gbps", 5'000, 200'000, 0.01};
/// All from 8 us of queue on.
constexpr Marking kStep{"100Gbps", 100'000, 100'000, 1.0};
/// 4 us of queue to what switches trim at.
constexpr Marking kWide{"100Gbps", 50'000, 168'000, 1.0};
/// One of 16 from 4 us of queue on.
constexpr Marking kFecn{"100Gbps", 50'000, 50'000, 1.0, 15};

std::vector<CongestionControlFacts>
Facts()
{
    CongestionControlFacts none{
        {"none", "the line rate: PFC, losses or windows are all there is", true},
        "ns3::RdmaCongestionOps"};
    none.controls = false;

    CongestionControlFacts dcqcn{{"dcqcn", "rate, by CNPs"}, "ns3::Dcqcn", kRed};
    dcqcn.notification = Notification::Limited;

    const CongestionControlFacts dctcp{{"dctcp", "window, by the share of marked packets"},
                                       "ns3::DctcpLike",
                                       kStep};
    const CongestionControlFacts swift{{"swift", "window, by the round trip"}, "ns3::Swift"};
    const CongestionControlFacts timely{{"timely", "rate, by the gradient of the round trip"},
                                        "ns3::Timely"};

    CongestionControlFacts hpcc{{"hpcc", "window, by what switches write into packets"},
                                "ns3::Hpcc"};
    hpcc.telemetry = {2, 8}; // SIGCOMM 2019: 2 bytes, and 8 for every switch

    const CongestionControlFacts nscc{
        {"nscc", "window, by marks and the round trip together (Ultra Ethernet)"},
        "ns3::Nscc",
        kWide};

    CongestionControlFacts receiverCredit{
        {"receiver-credit", "a packet for each pull that the receiver hands out"},
        "ns3::ReceiverCredit",
        kWide}; // for entropies that are recycled
    receiverCredit.pulls = true;

    CongestionControlFacts infinibandCc{
        {"infiniband-cc", "rate, by CNPs for every mark and a table of delays"},
        "ns3::InfinibandCc",
        kFecn};
    infinibandCc.notification = Notification::Every;

    return {none, dcqcn, dctcp, swift, timely, hpcc, nscc, receiverCredit, infinibandCc};
}

} // namespace

template <>
const std::vector<const CongestionControlFacts*>&
CongestionControl::Rows()
{
    static const auto rows = PointersTo<CongestionControlFacts>(Facts());
    return rows;
}

template class Word<CongestionControlFacts>;

} // namespace scaleacross
