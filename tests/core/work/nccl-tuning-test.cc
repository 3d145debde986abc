// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/nccl/tuning.h"

#include <cmath>
#include <gtest/gtest.h>

namespace scaleacross
{

namespace
{

/// Servers of H100 with a NIC of 400 Gb/s each: 18 links of 20.6 GB/s a GPU.
NcclMachine
Hopper(uint32_t perServer, uint32_t servers)
{
    NcclMachine machine;
    machine.architecture = "hopper";
    machine.ranks = perServer * servers;
    machine.servers = servers;
    machine.linkRate = 370.8;
    machine.nicRate = 50;
    machine.reduces = true;
    return machine;
}

NcclChoice
Chosen(const NcclMachine& machine, CollectiveOp op, uint64_t bytes)
{
    return NcclChoose(machine, op, Bytes(bytes), "auto", "auto");
}

} // namespace

// One server: 6 channels of 60 GB/s fill 360 of 370.8, which 9 of 40 and 12 of 30 do not better;
// fast ones are cut in two. Two servers: of 48 GB/s, which a NIC of 50 has, 7 go over the links,
// 336 in all; of 45 there are 8, 360. Those are not cut. (NCCL's logs of such machines say 24 and
// 16 channels: it connects each twice.)
TEST(NcclTuning, SearchesChannels)
{
    const NcclChannels one = ChannelsOf(Hopper(8, 1), NcclKind::Ring);
    EXPECT_EQ(one.count, 12U);
    EXPECT_DOUBLE_EQ(one.inside, 30);
    const NcclChannels two = ChannelsOf(Hopper(8, 2), NcclKind::Ring);
    EXPECT_EQ(two.count, 8U);
    EXPECT_DOUBLE_EQ(two.between, 45);
    // A100 with NICs of 200 Gb/s: 8 channels of 24 GB/s, one on each NIC of 25, too slow to be cut.
    NcclMachine ampere = Hopper(8, 2);
    ampere.architecture = "ampere";
    ampere.linkRate = 240;
    ampere.nicRate = 25;
    const NcclChannels a100 = ChannelsOf(ampere, NcclKind::Ring);
    EXPECT_EQ(a100.count, 8U);
    EXPECT_DOUBLE_EQ(a100.between, 24);
}

// Ten servers whose switches reduce; 423.8 GB/s of links, as what leaves by a NIC does not come
// back, hold 8 channels of 48 GB/s. Chains: 2 x 7 x 2.8 + 30 us, and half of 384 GB/s. Direct: 2 x
// (3.7 + 7 x 0.4) + 31 us, and 0.85 of that rate on GPUs from Hopper on. NVLS: 25 + 18 us, and 8 x
// 48 x 80 / 158 GB/s, as its heads have no more than their NICs.
TEST(NcclTuning, SwitchesBetweenServersReduce)
{
    NcclMachine machine = Hopper(8, 10);
    const auto time = [&machine](NcclKind kind, CollectiveOp op = CollectiveOp::AllReduce) {
        return NcclTime(machine, op, Bytes(1 << 30), kind, "simple");
    };
    EXPECT_FALSE(time(NcclKind::CollnetChain));
    EXPECT_FALSE(time(NcclKind::CollnetDirect));
    EXPECT_FALSE(time(NcclKind::Nvls));
    machine.collnet = true;
    EXPECT_NEAR(time(NcclKind::CollnetChain)->latencyUs, 69.2, 1e-9);
    EXPECT_NEAR(time(NcclKind::CollnetChain)->algbw, 192, 1e-9);
    EXPECT_NEAR(time(NcclKind::CollnetDirect)->latencyUs, 44, 1e-9);
    EXPECT_NEAR(time(NcclKind::CollnetDirect)->algbw, 163.2, 1e-9);
    EXPECT_NEAR(time(NcclKind::Nvls)->latencyUs, 43, 1e-9);
    EXPECT_NEAR(time(NcclKind::Nvls)->algbw, 384.0 * 80 / 158, 1e-9);
    EXPECT_FALSE(time(NcclKind::CollnetChain, CollectiveOp::AllGather));
    machine.ranks = 160; // more GPUs a server than NCCL has CollNet for
    EXPECT_FALSE(time(NcclKind::CollnetChain));
    machine.ranks = machine.servers = 10;
    EXPECT_TRUE(time(NcclKind::CollnetChain));
    EXPECT_FALSE(time(NcclKind::CollnetDirect)); // nobody inside to send to
}

// What servers send inside is twice what leaves. A100 with NICs of 200 Gb/s: 8 channels of 24 GB/s
// have up to 48 inside, and chains on 240 x 8 / 7 GB/s of links 34.3, of which the table has 30:
// 192 and 120 GB/s. H100 with 4 NICs of 400 Gb/s: 4 channels of 48, the most that the table has,
// become 8 of 24.
TEST(NcclTuning, SwitchesThatReduceFillTheLinks)
{
    NcclMachine machine = Hopper(8, 10);
    machine.collnet = true;
    const auto bandwidth = [&machine](NcclKind kind) {
        return NcclTime(machine, CollectiveOp::AllReduce, Bytes(1 << 30), kind, "simple")->algbw;
    };
    machine.nicRate = 25;
    machine.nicsPerGpu = 0.5;
    EXPECT_NEAR(bandwidth(NcclKind::CollnetDirect), 8 * 24 * 0.85 / 2, 1e-9);
    machine.nicsPerGpu = 1;
    machine.architecture = "ampere";
    machine.linkRate = 240;
    EXPECT_NEAR(bandwidth(NcclKind::CollnetDirect), 192, 1e-9);
    EXPECT_NEAR(bandwidth(NcclKind::CollnetChain), 120, 1e-9);
}

// Numbers of its own for the scale-up switch (16 on Hopper; 24 on Blackwell, 32 over servers), and
// as many for computing whatever bound there is: links and NICs keep their rates with fewer, too.
TEST(NcclTuning, BoundsChannelsAndNotWhatTheyTake)
{
    NcclMachine machine = Hopper(8, 1);
    const auto nvls = [&machine] {
        return *NcclTime(machine,
                         CollectiveOp::AllReduce,
                         Bytes(1 << 30),
                         NcclKind::Nvls,
                         "simple");
    };
    EXPECT_EQ(nvls().channels, 16U);
    machine.architecture = "blackwell";
    machine.ranks = 72;
    EXPECT_EQ(nvls().channels, 24U);
    machine.mostChannels = 4;
    EXPECT_EQ(nvls().channels, 4U);
    EXPECT_EQ(nvls().unbounded, 24U);
}

// Ring, Simple, eight H100: 8.4 + 14 x 3.4 = 56 us, and 360 GB/s x 8 / 14 = 205.7 GB/s. NVLS: 25
// us, and 370.8 / 8 x 0.85 x 7 / 8 x 2 for each of eight heads, x 8 / 14: 315.2 GB/s.
TEST(NcclTuning, IsTheModelOfItsConstants)
{
    const auto ring =
        NcclTime(Hopper(8, 1), CollectiveOp::AllReduce, Bytes(1 << 30), NcclKind::Ring, "simple");
    ASSERT_TRUE(ring);
    EXPECT_NEAR(ring->latencyUs, 56, 1e-9);
    EXPECT_NEAR(ring->algbw, 360.0 * 8 / 14, 1e-6);
    const auto nvls =
        NcclTime(Hopper(8, 1), CollectiveOp::AllReduce, Bytes(1 << 30), NcclKind::Nvls, "simple");
    ASSERT_TRUE(nvls);
    EXPECT_NEAR(nvls->latencyUs, 25, 1e-9);
    EXPECT_NEAR(nvls->algbw, 370.8 * 0.85 * 7 / 8 * 2 * 8 / 14, 1e-6);
    // Ten servers: 158 steps, 18 of them between servers, where 3 us are the least for the others.
    const auto far =
        NcclTime(Hopper(8, 10), CollectiveOp::AllGather, Bytes(1 << 30), NcclKind::Ring, "simple");
    ASSERT_TRUE(far);
    EXPECT_NEAR(far->latencyUs, 8.4 + (79 - 9) * 3.4 + 9 * 14, 1e-9);
}

// RCCL, two servers of eight MI300X with links of 300 GB/s: 6 channels of 48 GB/s go over the
// links, cut in two, 288 GB/s in all; a tree's 7 are 14, of 300 x 8 / 7 / 14 = 24.49 GB/s. Steps
// that are not between servers take 2 us (LL) or 6 us (Simple) of its posts at least; of an
// all-reduce's 30 RCCL has four between.
TEST(NcclTuning, IsRcclsModelForAmdsGpus)
{
    NcclMachine machine = Hopper(8, 2);
    machine.architecture = "cdna3";
    machine.linkRate = 300;
    const auto time = [&](CollectiveOp op, uint64_t bytes, NcclKind kind, const char* protocol) {
        return NcclTime(machine, op, Bytes(bytes), kind, protocol);
    };
    const auto ll = time(CollectiveOp::AllReduce, 1 << 20, NcclKind::Ring, "ll");
    ASSERT_TRUE(ll);
    EXPECT_NEAR(ll->latencyUs, 12 + 26 * 2 + 4 * 9.5, 1e-9);
    EXPECT_NEAR(ll->algbw, 288 * 0.08 * 16 / 30, 1e-9);
    // 1 MiB is 2^14 x 64 B, whose entry is 0.4.
    EXPECT_NEAR(ll->us, ll->latencyUs + 1048.576 / (ll->algbw * 0.4), 1e-9);
    const auto simple = time(CollectiveOp::AllReduce, 64 << 20, NcclKind::Ring, "simple");
    ASSERT_TRUE(simple);
    EXPECT_NEAR(simple->us, 17 + 26 * 6 + 4 * 320 + 67108.864 / (288.0 * 16 / 30 * 0.1), 1e-6);
    const auto tree = time(CollectiveOp::AllReduce, 64 << 20, NcclKind::Tree, "simple");
    ASSERT_TRUE(tree);
    EXPECT_NEAR(tree->us, 17 + 2 * (7 * 2.3 + 25) + 67108.864 / (2400.0 / 7 * 0.11 / 2), 1e-6);
    EXPECT_NEAR(time(CollectiveOp::AllGather, 1 << 20, NcclKind::Ring, "ll")->latencyUs,
                12 + 14 * 2 + 9.5,
                1e-9);
    EXPECT_FALSE(time(CollectiveOp::AllReduce, 1 << 20, NcclKind::Ring, "ll128"));
    EXPECT_FALSE(time(CollectiveOp::AllGather, 1 << 20, NcclKind::Tree, "ll"));
    machine.servers = 1;
    machine.ranks = 8;
    EXPECT_FALSE(time(CollectiveOp::AllReduce, 1 << 20, NcclKind::Tree, "simple"));
    EXPECT_TRUE(time(CollectiveOp::AllReduce, 1 << 20, NcclKind::Tree, "ll"));
}

// Two servers of four A100 on 50 GB/s. Two NICs have two channels of 24 GB/s: a ring has 48 x 8 /
// 14 = 27.4 GB/s, a tree 23.6 of each channel by its table, 23.6 in all. Four have four channels of
// 12: the same ring, and a tree of 4 x 24 x 0.92 / 2 = 44.2. (Polaris' two servers take a ring.)
TEST(NcclTuning, LaysChannelsOverNics)
{
    NcclMachine machine = Hopper(4, 2);
    machine.architecture = "ampere";
    machine.linkRate = 240;
    machine.nicRate = 12.5;
    machine.reduces = false;
    machine.nicsPerGpu = 0.5;
    const uint64_t large = 1 << 30;
    EXPECT_EQ(ChannelsOf(machine, NcclKind::Ring).count, 2U);
    EXPECT_EQ(Chosen(machine, CollectiveOp::AllReduce, large).kind, NcclKind::Ring);
    machine.nicsPerGpu = 1;
    EXPECT_EQ(ChannelsOf(machine, NcclKind::Ring).count, 4U);
    EXPECT_EQ(Chosen(machine, CollectiveOp::AllReduce, large).kind, NcclKind::Tree);
    // A choice without LL128 is of the two others.
    for (uint64_t bytes = 64; bytes <= large; bytes *= 2)
    {
        EXPECT_NE(NcclChoose(machine, CollectiveOp::AllReduce, Bytes(bytes), "auto", "ll-simple")
                      .protocol,
                  NcclProtocol("ll128"));
    }
}

// LL takes 6.6 + 14 x 0.6 = 15 us and 141 GB/s x 8 / 14 = 80.6, NVLS 25 us and 315.2: they cross at
// 10 us / (1 / 80.6 - 1 / 315.2) = 1.08 MB.
TEST(NcclTuning, CrossesWhereTheEquationsDo)
{
    const NcclMachine machine = Hopper(8, 1);
    const double cross = 10e3 / (1 / (141.0 * 8 / 14) - 1 / (370.8 * 0.85 * 7 / 8 * 2 * 8 / 14));
    const auto below =
        Chosen(machine, CollectiveOp::AllReduce, static_cast<uint64_t>(cross * 0.99));
    EXPECT_EQ(below.kind, NcclKind::Ring);
    EXPECT_EQ(below.protocol, NcclProtocol("ll"));
    const auto above =
        Chosen(machine, CollectiveOp::AllReduce, static_cast<uint64_t>(cross * 1.01));
    EXPECT_EQ(above.kind, NcclKind::Nvls);
}

// What was measured: 480 GB/s on eight H200 and 363 on four, where NCCL takes a ring; all-gathers
// by ring; two servers by a tree or the switches and a tree.
TEST(NcclTuning, TakesTheSwitchFromFiveGpusOn)
{
    for (uint32_t gpus = 2; gpus <= 8; gpus++)
    {
        const NcclChoice choice =
            Chosen(Hopper(gpus, 1), CollectiveOp::AllReduce, uint64_t{8} << 30);
        EXPECT_EQ(choice.kind == NcclKind::Nvls, gpus > 4) << gpus;
    }
    EXPECT_EQ(Chosen(Hopper(8, 1), CollectiveOp::AllGather, 1 << 30).kind, NcclKind::Ring);
    EXPECT_EQ(Chosen(Hopper(8, 2), CollectiveOp::AllReduce, 1 << 30).kind, NcclKind::NvlsTree);
    NcclMachine plain = Hopper(8, 1);
    plain.reduces = false;
    EXPECT_NE(Chosen(plain, CollectiveOp::AllReduce, 1 << 30).kind, NcclKind::Nvls);
}

// A word holds for the operations that NCCL has it for.
TEST(NcclTuning, WordsHoldWhereTheyCan)
{
    const NcclMachine machine = Hopper(8, 2);
    const Bytes bytes(1 << 24);
    const auto choose = [&](CollectiveOp op, const char* algorithm, const char* protocol) {
        return NcclChoose(machine, op, bytes, algorithm, protocol);
    };
    for (const NcclProtocolFacts* protocol : NcclProtocol::Rows())
    {
        const char* word = protocol->word.c_str();
        EXPECT_EQ(choose(CollectiveOp::AllReduce, "tree", word).kind, NcclKind::Tree);
        EXPECT_EQ(choose(CollectiveOp::AllGather, "tree", word).kind, NcclKind::Ring);
        if (!protocol->chooses)
        {
            EXPECT_EQ(choose(CollectiveOp::AllGather, "auto", word).protocol, *protocol);
            EXPECT_EQ(choose(CollectiveOp::AllReduce, "ring", word).protocol, *protocol);
        }
    }
    EXPECT_EQ(choose(CollectiveOp::AllReduce, "nvls-tree", "ll").kind, NcclKind::NvlsTree);
    // PAT: one GPU a server.
    EXPECT_EQ(NcclChoose(Hopper(1, 16), CollectiveOp::AllGather, bytes, "pat", "auto").kind,
              NcclKind::Pat);
}

// Never beyond what links and algorithm allow: a member of a ring sends 2 (n-1) / n S.
TEST(NcclTuning, BandwidthIsWithinTheLinks)
{
    for (const uint32_t perServer : {1U, 2U, 4U, 8U})
    {
        for (const uint32_t servers : {1U, 2U, 3U, 8U, 100U})
        {
            const NcclMachine machine = Hopper(perServer, servers);
            for (const CollectiveOp op : {CollectiveOp::AllReduce, CollectiveOp::AllGather})
            {
                for (const NcclProtocolFacts* protocol : NcclProtocol::Rows())
                {
                    if (protocol->chooses || machine.ranks == 1)
                    {
                        continue;
                    }
                    const auto choice =
                        NcclTime(machine, op, Bytes(1 << 30), NcclKind::Ring, *protocol);
                    ASSERT_TRUE(choice);
                    const double n = machine.ranks;
                    const double sent = (op == CollectiveOp::AllReduce ? 2 : 1) * (n - 1) / n;
                    const double most =
                        servers == 1 ? machine.linkRate : machine.nicRate * perServer;
                    EXPECT_LE(choice->algbw * sent * protocol->wire, most * 1.0001);
                    EXPECT_GE(choice->channels, 1U);
                }
            }
        }
    }
}

} // namespace scaleacross
