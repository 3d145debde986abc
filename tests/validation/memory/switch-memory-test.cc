// SPDX-License-Identifier: GPL-2.0-only

#include "ns3/data-rate.h"
#include "ns3/fabric-helper.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/nstime.h"
#include "ns3/rdma-nic.h"
#include "ns3/simulator.h"
#include "ns3/uinteger.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <gtest/gtest.h>
#include <new>
#include <vector>

namespace
{

/// Bytes asked for by operator new and not given back.
std::atomic<size_t> g_live{0};

/// In front of every allocation: its size, and room to keep what follows aligned.
constexpr size_t kFront = alignof(std::max_align_t);

} // namespace

void*
operator new(size_t size)
{
    auto* front = static_cast<char*>(std::malloc(size + kFront));
    if (front == nullptr)
    {
        throw std::bad_alloc();
    }
    *reinterpret_cast<size_t*>(front) = size;
    g_live += size;
    return front + kFront;
}

void
operator delete(void* memory) noexcept
{
    if (memory != nullptr)
    {
        char* front = static_cast<char*>(memory) - kFront;
        g_live -= *reinterpret_cast<size_t*>(front);
        std::free(front);
    }
}

void
operator delete(void* memory, size_t) noexcept
{
    operator delete(memory);
}

namespace scaleacross
{

namespace
{

/// Bytes that a switch with so many ports holds, the routes to the NICs at them included, after it
/// has checked its configuration.
size_t
SwitchBytes(uint32_t ports)
{
    ns3::FabricHelper fabric;
    fabric.SetSwitchAttribute("BufferSize", ns3::UintegerValue(1ULL << 30));
    std::vector<ns3::Ptr<ns3::RdmaNic>> nics;
    for (uint32_t i = 0; i < ports; ++i)
    {
        nics.push_back(fabric.AddNic(fabric.AddHost()));
    }
    const size_t before = g_live;
    ns3::Ptr<ns3::FabricSwitch> fabricSwitch = fabric.AddSwitch();
    std::vector<ns3::Ptr<ns3::SwitchPort>> switchPorts;
    for (uint32_t i = 0; i < ports; ++i)
    {
        fabricSwitch->AddPort();
    }
    size_t bytes = g_live - before;
    for (uint32_t i = 0; i < ports; ++i)
    {
        fabric.ConnectPorts(nics[i],
                            fabricSwitch->GetPort(i),
                            ns3::DataRate("100Gbps"),
                            ns3::MicroSeconds(1));
    }
    const size_t connected = g_live;
    fabric.InstallRoutes();
    bytes += g_live - connected;
    ns3::Simulator::Destroy();
    return bytes;
}

/**
 * Memory of a switch is linear in its ports: a port has its queues, its accounting per priority and
 * a range in the table, nothing has a table of ports by ports. The line through 8 and 1,024 ports
 * describes all sizes between within 10 %: vectors that grow by doubling may hold up to twice what
 * they need, and are a small part of it. A single byte per pair of ports would add 1 MiB at 1,024
 * ports, a kilobyte per port: the slope of the line has to be below 2 KiB, and between 512 and
 * 1,024 ports the same as between 8 and 64 within 10 %.
 */
TEST(SwitchMemory, IsLinearInPorts)
{
    const std::vector<uint32_t> sizes{8, 16, 32, 64, 128, 256, 512, 1024};
    std::vector<double> bytes;
    SwitchBytes(8); // what is made once per process
    for (uint32_t ports : sizes)
    {
        bytes.push_back(static_cast<double>(SwitchBytes(ports)));
        RecordProperty("bytes_with_" + std::to_string(ports) + "_ports",
                       std::to_string(static_cast<size_t>(bytes.back())));
    }
    const double slope = (bytes.back() - bytes.front()) / (1024 - 8);
    const double base = bytes.front() - 8 * slope;
    EXPECT_GT(slope, 500); // eight queues alone are more
    EXPECT_LT(slope, 2048);
    EXPECT_LT(base, 64 * 1024);
    for (size_t i = 0; i < sizes.size(); ++i)
    {
        const double line = base + slope * sizes[i];
        EXPECT_NEAR(bytes[i], line, 0.1 * line) << sizes[i] << " ports";
    }
    const double early = (bytes[3] - bytes[0]) / (64 - 8);
    const double late = (bytes[7] - bytes[6]) / 512;
    EXPECT_NEAR(late, early, 0.1 * early);
}

} // namespace

} // namespace scaleacross
