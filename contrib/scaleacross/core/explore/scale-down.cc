// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/scale-down.h"

#include "core/explore/fit-check.h"
#include "core/topology/rank-layout.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

namespace scaleacross
{

namespace
{

/// Rates that are the same but for rounding.
constexpr double kRounding = 1e-9;

std::vector<uint32_t>
DivisorsOf(uint32_t number)
{
    std::vector<uint32_t> divisors;
    for (uint32_t d = 1; uint64_t{d} * d <= number; d++)
    {
        if (number % d == 0)
        {
            divisors.push_back(d);
            if (d != number / d)
            {
                divisors.push_back(number / d);
            }
        }
    }
    std::sort(divisors.begin(), divisors.end());
    return divisors;
}

/// Whether of `count` things a `factor`-th is a whole number, and two where there are so many.
bool
Leaves(uint32_t count, uint32_t factor)
{
    return count % factor == 0 && count / factor >= std::min<uint32_t>(count, 2);
}

/// How a number of servers is divided.
struct ServerSplit
{
    uint32_t zones{1}; //!< factor of the zones
    uint32_t pods{1};  //!< of the pods of a zone
    uint32_t nodes{1}; //!< of the servers of a pod
};

std::optional<ServerSplit>
SplitServers(const BuildingSpec& building, uint32_t factor)
{
    const uint32_t nodes = building.NodesPerPod();
    const uint32_t pods = building.Nodes() / nodes;
    const uint32_t perZone = building.fabric.podsPerZone == 0 ? pods : building.fabric.podsPerZone;
    const std::vector<uint32_t> divisors = DivisorsOf(factor);
    // As many pods as possible, of these as many zones: what is left is as it was.
    for (auto taken = divisors.rbegin(); taken != divisors.rend(); ++taken)
    {
        for (auto zones = taken; zones != divisors.rend(); ++zones)
        {
            const bool whole = *taken % *zones == 0 && Leaves(pods / perZone, *zones) &&
                               Leaves(perZone, *taken / *zones) && nodes % (factor / *taken) == 0;
            if (whole)
            {
                return ServerSplit{*zones, *taken / *zones, factor / *taken};
            }
        }
    }
    return std::nullopt;
}

BitRate
PortRate(const BuildingSpec& building)
{
    return building.gpu.nicRate / static_cast<double>(building.fabric.PortsPerNic());
}

/// Of a leaf to one of its spines.
BitRate
LeafUplink(const BuildingSpec& building)
{
    const FabricSpec& fabric = building.fabric;
    const uint32_t ports = building.NodesPerPod() * (fabric.rails ? 1 : building.gpusPerNode);
    return PortRate(building) * static_cast<double>(ports) /
           (fabric.oversubscription * fabric.spines);
}

/// Of a spine to an aggregation switch. Domain: there are such.
BitRate
SpineUplink(const BuildingSpec& building)
{
    const FabricSpec& fabric = building.fabric;
    const uint32_t pods = building.Nodes() / building.NodesPerPod();
    const uint32_t perZone = fabric.podsPerZone == 0 ? pods : fabric.podsPerZone;
    const uint32_t leaves = perZone * (fabric.rails ? building.gpusPerNode : 1);
    return LeafUplink(building) * static_cast<double>(leaves) /
           (fabric.zoneOversubscription * fabric.aggregations);
}

/// Of one of the links that make up a span.
BitRate
SpanLink(const ClusterSpec& cluster, const CrossLinkSpec& span)
{
    return span.capacity / (static_cast<double>(cluster.TopSwitches()) * span.lanes);
}

/// The slower port of the NICs at its ends; of hubs alone that of the first building.
BitRate
PortRate(const ClusterSpec& cluster, const CrossLinkSpec& span)
{
    std::optional<BitRate> slowest;
    for (const uint32_t site : {span.a, span.b})
    {
        if (site < cluster.buildings.size())
        {
            const BitRate rate = PortRate(cluster.buildings[site]);
            slowest = slowest ? std::min(*slowest, rate) : rate;
        }
    }
    return slowest.value_or(PortRate(cluster.buildings.front()));
}

/// How far a rate moves in octaves; nothing: it falls below what a port fills.
std::optional<double>
Moved(BitRate before, BitRate after, BitRate port)
{
    const double least = std::min(before.Value(), port.Value()) * (1 - kRounding);
    if (after.Value() < least)
    {
        return std::nullopt;
    }
    return std::abs(std::log2(after.Value() / before.Value()));
}

void
AddMoved(std::optional<double>& sum, std::optional<double> moved)
{
    sum = sum && moved ? std::optional<double>(*sum + *moved) : std::nullopt;
}

/// A building whose servers are divided, with fewer switches too; nothing: links become too slow.
std::optional<double>
MovedInside(const BuildingSpec& whole, const BuildingSpec& part)
{
    std::optional<double> moved = 0;
    AddMoved(moved, Moved(LeafUplink(whole), LeafUplink(part), PortRate(whole)));
    if (whole.fabric.aggregations > 0)
    {
        AddMoved(moved, Moved(SpineUplink(whole), SpineUplink(part), PortRate(whole)));
    }
    return moved;
}

/// The building with a part of its top switches, and below them as many spines as move rates least.
std::optional<double>
DivideSwitches(const BuildingSpec& whole, uint32_t factor, uint32_t tops, BuildingSpec& part)
{
    if (whole.fabric.aggregations == 0)
    {
        part.fabric.spines = whole.fabric.spines / tops;
        return MovedInside(whole, part);
    }
    part.fabric.aggregations = whole.fabric.aggregations / tops;
    std::optional<double> least;
    uint32_t best = 1;
    for (const uint32_t spines : DivisorsOf(factor))
    {
        if (Leaves(whole.fabric.spines, spines))
        {
            part.fabric.spines = whole.fabric.spines / spines;
            const auto moved = MovedInside(whole, part);
            if (moved && (!least || *moved < *least - kRounding))
            {
                least = moved;
                best = spines;
            }
        }
    }
    part.fabric.spines = whole.fabric.spines / best;
    return least;
}

/// The span with as many lanes as move its rates least. Domain: `part` has its top switches.
std::optional<double>
DivideLanes(const ClusterSpec& whole, uint32_t factor, size_t number, ClusterSpec& part)
{
    const CrossLinkSpec& before = whole.crossLinks[number];
    CrossLinkSpec& after = part.crossLinks[number];
    std::optional<double> least;
    uint32_t best = 1;
    for (const uint32_t lanes : DivisorsOf(factor))
    {
        if (before.lanes % lanes == 0)
        {
            after.lanes = before.lanes / lanes;
            const auto moved =
                Moved(SpanLink(whole, before), SpanLink(part, after), PortRate(whole, before));
            if (moved && (!least || *moved < *least - kRounding))
            {
                least = moved;
                best = lanes;
            }
        }
    }
    after.lanes = before.lanes / best;
    return least;
}

/// The cluster with a part of the top switches of every site, and what its rates move.
std::optional<double>
DivideTops(const ClusterSpec& whole, uint32_t factor, uint32_t tops, ClusterSpec& part)
{
    std::optional<double> moved = 0;
    for (size_t b = 0; b < whole.buildings.size(); b++)
    {
        AddMoved(moved, DivideSwitches(whole.buildings[b], factor, tops, part.buildings[b]));
    }
    for (size_t s = 0; moved && s < whole.crossLinks.size(); s++)
    {
        AddMoved(moved, DivideLanes(whole, factor, s, part));
    }
    return moved;
}

bool
TopsDivide(const ClusterSpec& cluster, uint32_t tops)
{
    return std::all_of(
        cluster.buildings.begin(),
        cluster.buildings.end(),
        [tops](const BuildingSpec& building) {
            const FabricSpec& fabric = building.fabric;
            return Leaves(fabric.aggregations == 0 ? fabric.spines : fabric.aggregations, tops);
        });
}

/// What of a cluster is in the way of a factor, or the cluster.
std::variant<ClusterSpec, std::string>
DivideCluster(const ClusterSpec& whole, uint32_t factor)
{
    ClusterSpec part = whole;
    for (BuildingSpec& building : part.buildings)
    {
        const auto split = building.Nodes() % factor == 0 ? SplitServers(building, factor)
                                                          : std::optional<ServerSplit>();
        if (!split)
        {
            return "the " + std::to_string(building.Nodes()) + " servers of " + building.name +
                   ", " + std::to_string(building.NodesPerPod()) +
                   " to a pod, have no such part of whole pods, two of them where there are so "
                   "many";
        }
        building.gpus /= factor;
        FabricSpec& fabric = building.fabric;
        fabric.nodesPerPod /= split->nodes;
        fabric.podsPerZone /= split->pods;
    }
    for (CrossLinkSpec& span : part.crossLinks)
    {
        span.capacity = span.capacity / static_cast<double>(factor);
    }
    std::optional<double> least;
    ClusterSpec best;
    for (const uint32_t tops : DivisorsOf(factor))
    {
        if (TopsDivide(whole, tops))
        {
            ClusterSpec made = part;
            const auto moved = DivideTops(whole, factor, tops, made);
            if (moved && (!least || *moved < *least - kRounding))
            {
                least = moved;
                best = std::move(made);
            }
        }
    }
    if (!least)
    {
        return std::string("links would be slower than they were, and than a NIC's port");
    }
    return best;
}

/// Whether each kind of group reaches as far as it did: into a server, a building, several of them.
bool
ReachAsFar(const RankLayout& whole, const RankLayout& part)
{
    const auto families = whole.Families();
    for (size_t i = 0; i < families.size(); i++)
    {
        const auto reach = [i](const RankLayout& layout) {
            const RankGroup& group = *layout.Families()[i];
            const auto inBuilding = group.SplitAt(layout.buildingSpan);
            const auto inServer = inBuilding.inner.SplitAt(layout.gpusPerNode);
            return std::array<bool, 3>{inServer.inner.Size() > 1,
                                       inServer.outer.Size() > 1,
                                       inBuilding.outer.Size() > 1};
        };
        if (reach(whole) != reach(part))
        {
            return false;
        }
    }
    return true;
}

Infeasible
NoPart(uint32_t factor, const std::string& why)
{
    return {"scale", "by 1/" + std::to_string(factor) + ": " + why};
}

/// Factors that all buildings' servers have in common, of which one leaves few enough GPUs.
std::vector<uint32_t>
FactorsOf(const ClusterSpec& cluster, uint32_t most)
{
    uint32_t common = 0;
    for (const BuildingSpec& building : cluster.buildings)
    {
        common = std::gcd(common, building.Nodes());
    }
    std::vector<uint32_t> factors;
    for (const uint32_t factor : DivisorsOf(common))
    {
        if (factor > 1 && cluster.Gpus() / factor <= most)
        {
            factors.push_back(factor);
        }
    }
    return factors;
}

template <class Owner>
void
AddDifferences(const std::string& path,
               const FieldTable<Owner>& fields,
               const Owner& whole,
               const Owner& part,
               std::vector<ScaledSetting>& settings)
{
    for (const auto& field : fields)
    {
        if (!field.equal(whole, part))
        {
            settings.push_back({path + field.key, field.get(whole), field.get(part)});
        }
    }
}

void
AddRate(const std::string& what, BitRate from, BitRate to, std::vector<ScaledSetting>& settings)
{
    if (std::abs(to.Value() / from.Value() - 1) > kRounding)
    {
        settings.push_back({what, ToString(from), ToString(to)});
    }
}

bool
AreEqual(const std::vector<ScaledSetting>& a, const std::vector<ScaledSetting>& b)
{
    return std::equal(a.begin(),
                      a.end(),
                      b.begin(),
                      b.end(),
                      [](const ScaledSetting& x, const ScaledSetting& y) {
                          return x.key == y.key && x.from == y.from && x.to == y.to;
                      });
}

/// Settings of several parts: once where they are the same in all, else with the parts' names.
void
AddParts(const std::vector<std::pair<std::string, std::vector<ScaledSetting>>>& parts,
         const std::string& path,
         std::vector<ScaledSetting>& settings)
{
    const bool alike = std::all_of(parts.begin(), parts.end(), [&parts](const auto& part) {
        return AreEqual(part.second, parts.front().second);
    });
    for (const auto& part : parts)
    {
        if (alike && &part != &parts.front())
        {
            break;
        }
        for (ScaledSetting setting : part.second)
        {
            const bool words = setting.key.find(' ') != std::string::npos;
            setting.key = words ? setting.key + (alike ? "" : " of " + part.first)
                                : path + (alike ? "" : part.first + ".") + setting.key;
            settings.push_back(std::move(setting));
        }
    }
}

} // namespace

std::vector<uint32_t>
ScaleFactors(const Scenario& scenario, uint32_t most)
{
    const ClusterSpec& cluster = scenario.cluster;
    if (!scenario.events.empty())
    {
        throw ConfigError("events",
                          std::to_string(scenario.events.size()) +
                              " of them, which name links and switches that a smaller cluster may "
                              "not have",
                          "none in what is scaled down",
                          "leave them out, or do not scale down");
    }
    for (size_t b = 0; b < cluster.buildings.size(); b++)
    {
        const Shape& shape = cluster.buildings[b].fabric.shape;
        if (shape->detours)
        {
            throw ConfigError("cluster.buildings." + std::to_string(b) + ".fabric.shape",
                              "the links of a " + ToString(shape) +
                                  " grow with the square of its leaves, so that no part of it has "
                                  "the same ratios and rates",
                              "clos in what is scaled down",
                              "do not scale down, or compare without packets");
        }
    }
    std::vector<uint32_t> factors;
    std::string why;
    for (const uint32_t factor : FactorsOf(cluster, most))
    {
        const auto part = DivideCluster(cluster, factor);
        if (const auto* no = std::get_if<std::string>(&part))
        {
            why = why.empty() ? "; 1/" + std::to_string(factor) + ": " + *no : why;
            continue;
        }
        factors.push_back(factor);
    }
    if (factors.empty())
    {
        throw ConfigError("cluster",
                          "no part of its " + std::to_string(cluster.Gpus()) + " GPUs has " +
                              std::to_string(most) + " or fewer" + why,
                          "numbers of servers, servers per pod and pods with a factor in common",
                          "change them, or do not scale down");
    }
    return factors;
}

std::variant<Scenario, Infeasible>
ScaleDown(const Scenario& scenario, uint32_t factor)
{
    const auto cluster = DivideCluster(scenario.cluster, factor);
    if (const auto* no = std::get_if<std::string>(&cluster))
    {
        return NoPart(factor, *no);
    }
    const auto whole = LayOut(scenario.Job().plan, scenario.cluster);
    if (const auto* no = std::get_if<Infeasible>(&whole))
    {
        return *no;
    }
    Scenario part = scenario;
    part.cluster = std::get<ClusterSpec>(cluster);
    JobSpec& job = part.Job();
    if (job.plan.dp % factor != 0 || job.workload.globalBatch % factor != 0)
    {
        return NoPart(factor,
                      "it divides dp " + std::to_string(job.plan.dp) + " and global_batch " +
                          std::to_string(job.workload.globalBatch) + " not both");
    }
    job.plan.dp /= factor;
    job.workload.globalBatch /= factor;
    job.workload.memoryLimit = false;
    try
    {
        part.Validate();
    }
    catch (const ConfigError& error)
    {
        return NoPart(factor, error.Where() + ": " + error.Problem());
    }
    if (const auto no = CheckFit(part))
    {
        return NoPart(factor, no->detail);
    }
    const auto layout = LayOut(job.plan, part.cluster);
    if (!ReachAsFar(std::get<RankLayout>(whole), std::get<RankLayout>(layout)))
    {
        return NoPart(factor,
                      "dp " + std::to_string(job.plan.dp) +
                          " leaves a group without others in its server or building, or in other "
                          "buildings");
    }
    return part;
}

std::vector<ScaledSetting>
ScaledSettings(const Scenario& whole, const Scenario& part)
{
    std::vector<ScaledSetting> settings;
    AddDifferences("workload.",
                   WorkloadSpec::Fields(),
                   whole.Job().workload,
                   part.Job().workload,
                   settings);
    std::vector<std::pair<std::string, std::vector<ScaledSetting>>> buildings;
    for (size_t b = 0; b < whole.cluster.buildings.size(); b++)
    {
        const BuildingSpec& from = whole.cluster.buildings[b];
        const BuildingSpec& to = part.cluster.buildings[b];
        std::vector<ScaledSetting> of;
        AddDifferences("", BuildingSpec::Fields(), from, to, of);
        AddDifferences("fabric.", FabricSpec::Fields(), from.fabric, to.fabric, of);
        AddRate("rate of leaf uplinks", LeafUplink(from), LeafUplink(to), of);
        if (from.fabric.aggregations > 0)
        {
            AddRate("rate of spine uplinks", SpineUplink(from), SpineUplink(to), of);
        }
        buildings.emplace_back(from.name, std::move(of));
    }
    AddParts(buildings, "cluster.buildings.", settings);
    std::vector<std::pair<std::string, std::vector<ScaledSetting>>> spans;
    for (size_t s = 0; s < whole.cluster.crossLinks.size(); s++)
    {
        const CrossLinkSpec& from = whole.cluster.crossLinks[s];
        const CrossLinkSpec& to = part.cluster.crossLinks[s];
        std::vector<ScaledSetting> of;
        AddDifferences("", CrossLinkSpec::Fields(), from, to, of);
        AddRate("rate of span links",
                SpanLink(whole.cluster, from),
                SpanLink(part.cluster, to),
                of);
        spans.emplace_back(whole.cluster.SiteName(from.a) + "-" + whole.cluster.SiteName(from.b),
                           std::move(of));
    }
    AddParts(spans, "cluster.cross.", settings);
    const Plan from{whole.Job().plan, whole.network};
    const Plan to{part.Job().plan, part.network};
    AddDifferences("", PlanFields(), from, to, settings);
    return settings;
}

std::string
ToString(const std::vector<ScaledSetting>& settings)
{
    std::string text;
    for (const ScaledSetting& setting : settings)
    {
        text += (text.empty() ? "" : ", ") + setting.key + " " + setting.from + " to " + setting.to;
    }
    return text;
}

uint32_t
ScaleFactorFor(const Scenario& scenario, const std::vector<Plan>& plans, uint32_t most)
{
    uint32_t best = 0;
    size_t parts = 0;
    for (const uint32_t factor : ScaleFactors(scenario, most))
    {
        size_t here = 0;
        for (const Plan& plan : plans)
        {
            Scenario one = scenario;
            one.Job().plan = plan.parallel;
            one.network = plan.network;
            here += std::holds_alternative<Scenario>(ScaleDown(one, factor)) ? 1 : 0;
        }
        if (best == 0 || here > parts)
        {
            best = factor;
            parts = here;
        }
        if (here == plans.size())
        {
            break;
        }
    }
    return best;
}

} // namespace scaleacross
