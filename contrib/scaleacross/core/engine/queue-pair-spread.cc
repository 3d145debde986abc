// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/queue-pair-spread.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

namespace scaleacross
{

namespace
{

/// Beyond so many queue pairs it makes no difference with which one a message begins.
constexpr uint32_t g_mostTurns = 64;

/**
 * What each queue pair carries of `messages` messages in a row, in segments: each has `whole`
 * segments and one more of which `rest` is there, and the turn goes on from one to the next.
 */
std::vector<double>
LoadsOf(uint64_t messages, uint64_t whole, double rest, uint32_t pairs)
{
    const uint64_t segments = whole + 1;
    std::vector<double> loads(pairs);
    const auto add = [&](uint64_t count, double times) {
        for (uint64_t i = 0; i < count; i++)
        {
            const uint64_t begin = i * segments % pairs;
            for (uint64_t j = 0; j < whole % pairs; j++)
            {
                loads[(begin + j) % pairs] += times;
            }
            loads[(begin + whole) % pairs] += rest * times;
        }
        for (double& load : loads)
        {
            load += static_cast<double>(whole / pairs) * static_cast<double>(count) * times;
        }
    };
    // After that many it begins anew.
    const uint64_t turn = pairs / std::gcd<uint64_t>(segments, pairs);
    if (messages >= turn)
    {
        add(turn, static_cast<double>(messages / turn));
    }
    add(messages % turn, 1.0);
    return loads;
}

/// The most that one of `parts` equal parts of the ports carries, in the mean over the queue pairs
/// that may be the first, if it is not always the same one.
double
FullestPart(const std::vector<double>& loads, uint32_t ports, uint32_t parts, bool sameFirst)
{
    const auto pairs = static_cast<uint32_t>(loads.size());
    // Where every port has as many queue pairs, another first one only exchanges the ports; where
    // parts have several ports it may not.
    const bool alike = pairs % ports == 0 && parts == ports;
    const uint32_t turns = alike || sameFirst || pairs > g_mostTurns ? 1 : pairs;
    double sum = 0;
    std::vector<double> carried(parts);
    for (uint32_t first = 0; first < turns; first++)
    {
        std::fill(carried.begin(), carried.end(), 0.0);
        for (uint32_t i = 0; i < pairs; i++)
        {
            carried[(first + i) % pairs % ports / (ports / parts)] += loads[i];
        }
        sum += *std::max_element(carried.begin(), carried.end());
    }
    return sum / turns;
}

} // namespace

QueuePairSpread
SpreadOver(const QueuePairUse& use, const FabricShape& shape, double messages, double messageBytes)
{
    const bool splits = use.balance->splits;
    const auto packet = static_cast<double>(use.mtu.Count());
    const double packets = std::max(1.0, std::ceil(messageBytes / packet));
    const double size =
        splits ? std::ceil(packets / use.qps) * packet : static_cast<double>(use.segment.Count());
    const double segments = std::max(1.0, std::ceil(messageBytes / size));
    const double used = splits ? segments : std::min(messages * segments, double{1} * use.qps);
    const double writes = std::floor(messageBytes / size);
    const double beside = splits ? 1.0 : use.qps / std::min(segments, double{1} * use.qps);
    if (shape.Ports() == 1)
    {
        return {used, 1.0, 1.0, beside, writes, size};
    }
    const double rest = messageBytes <= 0 ? 1.0 : (messageBytes - (segments - 1) * size) / size;
    const auto loads = LoadsOf(splits ? 1 : std::max<uint64_t>(1, static_cast<uint64_t>(messages)),
                               static_cast<uint64_t>(segments) - 1,
                               rest,
                               use.qps);
    const double all = std::accumulate(loads.begin(), loads.end(), 0.0);
    const auto share = [&](uint32_t parts) {
        return parts == 1 ? 1.0 : all / (parts * FullestPart(loads, shape.Ports(), parts, splits));
    };
    return {used, share(shape.Ports()), share(shape.Planes()), beside, writes, size};
}

} // namespace scaleacross
