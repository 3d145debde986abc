// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/nccl/rccl-tuning.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace scaleacross
{

namespace
{

/// LL and Simple; RCCL has LL128 for other GPUs only.
template <class T>
struct ByProtocol
{
    T ll;
    T simple;

    const T& Of(NcclProtocol protocol) const
    {
        return protocol->column == 0 ? ll : simple;
    }
};

template <class T>
struct ByKind
{
    ByProtocol<T> tree;
    ByProtocol<T> ring;

    const T& Of(const NcclChoice& choice) const
    {
        return (choice.kind == NcclKind::Tree ? tree : ring).Of(choice.protocol);
    }
};

// Microseconds, and shares of the channels' bandwidth.
constexpr ByProtocol<double> g_base{12, 17};
constexpr ByKind<double> g_inside{{0.9, 2.3}, {0.8, 2.1}};
constexpr ByKind<double> g_between{{10.5, 25}, {9.5, 320}};
constexpr double kNetOverheadUs = 2.0; // beside AMD's CPUs
constexpr ByKind<double> g_shareOfTwo{{0.06, 0.11}, {0.08, 1}};
constexpr ByKind<double> g_shareOfMore{{0.06, 0.59}, {0.08, 1}};

// Sizes from 64 B, each twice the one before; the last is for all beyond.
constexpr size_t kCorrected = 27;
constexpr ByKind<std::array<double, kCorrected>> g_correction{
    {{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1.0, 1.0, 1.0, 1.0, 1.0, 0.6, 1.0, 0.9,
      1.0, 1.0, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1},
     {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1,
      0.1, 0.7, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.8}},
    {{0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 1.0, 0.2, 1.0,
      0.4, 0.4, 0.1, 0.2, 0.2, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1},
     {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1,
      0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.8, 1.0, 1.0, 1.0}}};

} // namespace

bool
RcclTime(const NcclMachine& machine,
         CollectiveOp op,
         Bytes bytes,
         const NcclChannels& channels,
         NcclChoice& choice)
{
    const bool tree = choice.kind == NcclKind::Tree;
    const bool simple = choice.protocol->wire == 1;
    const bool several = machine.servers > 1;
    if ((!tree && choice.kind != NcclKind::Ring) || (!simple && choice.protocol->column != 0) ||
        (tree && (op != CollectiveOp::AllReduce || (simple && !several))))
    {
        return false;
    }
    const double n = machine.ranks;
    const double servers = machine.servers;
    const double rounds = op == CollectiveOp::AllReduce ? 2 : 1;
    const double inside = g_inside.Of(choice);
    const double between = g_between.Of(choice);
    choice.latencyUs = g_base.Of(choice.protocol);
    if (tree)
    {
        choice.latencyUs +=
            2 * ((n / servers - 1) * inside + std::floor(std::log2(servers)) * between);
    }
    else
    {
        const double post = several ? kNetOverheadUs * (simple ? 3 : 1) : 0;
        const double across = !several ? 0 : rounds == 2 ? 2 * servers : servers - 1;
        choice.latencyUs += (rounds * (n - 1) - across) * std::max(inside, post) + across * between;
    }
    const double rate = machine.servers <= 2 ? channels.inside : channels.between;
    const double bus =
        channels.count * rate * (machine.servers <= 2 ? g_shareOfTwo : g_shareOfMore).Of(choice);
    choice.algbw = tree ? bus / 2 : bus * n / (rounds * (n - 1));
    const auto size = static_cast<double>(bytes.Count());
    const size_t which =
        size < 64 ? 0 : std::min(kCorrected - 1, static_cast<size_t>(std::log2(size / 64)));
    const double corrected = tree || several ? g_correction.Of(choice)[which] : 1;
    choice.us = choice.latencyUs + size / (1000 * choice.algbw * corrected);
    return true;
}

} // namespace scaleacross
