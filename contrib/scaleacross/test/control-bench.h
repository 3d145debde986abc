// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TEST_CONTROL_BENCH_H
#define SCALEACROSS_TEST_CONTROL_BENCH_H

#include "ns3/rdma-congestion-ops.h"

#include <cstdint>

namespace fabrictest
{

constexpr int64_t kUs = 1'000'000; //!< ps

/// A congestion control without a network around it: packets of 1,000 bytes, 1,082 on the wire.
template <typename Control>
struct ControlBench
{
    explicit ControlBench(double gbps)
    {
        state.lineRate = static_cast<uint64_t>(gbps * 1e9);
        state.rate = state.lineRate;
        state.mtu = 1000;
        state.wireSize = 1082;
    }

    void Init()
    {
        control->Init(state);
    }

    /// One packet is acknowledged at `us`, with a round trip of `rtt` us, while `unacked` are under
    /// way.
    void Ack(double us, double rtt, uint64_t unacked = 0, bool marked = false)
    {
        ns3::RdmaAck ack;
        ack.packets = 1;
        ack.arrived = 1;
        ack.psn = ++acked;
        ack.next = acked + unacked;
        ack.marked = marked;
        ack.rtt = static_cast<int64_t>(rtt * kUs);
        state.unacked = unacked;
        control->OnAck(state, ack, static_cast<int64_t>(us * kUs));
    }

    double Gbps() const
    {
        return static_cast<double>(state.rate) * 1e-9;
    }

    ns3::Ptr<Control> control{ns3::CreateObject<Control>()};
    ns3::RdmaCongestionState state;
    uint64_t acked{0};
};

} // namespace fabrictest

#endif // SCALEACROSS_TEST_CONTROL_BENCH_H
