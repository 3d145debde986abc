// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/nccl/tuning.h"

#include "core/work/nccl/rccl-tuning.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

constexpr uint32_t kArchitectures = 3;

template <class T>
using ByProtocol = std::array<T, kNcclProtocols>;
template <class T>
using ByKind = std::array<T, kNcclKinds>;
/// One server, two, more.
using ByServers = std::array<double, 3>;

// Columns are LL, LL128, Simple; rows are in the order of NcclKind. Microseconds.
constexpr ByKind<ByProtocol<double>> g_base{{{6.8, 14.0, 8.4},
                                             {6.6, 14.0, 8.4},
                                             {0, 0, 0},
                                             {0, 0, 0},
                                             {0, 0, 0},
                                             {0, 0, 0},
                                             {8.0, 8.0, 8.0}}};
constexpr ByKind<ByProtocol<double>> g_inside{{{0.6, 1.25, 4.0},
                                               {0.6, 1.9, 3.4},
                                               {0, 0, 3.7},
                                               {0, 0, 2.8},
                                               {0, 0, 25},
                                               {0, 0, 25},
                                               {0, 0, 4.0}}};
constexpr ByKind<ByProtocol<double>> g_between{{{5.0, 8.5, 14.0},
                                                {2.7, 4.0, 14.0},
                                                {0, 0, 31},
                                                {0, 0, 30},
                                                {0, 0, 18},
                                                {0, 0, 20.9},
                                                {0, 0, 14}}};
/// Of each further peer that a member of CollNet's direct algorithm sends to.
constexpr double kArityUs = 0.4;
/// GPUs of a server for which NCCL has CollNet (NCCL_MAX_DIRECT_ARITY and one).
constexpr uint32_t kMostOfCollnet = 8;
/// Of every post of a ring's proxy, which a step inside servers does not undercut; by the vendor of
/// the CPUs, of which NCCL knows: AMD's beside A100 (DGX A100), others' beside later GPUs.
constexpr double kNetOverheadAmdUs = 2.0;
constexpr double kNetOverheadUs = 1.0;

// By architecture; GB/s.
constexpr std::array<ByServers, kArchitectures> g_mostLl{
    {{87.7, 22.5, 19.0}, {141.0, 45.0, 35.0}, {282.0, 90.0, 70.0}}};
/// Over several servers the vendor of the CPUs decides: the row of Ampere is that of AMD's, this of
/// others.
constexpr ByServers g_mostLlOther{39.0, 39.0, 20.4};
constexpr std::array<double, kArchitectures> g_mostRingLl128{20.0, 36.7, 40.0};
constexpr std::array<ByServers, kArchitectures> g_mostTreeLl128{
    {{20.0, 20.0, 20.0}, {36.7, 36.7, 29.0}, {55.6, 31.67, 20.0}}};
constexpr std::array<ByServers, kArchitectures> g_mostTree{
    {{24.0, 23.6, 17.8}, {38.7, 41.4, 36.0}, {70.0, 42.8, 24.0}}};
constexpr std::array<ByServers, kArchitectures> g_mostNvlsTree{
    {{0, 0, 0}, {0, 57.7, 45.5}, {0, 96.0, 80.0}}};
constexpr std::array<double, kArchitectures> g_nvlsEfficiency{0, 0.85, 0.74};

// Sizes from 64 B, each twice the one before.
constexpr uint32_t kCorrected = 24;
constexpr ByProtocol<std::array<double, kCorrected>> g_treeCorrection{
    {{1.0, 1.0, 1.0, 1.0, .9, .8, .7, .7,  .7,  .7,  .6,  .5,
      .4,  .4,  .5,  .6,  .7, .8, .9, 1.0, 1.0, 1.0, 1.0, 1.0},
     {1.0, 1.0, 1.0, 1.0, 1.0, .9, .8, .8, .8, .7,  .6,  .6,
      .6,  .6,  .6,  .6,  .8,  .9, .9, .9, .9, 1.0, 1.0, 1.0},
     {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
      .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}}};

/// Rates of channels that NCCL tries, GB/s.
const std::vector<double>&
RatesOf(Architecture architecture, bool oneServer)
{
    static const std::vector<double> ampereInside{40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
    static const std::vector<double>
        ampereBetween{48, 30, 28, 24, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3, 2.4, 1.2, 0.24, 0.12};
    static const std::vector<double> hopperInside{60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
    static const std::vector<double>
        hopperBetween{48, 45, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3, 2.4, 1.2, 0.24, 0.12};
    static const std::vector<double>
        blackwellInside{90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
    static const std::vector<double> blackwellBetween{
        96, 86, 80, 48, 45.1, 42, 40, 30, 24, 22, 20, 17.5, 15, 12, 6, 3.0, 2.4, 1.2, 0.24, 0.12};
    switch (architecture->column)
    {
    case 0:
        return oneServer ? ampereInside : ampereBetween;
    case 1:
        return oneServer ? hopperInside : hopperBetween;
    default:
        return oneServer ? blackwellInside : blackwellBetween;
    }
}

uint32_t
Log2(double x)
{
    return x < 1 ? 0 : static_cast<uint32_t>(std::floor(std::log2(x)));
}

} // namespace

NcclChannels
ChannelsOf(const NcclMachine& machine, NcclKind kind)
{
    const uint32_t perServer = machine.PerServer();
    const bool oneServer = machine.servers == 1;
    const std::vector<double>& rates = RatesOf(machine.architecture, oneServer);
    // Every channel passes every GPU, and leaves a server by one NIC. What does not come back to
    // the GPU of its NIC has more room on the links.
    const bool ring = kind == NcclKind::Ring || kind == NcclKind::Pat;
    const double links = perServer == 1 ? std::numeric_limits<double>::infinity()
                         : ring         ? machine.linkRate
                                        : machine.linkRate * perServer / (perServer - 1);
    constexpr uint32_t kMost = 32;
    const auto countAt = [&](double rate) {
        const double onLinks = links / rate;
        // Several NICs of a GPU are merged.
        const double nics =
            std::max(1.0, std::round(perServer * std::min(1.0, machine.nicsPerGpu)));
        const double nicRate = machine.nicRate * perServer / nics;
        const double onNics = oneServer ? onLinks : nics * std::floor(nicRate / rate + 1e-9);
        return static_cast<uint32_t>(std::min({onLinks + 1e-9, onNics, double{kMost}}));
    };
    NcclChannels best;
    for (const double rate : rates)
    {
        const uint32_t count = countAt(rate);
        if (best.count > 0 && rate / best.between <= 0.49)
        {
            break;
        }
        if (count * rate > best.count * best.between)
        {
            best = {count, rate, rate};
        }
    }
    if (best.count == 0)
    {
        best = {1, std::min(links, machine.nicRate), machine.nicRate};
    }
    if (IsNvls(kind))
    {
        // As many as GPUs of a server, each with its share of the links.
        best.count = perServer;
        best.inside = machine.linkRate / perServer;
        best.between = oneServer ? best.inside : std::min(machine.nicRate, rates.front());
        return best;
    }
    if (IsCollnet(kind))
    {
        // Where switches reduce, a server sends half as much between servers as inside. The direct
        // algorithm has no chains on the links.
        const double most = kind == NcclKind::CollnetDirect
                                ? 2 * best.between
                                : std::min(2 * best.between, links / best.count);
        const auto rate =
            std::find_if(rates.begin(), rates.end(), [most](double one) { return one <= most; });
        best.inside = rate == rates.end() ? best.inside : *rate;
    }
    const bool newer = machine.architecture->column > 0;
    const uint32_t most = kind == NcclKind::CollnetDirect ? perServer // one for each GPU
                          : kind == NcclKind::CollnetChain
                              ? ChannelsOf(machine, NcclKind::Ring).count
                              : kMost;
    const uint32_t twice = std::max(best.count, std::min(2 * best.count, most));
    if (best.inside >= 25 && !(newer && best.inside < 50 && best.count > 4) && twice > best.count)
    {
        best.count = twice;
        best.inside /= 2;
        best.between /= 2;
    }
    if (kind == NcclKind::Tree && !oneServer)
    {
        // Trees over two servers send half as much between them as inside.
        best.inside = std::min(2 * best.between, links / best.count);
    }
    return best;
}

NcclStep
NcclStepOf(NcclKind kind, NcclProtocol protocol)
{
    const auto row = static_cast<size_t>(kind);
    const auto us = [](double value) { return Duration::Seconds(value * 1e-6); };
    return {us(g_inside[row][protocol->column]), us(g_between[row][protocol->column])};
}

Duration
NcclBase(NcclKind kind, NcclProtocol protocol)
{
    return Duration::Seconds(g_base[static_cast<size_t>(kind)][protocol->column] * 1e-6);
}

namespace
{

constexpr uint32_t kLl = 0;
constexpr uint32_t kLl128 = 1;
constexpr uint32_t kSimple = 2;

bool
Runs(const NcclMachine& machine, CollectiveOp op, NcclKind kind, uint32_t protocol)
{
    const bool reduces = op == CollectiveOp::AllReduce;
    const uint32_t perServer = machine.PerServer();
    const bool several = machine.servers > 1;
    switch (kind)
    {
    case NcclKind::Ring:
        return true;
    case NcclKind::Tree:
        return reduces;
    case NcclKind::CollnetDirect:
        return reduces && protocol == kSimple && machine.collnet && several && perServer > 1 &&
               perServer <= kMostOfCollnet;
    case NcclKind::CollnetChain:
        return reduces && protocol == kSimple && machine.collnet && several &&
               perServer <= kMostOfCollnet;
    case NcclKind::Nvls:
        return reduces && protocol == kSimple && machine.reduces && perServer > 4 &&
               (!several || machine.collnet);
    case NcclKind::NvlsTree:
        return reduces && protocol == kSimple && machine.reduces && perServer > 4 && several;
    case NcclKind::Pat:
        return !reduces && protocol == kSimple && several && perServer == 1;
    }
    return false;
}

double
LatencyUs(const NcclMachine& machine, CollectiveOp op, NcclKind kind, uint32_t protocol)
{
    const auto row = static_cast<size_t>(kind);
    const double n = machine.ranks;
    const double servers = machine.servers;
    const double perServer = machine.PerServer();
    const bool several = machine.servers > 1;
    const double rounds = op == CollectiveOp::AllReduce ? 2 : 1;
    const double inside = g_inside[row][protocol];
    const double between = perServer == 1 ? g_between[static_cast<size_t>(NcclKind::Tree)][protocol]
                                          : g_between[row][protocol];
    double us = g_base[row][protocol];
    switch (kind)
    {
    case NcclKind::Ring: {
        const double each = machine.architecture->column == 0 ? kNetOverheadAmdUs : kNetOverheadUs;
        const double post = several ? each * (protocol == kSimple ? 3 : 1) : 0;
        const double stepsBetween = several ? rounds * (servers - 1) : 0;
        us += (rounds * (n - 1) - stepsBetween) * std::max(inside, post) + stepsBetween * between;
        break;
    }
    case NcclKind::Tree:
        us += 2 * ((perServer - 1) * inside + Log2(servers) * between);
        break;
    case NcclKind::CollnetDirect:
        us += 2 * (inside + (perServer - 1) * kArityUs) + between;
        break;
    case NcclKind::CollnetChain:
        us += 2 * (perServer - 1) * inside + between;
        break;
    case NcclKind::Nvls:
        us += inside + (several ? between : 0);
        break;
    case NcclKind::NvlsTree:
        us += inside + 2 * Log2(servers) * between;
        break;
    case NcclKind::Pat:
        us += Log2(servers) * between / 3.5 + n * 2.8;
        break;
    }
    return us;
}

/// S over the time that it takes beyond the latency, GB/s.
double
AlgorithmBandwidth(const NcclMachine& machine,
                   CollectiveOp op,
                   NcclKind kind,
                   uint32_t protocol,
                   const NcclChannels& channels)
{
    const uint32_t column = machine.architecture->column;
    const uint32_t which = std::min(machine.servers, 3U) - 1;
    const double count = channels.count;
    const double n = machine.ranks;
    double rate = machine.servers <= 2 || IsCollnet(kind) ? channels.inside : channels.between;
    if (kind == NcclKind::Ring || kind == NcclKind::Pat)
    {
        rate = machine.servers == 1 ? channels.inside : channels.between;
    }
    if (IsNvls(kind))
    {
        const bool tree = kind == NcclKind::NvlsTree;
        const double inside = channels.inside * g_nvlsEfficiency[column] * (count - 1) / count * 2;
        const double between = channels.between * (tree && machine.servers == 2 ? 2 : 1);
        rate = machine.servers > 1 ? std::min(inside, between) : inside;
        rate = tree ? std::min(rate, g_mostNvlsTree[column][which]) : rate;
    }
    double bus = count * rate;
    const double mostLl = machine.servers == 1 ? g_mostLl[column][which]
                          : column == 0        ? g_mostLl[0][which]
                                               : g_mostLlOther[which];
    if (kind == NcclKind::Ring && protocol == kLl)
    {
        bus = std::min(mostLl, bus / 2);
    }
    if (kind == NcclKind::Ring && protocol == kLl128)
    {
        bus = std::min(bus * 0.92, count * g_mostRingLl128[column]);
    }
    if (kind == NcclKind::Tree)
    {
        bus = std::min(bus * 0.92, count * g_mostTree[column][which]);
        if (protocol == kLl)
        {
            bus = std::min(bus / 3.8, mostLl);
        }
        if (protocol == kLl128)
        {
            bus = std::min(bus * (machine.servers == 1 ? 7.0 / 9.0 : 120.0 / 128.0),
                           count * g_mostTreeLl128[column][which]);
        }
    }
    if (kind == NcclKind::Pat)
    {
        bus *= 0.75;
    }
    if (kind == NcclKind::CollnetDirect)
    {
        const double shared = machine.PerServer() / count; // GPUs of a NIC
        bus *= (column > 0 ? 0.85 : 1.0) * 2 / (shared + 1);
    }
    if (kind == NcclKind::Tree || IsCollnet(kind))
    {
        return bus / 2;
    }
    return bus * n / ((op == CollectiveOp::AllReduce ? 2 : 1) * (n - 1));
}

/// As many as have enough to do: a number of bytes for each thread (topoGetAlgoInfo() in NCCL's
/// enqueue.cc).
uint32_t
BusyChannels(uint32_t channels, NcclKind kind, uint32_t protocol, uint32_t ranks, Bytes bytes)
{
    if (IsNvls(kind))
    {
        return channels;
    }
    if (IsCollnet(kind))
    {
        constexpr uint64_t kOfChannel = 640 * 512;
        const uint64_t heads = kind == NcclKind::CollnetDirect ? kMostOfCollnet : 1;
        return static_cast<uint32_t>(
            std::clamp<uint64_t>(bytes.Count() / (kOfChannel * heads), 1, channels));
    }
    constexpr ByProtocol<uint64_t> kThreads{512, 640, 512};
    constexpr ByProtocol<uint64_t> kBytes{8, 8, 64};
    const uint64_t each = kThreads[protocol] * kBytes[protocol] *
                          (kind == NcclKind::Ring && protocol == kLl ? ranks : 1);
    return static_cast<uint32_t>(std::clamp<uint64_t>(bytes.Count() / each, 1, channels));
}

/// Those of an algorithm before any bound, as NCCL lays them: it connects every channel of its
/// search twice, and has numbers of its own for the scale-up switch (transport/nvls.cc).
uint32_t
LaidChannels(const NcclMachine& machine, NcclKind kind, const NcclChannels& channels)
{
    if (IsNvls(kind))
    {
        return machine.architecture->column < 2 ? 16 : machine.servers == 1 ? 24 : 32;
    }
    return std::min(2 * channels.count, 32U);
}

} // namespace

std::optional<NcclChoice>
NcclTime(const NcclMachine& machine,
         CollectiveOp op,
         Bytes bytes,
         NcclKind kind,
         NcclProtocol protocol)
{
    const uint32_t column = protocol->column;
    if (machine.ranks < 2 || !Runs(machine, op, kind, column))
    {
        return std::nullopt;
    }
    const NcclChannels channels = ChannelsOf(machine, kind);
    NcclChoice choice;
    choice.kind = kind;
    choice.protocol = protocol;
    uint32_t count = LaidChannels(machine, kind, channels);
    choice.unbounded = BusyChannels(count, kind, column, machine.ranks, bytes);
    count = machine.mostChannels > 0 ? std::min(count, machine.mostChannels) : count;
    choice.channels = BusyChannels(count, kind, column, machine.ranks, bytes);
    if (machine.architecture->rccl)
    {
        return RcclTime(machine, op, bytes, channels, choice) ? std::optional(choice)
                                                              : std::nullopt;
    }
    choice.latencyUs = LatencyUs(machine, op, kind, column);
    choice.algbw = AlgorithmBandwidth(machine, op, kind, column, channels);
    const auto size = static_cast<double>(bytes.Count());
    double bandwidth = choice.algbw;
    double latency = choice.latencyUs;
    const bool corrected =
        kind == NcclKind::Tree || (kind == NcclKind::NvlsTree && machine.architecture->column == 2);
    if (corrected && size >= 64 && Log2(size / 64) < kCorrected - 1)
    {
        bandwidth *= g_treeCorrection[column][Log2(size / 64)];
    }
    if (kind == NcclKind::Ring && column == kSimple && machine.servers > 1 &&
        op == CollectiveOp::AllReduce && size / (channels.count * machine.ranks) >= 64)
    {
        latency *= 1.4; // rings reach their rate late
    }
    choice.us = latency + size / (1000 * bandwidth);
    return choice;
}

namespace
{

std::optional<NcclChoice>
FastestOf(const NcclMachine& machine,
          CollectiveOp op,
          Bytes bytes,
          NcclAlgorithm algorithm,
          NcclProtocol protocol)
{
    std::optional<NcclChoice> best;
    for (const NcclAlgorithmFacts* kind : NcclAlgorithm::Rows())
    {
        if (kind->chooses || (!algorithm->chooses && kind->kind != algorithm->kind))
        {
            continue;
        }
        for (const NcclProtocolFacts* one : NcclProtocol::Rows())
        {
            if (one->chooses || static_cast<int>(one->column) == protocol->without ||
                (!protocol->chooses && one->column != protocol->column))
            {
                continue;
            }
            const auto choice = NcclTime(machine, op, bytes, kind->kind, *one);
            if (choice && (!best || choice->us < best->us))
            {
                best = choice;
            }
        }
    }
    return best;
}

} // namespace

NcclChoice
NcclChoose(const NcclMachine& machine,
           CollectiveOp op,
           Bytes bytes,
           NcclAlgorithm algorithm,
           NcclProtocol protocol)
{
    const NcclAlgorithm anyAlgorithm = "auto";
    const NcclProtocol anyProtocol = "auto";
    for (const auto& [a, p] :
         {std::pair{algorithm, protocol}, {algorithm, anyProtocol}, {anyAlgorithm, protocol}})
    {
        if (const auto choice = FastestOf(machine, op, bytes, a, p))
        {
            return *choice;
        }
    }
    return *FastestOf(machine, op, bytes, anyAlgorithm, anyProtocol); // a ring at least
}

} // namespace scaleacross
