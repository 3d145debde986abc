// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/longest-way.h"

#include "core/topology/cluster-paths.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace scaleacross
{

Duration
LongestWayOfRing(const MessageModel& model,
                 const ClusterPaths& paths,
                 const Phase& phase,
                 Rank representative,
                 double message)
{
    const uint32_t n = phase.group.Size();
    const bool bothWays = StepsOf(phase).ChainOf() == Chain::TwoWays;
    const uint32_t inTurn = bothWays ? 1 : phase.inTurn;
    const uint64_t edges = uint64_t{StepCount(phase)} * inTurn;
    const uint64_t rest = edges % n; // beside whole rounds
    Duration longest;
    for (uint32_t direction = 0; direction < (bothWays ? 2 : 1); direction++)
    {
        std::vector<Duration> latencies;
        Duration round;
        for (uint32_t i = 0; i < n; i++)
        {
            const Rank a = phase.group.Member(representative, i);
            const Rank b = phase.group.Member(representative, (i + 1) % n);
            const FabricPath& path = direction == 0 ? paths.Between(a, b) : paths.Between(b, a);
            latencies.push_back(model.StepLatency(phase, path, message));
            round += latencies.back();
        }
        Duration way;
        Duration most;
        for (uint64_t i = 0; i < n + rest; i++)
        {
            way += latencies[i % n];
            way -= i >= rest ? latencies[(i - rest) % n] : Duration();
            most = std::max(most, way);
        }
        longest = std::max(longest, round * static_cast<int64_t>(edges / n) + most);
    }
    return longest / static_cast<int64_t>(inTurn);
}

Duration
LongestWayOfTree(const MessageModel& model,
                 const ClusterPaths& paths,
                 const Phase& phase,
                 Rank representative,
                 double message,
                 const TransferCost& volume,
                 bool inTurn)
{
    const uint32_t n = phase.group.Size();
    const double messages = TreeMessages(phase);
    const double node = std::max(volume.On(Port::ScaleUpOut), volume.On(Port::ScaleUpIn));
    const double nic = std::max({volume.least, volume.On(Port::NicOut), volume.On(Port::NicIn)});
    // Of messages that are sent at once and take turns on the queue pairs of a connection, all
    // arrive with the last; of such that come one by one, each before the next. So between one and
    // all of them pass before the next level has something to send: half.
    const auto passing = [&](Tier tier) {
        const double side = std::floor(model.SpreadOf(1.0, message, tier).beside);
        return (1.0 + std::clamp(side, 1.0, std::min<double>(TreeWindow(phase), messages))) / 2;
    };
    Duration longest;
    for (uint32_t tree = 0; tree < 2; tree++)
    {
        for (uint32_t i = 0; i < n; i++)
        {
            Duration way; // up from a member, and down to it
            uint32_t from = i;
            for (TreePlace place = PlaceInTree(tree, i, n); place.parent != TreePlace::kNone;
                 place = PlaceInTree(tree, from, n))
            {
                const Rank a = phase.group.Member(representative, from);
                const Rank b = phase.group.Member(representative, place.parent);
                const FabricPath& up = paths.Between(a, b);
                way += model.StepLatency(phase, up, message) +
                       model.StepLatency(phase, paths.Between(b, a), message);
                const double passed =
                    up.tier == Tier::Node ? node : nic * (inTurn ? 1.0 : passing(up.tier));
                way += Duration::Seconds(from == i ? 0.0 : passed / messages);
                from = place.parent;
            }
            longest = std::max(longest, way);
        }
    }
    return longest;
}

} // namespace scaleacross
