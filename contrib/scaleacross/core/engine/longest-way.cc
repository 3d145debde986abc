// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/longest-way.h"

#include "core/topology/cluster-paths.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

Duration
LongestWayOfRing(const MessageModel& model,
                 const ClusterPaths& paths,
                 const Phase& phase,
                 Rank representative,
                 double message)
{
    // As many edges in a row as there are steps, either way round.
    const uint32_t n = phase.group.Size();
    const uint32_t steps = StepCount(phase);
    Duration longest;
    for (const bool forward : {true, false})
    {
        const auto edge = [&](uint32_t i) {
            const Rank a = phase.group.Member(representative, i % n);
            const Rank b = phase.group.Member(representative, (i + 1) % n);
            return model.StepLatency(phase,
                                     forward ? paths.Between(a, b) : paths.Between(b, a),
                                     message);
        };
        Duration way;
        for (uint32_t i = 0; i < n + steps; i++)
        {
            way += edge(i);
            way -= i >= steps ? edge(i - steps) : Duration();
            longest = std::max(longest, way);
        }
    }
    return longest;
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
        const double side =
            std::floor(model.QueuePairsAt(tier) / model.SpreadOf(1.0, message, tier).pairs);
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
