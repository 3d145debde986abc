// SPDX-License-Identifier: GPL-2.0-only

#include "fabric-classes.h"

#include "attribute-setter.h"
#include "fabric-helper.h"

#include "ns3/fabric-packet.h"
#include "ns3/string.h"
#include "ns3/uinteger.h"
#include "ns3/weighted-turns.h"

#include <numeric>

namespace ns3
{

using scaleacross::ClassWeights;
using scaleacross::kPriorities;
using scaleacross::kTrafficClasses;
using scaleacross::NetworkPlan;
using scaleacross::TrafficClasses;
using scaleacross::WeightedTurns;

namespace
{

std::string
TextOf(const WeightedTurns::Quanta& quanta)
{
    std::string text;
    for (const uint32_t bytes : quanta)
    {
        text += (text.empty() ? "" : ",") + std::to_string(bytes);
    }
    return text;
}

/// A full packet for the least weight, if weights are multiples of it; strict classes have none.
WeightedTurns::Quanta
QuantaOf(const NetworkPlan& network)
{
    ClassWeights weights = network.classes.weights;
    uint32_t divisor = 0;
    for (uint32_t c = 0; c < kTrafficClasses; c++)
    {
        weights[c] *= network.classes.Used() >> c & 1U;
        divisor = std::gcd(divisor, weights[c]);
    }
    const auto packet =
        static_cast<uint32_t>((network.mtu + network.Format().DataHeaders()).Count());
    WeightedTurns::Quanta quanta{};
    for (uint32_t c = 0; c < kTrafficClasses && divisor > 0; c++)
    {
        quanta[ClassPriority(c)] = weights[c] / divisor * packet;
    }
    return quanta;
}

/// The same beside trimmed headers and answers, which have their share of what data have.
WeightedTurns::Quanta
BesideTrimmed(const scaleacross::Trimming& trimming, const WeightedTurns::Quanta& data)
{
    const WeightedTurns::Quanta usual = WeightedTurns::Parse(trimming.quanta);
    const uint64_t dataBytes = std::accumulate(data.begin(), data.end(), uint64_t{0});
    const uint64_t usualData = usual[ClassPriority(1)]; // 3, the priority of all data else
    WeightedTurns::Quanta quanta = data;
    for (uint32_t priority = ClassPriority(kTrafficClasses); priority < kPriorities; priority++)
    {
        quanta[priority] = static_cast<uint32_t>(usual[priority] * dataBytes / usualData);
    }
    return quanta;
}

} // namespace

void
UseClasses(FabricHelper& fabric, const NetworkPlan& network, const std::set<std::string>& chosen)
{
    const TrafficClasses& classes = network.classes;
    if (classes.AreOne())
    {
        return;
    }
    const uint64_t priorities = uint64_t{classes.Used()} << ClassPriority(0);
    AttributeSetter set(fabric, chosen);
    set.Switch("LosslessPriorities", UintegerValue(priorities));
    if (network.control->marking)
    {
        set.Switch("EcnPriorities", UintegerValue(priorities));
    }
    const WeightedTurns::Quanta quanta = QuantaOf(network);
    if (quanta == WeightedTurns::Quanta{})
    {
        return;
    }
    set.Nic("Quanta", StringValue(TextOf(quanta)));
    const auto& trimming = network.transport->trimming;
    set.SwitchPort("Quanta",
                   StringValue(TextOf(trimming ? BesideTrimmed(*trimming, quanta) : quanta)));
}

void
UseClass(FabricHelper& fabric, const TrafficClasses& classes, uint32_t trafficClass)
{
    if (!classes.AreOne())
    {
        fabric.SetQueuePairAttribute("Priority", UintegerValue(ClassPriority(trafficClass)));
    }
}

} // namespace ns3
