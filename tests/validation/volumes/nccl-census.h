// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_NCCL_CENSUS_H
#define SCALEACROSS_TESTS_NCCL_CENSUS_H

#include "core/spec/scenario.h"
#include "core/work/nccl/nccl-lowering.h"
#include "core/work/nccl/tuning.h"
#include "rank-places.h"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/**
 * What a collective of NCCL's sends between buildings, member by member, to the byte. Which
 * algorithm and protocol it takes is asked of NCCL's model (nccl-tuning-test holds that); what they
 * send is added up from their definition. Knows no phase.
 *
 * On the wire S bytes are W: 2 S with LL, 16/15 S with LL128, rounded up. n members, g on each of M
 * servers; part i of W of n is from floor(W i / n) to floor(W (i+1) / n).
 *
 * - Ring: g rings, ring k with part k of g of W. It enters an even server at its member k and goes
 *   upwards, an odd one at member k - 1 and goes downwards, mod g. Every edge carries all n parts
 *   but one: of a gather the one of whom it leads to, of a reduce-scatter the one of whom it leads
 *   from. An all-reduce is both.
 * - Tree: W / g for every position of a server, rounded up, in as many chunks as have no more than
 *   as few whole MiB as make 32 of them or less; half of each up and down every edge of two binary
 *   trees over the M servers, of which the second is the mirror image, or for odd M begins one
 *   server earlier.
 * - PAT: rounds of shifts s = 1, 2, 4, ... < n with c = min(s, n - s) parts: of a gather parts i to
 *   i + c - 1 from member i to i - s, of a reduce-scatter as many from i + s on to that member.
 */
namespace scaleacross::volumes
{

class NcclCensus
{
  public:
    NcclCensus(const Scenario& scenario, const RankPlaces& places)
        : m_rules(NcclRulesOf(scenario)),
          m_places(places)
    {
        const auto layout = std::get<RankLayout>(LayOut(scenario.Job().plan, scenario.cluster));
        m_machine = MachineOf(m_rules, layout.dense, layout);
    }

    uint64_t Gather(const Ranks& group, uint64_t bytes) const
    {
        return Of(CollectiveOp::AllGather, group, bytes);
    }

    uint64_t Scatter(const Ranks& group, uint64_t bytes) const
    {
        return Of(CollectiveOp::ReduceScatter, group, bytes);
    }

    uint64_t AllReduce(const Ranks& group, uint64_t bytes) const
    {
        return Of(CollectiveOp::AllReduce, group, bytes);
    }

    /// Algorithms and protocols that have been taken for what crosses.
    const std::set<std::string>& Taken() const
    {
        return m_taken;
    }

  private:
    NcclChoice Choose(CollectiveOp op, const Ranks& group, uint64_t bytes) const
    {
        NcclMachine machine = m_machine;
        machine.ranks = static_cast<uint32_t>(group.size());
        machine.servers = static_cast<uint32_t>(m_places.ServersOf(group).size());
        machine.collnet = false; // between buildings
        return NcclChoose(machine, op, Bytes(bytes), m_rules.algorithm, m_rules.protocol);
    }

    uint64_t Of(CollectiveOp op, const Ranks& group, uint64_t bytes) const
    {
        if (bytes == 0 || m_places.BuildingsOf(group) == 1)
        {
            return 0;
        }
        const NcclChoice choice = Choose(op, group, bytes);
        const std::string protocol = ToString(choice.protocol);
        const NcclAlgorithm algorithm = NcclAlgorithm::First(
            [&choice](const auto& row) { return !row.chooses && row.kind == choice.kind; });
        m_taken.insert(ToString(algorithm));
        m_taken.insert(protocol);
        const uint64_t wire = protocol == "ll"      ? 2 * bytes
                              : protocol == "ll128" ? (16 * bytes + 14) / 15
                                                    : bytes;
        const bool gathers = op == CollectiveOp::AllGather;
        switch (choice.kind)
        {
        case NcclKind::Ring:
            return op == CollectiveOp::AllReduce
                       ? Rings(group, wire, false) + Rings(group, wire, true)
                       : Rings(group, wire, gathers);
        case NcclKind::Tree:
            return Trees(group, wire);
        case NcclKind::Pat:
            return Rounds(group, wire, gathers);
        case NcclKind::CollnetDirect:
        case NcclKind::CollnetChain:
        case NcclKind::Nvls:
        case NcclKind::NvlsTree:
            break;
        }
        SCALEACROSS_INVARIANT(false, "switches reduce neither in servers of four nor so far away");
        return 0;
    }

    static uint64_t Part(uint64_t bytes, uint64_t index, uint64_t n)
    {
        return bytes * (index + 1) / n - bytes * index / n;
    }

    bool Cross(uint32_t a, uint32_t b) const
    {
        return m_places.BuildingOf(a) != m_places.BuildingOf(b);
    }

    uint64_t Rings(const Ranks& group, uint64_t wire, bool gathers) const
    {
        const size_t n = group.size();
        const size_t g = n / m_places.ServersOf(group).size();
        uint64_t sum = 0;
        for (size_t k = 0; k < g; k++)
        {
            std::vector<size_t> ring; // members in its order
            for (size_t server = 0; server < n / g; server++)
            {
                for (size_t step = 0; step < g; step++)
                {
                    const size_t position = server % 2 == 0 ? k + step : k + 2 * g - 1 - step;
                    ring.push_back(server * g + position % g);
                }
            }
            const uint64_t all = Part(wire, k, g);
            for (size_t i = 0; i < n; i++)
            {
                const size_t from = ring[i];
                const size_t to = ring[(i + 1) % n];
                sum += Cross(group[from], group[to]) ? all - Part(all, gathers ? to : from, n) : 0;
            }
        }
        return sum;
    }

    uint64_t Trees(const Ranks& group, uint64_t wire) const
    {
        const size_t servers = m_places.ServersOf(group).size();
        const size_t g = group.size() / servers;
        const uint64_t part = (wire + g - 1) / g;
        uint64_t chunk = 1 << 20;
        while (32 * chunk < part)
        {
            chunk += 1 << 20;
        }
        const uint64_t chunks = g == 1 ? 1 : (part + chunk - 1) / chunk;
        uint64_t sum = 0;
        for (size_t position = 0; position < g; position++)
        {
            Ranks members;
            for (size_t server = 0; server < servers; server++)
            {
                members.push_back(group[server * g + position]);
            }
            const uint64_t first = m_places.BoundariesOfTree(members);
            if (servers % 2 == 0)
            {
                std::reverse(members.begin(), members.end());
            }
            else
            {
                std::rotate(members.rbegin(), members.rbegin() + 1, members.rend());
            }
            const uint64_t second = m_places.BoundariesOfTree(members);
            for (uint64_t chunk = 0; chunk < chunks; chunk++)
            {
                const uint64_t bytes = Part(part, chunk, chunks);
                sum += 2 * (first * Part(bytes, 0, 2) + second * Part(bytes, 1, 2));
            }
        }
        return sum;
    }

    uint64_t Rounds(const Ranks& group, uint64_t wire, bool gathers) const
    {
        const size_t n = group.size();
        uint64_t sum = 0;
        for (size_t shift = 1; shift < n; shift *= 2)
        {
            for (size_t i = 0; i < n; i++)
            {
                const size_t to = (gathers ? i + n - shift : i + shift) % n;
                for (size_t j = 0; j < std::min(shift, n - shift) && Cross(group[i], group[to]);
                     j++)
                {
                    sum += Part(wire, ((gathers ? i : to) + j) % n, n);
                }
            }
        }
        return sum;
    }

    NcclRules m_rules;
    NcclMachine m_machine;
    const RankPlaces& m_places;
    mutable std::set<std::string> m_taken;
};

} // namespace scaleacross::volumes

#endif // SCALEACROSS_TESTS_NCCL_CENSUS_H
