// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/difference.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

std::vector<FieldDifference>
FieldsThatDiffer(const Plan& plan, const Plan& other)
{
    std::vector<FieldDifference> differences;
    for (const PlanField& field : PlanFields())
    {
        const std::string value = field.get(plan);
        const std::string others = field.get(other);
        if (value != others)
        {
            differences.push_back({field.key, value, others});
        }
    }
    return differences;
}

std::vector<TimeChange>
TimeChanges(const RunReport& from, const RunReport& to)
{
    std::vector<TimeChange> changes;
    Duration remainder = to.iterationTime - from.iterationTime;
    const auto add = [&](const std::string& key, const std::string& name, Duration change) {
        changes.push_back({key, name, change});
        remainder -= change;
    };
    add("compute", "compute", to.computeTime - from.computeTime);
    add("bubble", "pipeline bubble", to.bubble - from.bubble);
    for (uint32_t c = 0; c < kCommClasses; c++)
    {
        const std::string comm = ToString(static_cast<CommClass>(c));
        add("exposed_" + comm,
            "exposed " + comm + " communication",
            to.classes[c].exposed - from.classes[c].exposed);
    }
    changes.push_back({"imbalance", "imbalance between ranks", remainder});
    return changes;
}

std::vector<TimeChange>
MainChanges(const RunReport& from, const RunReport& to)
{
    std::vector<TimeChange> changes = TimeChanges(from, to);
    std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) {
        return Magnitude(a.change) > Magnitude(b.change);
    });
    const Duration largest = Magnitude(changes.front().change);
    changes.erase(std::remove_if(changes.begin(),
                                 changes.end(),
                                 [largest, &from](const TimeChange& part) {
                                     return IsRounding(part.change, from.iterationTime) ||
                                            Magnitude(part.change) * 10 < largest;
                                 }),
                  changes.end());
    return changes;
}

bool
IsRounding(Duration difference, Duration iterationTime)
{
    constexpr int64_t kParts = 1'000'000'000;
    return Magnitude(difference) <=
           std::max(Duration::Nanoseconds(1), Magnitude(iterationTime) / kParts);
}

Duration
Magnitude(Duration value)
{
    return value < Duration() ? Duration() - value : value;
}

double
RelativeError(Duration time, Duration reference)
{
    if (reference.Ps() == 0)
    {
        return time.Ps() == 0 ? 0 : 1;
    }
    return static_cast<double>(time.Ps()) / static_cast<double>(reference.Ps()) - 1;
}

std::string
ReasonOfDifference(const ParallelPlan& plan, const RunReport& packet)
{
    const NetworkReport& counted = packet.network;
    std::string reason;
    const auto add = [&reason](bool applies, const char* name) {
        if (applies)
        {
            reason += (reason.empty() ? "" : "+") + std::string(name);
        }
    };
    add(counted.packetsDropped > 0 || counted.retransmissions > 0, "loss");
    add(counted.pauses > 0, "pause");
    add(counted.collisionFactor > 1 + kEngineTolerance, "collision");
    if (!reason.empty())
    {
        return reason;
    }
    // Tensor parallel traffic stays inside the server and meets nobody on the network.
    uint32_t kinds = 0;
    for (const CommClass comm :
         {CommClass::Context, CommClass::Expert, CommClass::Pipeline, CommClass::Data})
    {
        const bool sharded = comm == CommClass::Data && plan.sharding->optimizer;
        kinds += packet.Of(comm).bytes.Count() == 0 ? 0 : sharded ? 2 : 1;
    }
    return kinds > 1 ? "contention" : "unexplained";
}

bool
Differs(const ClassReport& part, const ClassReport& reference)
{
    return std::abs(RelativeError(part.busy, reference.busy)) > kEngineTolerance;
}

bool
DiffersSomewhere(const RunReport& report, const RunReport& reference)
{
    for (uint32_t c = 0; c < kCommClasses && report.KnowsBusy() && reference.KnowsBusy(); c++)
    {
        if (Differs(report.classes[c], reference.classes[c]))
        {
            return true;
        }
    }
    return std::abs(RelativeError(report.iterationTime, reference.iterationTime)) >
           kEngineTolerance;
}

} // namespace scaleacross
