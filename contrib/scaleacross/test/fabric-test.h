// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FABRIC_TEST_H
#define SCALEACROSS_FABRIC_TEST_H

#include "ns3/fabric-balance.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/test.h"
#include "ns3/uinteger.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

namespace fabrictest
{

constexpr uint64_t kMiB = 1 << 20;

/// What happened to messages, in ps.
struct Event
{
    uint64_t tag;
    uint64_t bytes;
    int64_t time;

    bool operator==(const Event& other) const
    {
        return tag == other.tag && bytes == other.bytes && time == other.time;
    }

    bool operator<(const Event& other) const
    {
        return std::tie(time, tag, bytes) < std::tie(other.time, other.tag, other.bytes);
    }
};

/// Collects what connections report.
class Log
{
  public:
    void Watch(ns3::Ptr<ns3::RdmaConnection> connection)
    {
        using Message = ns3::RdmaMessageCallback;
        connection->SetDeliveryCallback(Message(
            [this](scaleacross::Bytes bytes, uint64_t tag) { Add(delivered, bytes, tag); }));
        connection->SetCompletionCallback(Message(
            [this](scaleacross::Bytes bytes, uint64_t tag) { Add(completed, bytes, tag); }));
        connection->SetFailureCallback(ns3::RdmaFailureCallback([this](const std::string& reason) {
            failures.push_back(reason);
            failedAt.push_back(ns3::Simulator::Now().GetPicoSeconds());
        }));
    }

    int64_t LastDelivery() const
    {
        return std::max_element(delivered.begin(), delivered.end())->time;
    }

    int64_t LastCompletion() const
    {
        return std::max_element(completed.begin(), completed.end())->time;
    }

    std::vector<Event> delivered;
    std::vector<Event> completed;
    std::vector<std::string> failures;
    std::vector<int64_t> failedAt;

  private:
    static void Add(std::vector<Event>& events, scaleacross::Bytes bytes, uint64_t tag)
    {
        events.push_back({tag, bytes.Count(), ns3::Simulator::Now().GetPicoSeconds()});
    }
};

/// Most by which an exact time may be missed over `hops` wires: nothing if the Simulator counts in
/// picoseconds, else one of its ticks per wire.
inline int64_t
Rounding(int64_t hops)
{
    int64_t tick = ns3::TimeStep(1).GetPicoSeconds();
    return tick <= 1 ? 0 : hops * tick;
}

/// MTU 1,000 and 48 bytes of headers, as in HPCC's simulator; ACKs of 60 bytes.
inline void
UseHpccSizes(ns3::FabricHelper& fabric)
{
    fabric.SetNicAttribute("PathMtu", ns3::UintegerValue(1000));
    fabric.SetNicAttribute("FixedOverhead", ns3::UintegerValue(48));
    fabric.SetNicAttribute("AckSize", ns3::UintegerValue(60));
}

/// `hosts` NICs on one switch, all wires alike.
inline ns3::Ptr<ns3::FabricSwitch>
BuildStar(ns3::FabricHelper& fabric, uint32_t hosts, const std::string& rate, ns3::Time delay)
{
    ns3::Ptr<ns3::FabricSwitch> centre = fabric.AddSwitch();
    for (uint32_t i = 0; i < hosts; ++i)
    {
        fabric.Connect(fabric.AddNic(fabric.AddHost()), centre, ns3::DataRate(rate), delay);
    }
    fabric.InstallRoutes();
    return centre;
}

} // namespace fabrictest

#endif // SCALEACROSS_FABRIC_TEST_H
