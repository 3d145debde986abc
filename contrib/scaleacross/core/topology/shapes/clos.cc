// SPDX-License-Identifier: GPL-2.0-only

#include "core/topology/shapes/registry.h"

namespace scaleacross
{

namespace
{

/// Leaves below spines; with aggregation switches, zones of them below those.
class Clos : public FabricShape
{
  public:
    explicit Clos(const BuildingSpec& building)
        : FabricShape(building),
          m_podsPerZone(Fabric().podsPerZone == 0 ? Pods() : Fabric().podsPerZone),
          m_zones(Pods() / m_podsPerZone)
    {
        const FabricSpec& fabric = Fabric();
        AddLeafCut(Tier::Zone);
        if (!HasZones())
        {
            return;
        }
        const uint32_t leavesBelow = m_podsPerZone * LeavesPerPod() * Ports() / Planes();
        m_zoneUplinkRate = UplinkRate() * static_cast<double>(leavesBelow) /
                           (fabric.zoneOversubscription * fabric.aggregations);
        ShapeCut zone;
        zone.name = "zone";
        zone.links = Planes() * fabric.spines * fabric.aggregations;
        zone.byPlane = true;
        zone.rate = m_zoneUplinkRate;
        zone.delay = fabric.aggregationDelay;
        zone.nearest = Tier::Building;
        AddCut(zone);
        AddBoundary(Pod() * m_podsPerZone);
    }

    SwitchCounts Switches() const override
    {
        return {Ports() * Leaves(),
                Planes() * m_zones * Fabric().spines,
                Planes() * Fabric().aggregations};
    }

    std::vector<ShapeLink> Links() const override
    {
        const FabricSpec& fabric = Fabric();
        std::vector<ShapeLink> links = LinksToSpines(m_zones);
        for (uint32_t spine = 0; spine < Planes() * m_zones * fabric.spines; spine++)
        {
            const uint32_t plane = spine / (m_zones * fabric.spines);
            for (uint32_t i = 0; i < fabric.aggregations; i++)
            {
                links.push_back({VertexKind::Spine,
                                 spine,
                                 VertexKind::Aggregation,
                                 plane * fabric.aggregations + i,
                                 m_zoneUplinkRate,
                                 fabric.aggregationDelay});
            }
        }
        return links;
    }

    uint32_t SwitchOf(uint32_t level, uint32_t gpu) const override
    {
        return level == 0 ? LeafOf(gpu) : ZoneOf(gpu);
    }

    std::vector<CutSide> SidesOf(const Vertex& from, const Vertex& to) const override
    {
        const bool up = from.kind < to.kind;
        const Vertex& lower = up ? from : to;
        if (lower.kind == VertexKind::Leaf)
        {
            return {LeafSide(0, up, lower, up ? to : from)};
        }
        // Both a spine on the way up and an aggregation switch on the way down spread over theirs.
        const uint32_t group = lower.index / Fabric().spines;
        return {{1, up, group / m_zones, group % m_zones, from.index}};
    }

    std::string NameOf(const CutSide& side, const std::string& site) const override
    {
        if (side.level == 0)
        {
            return FabricShape::NameOf(side, site);
        }
        return "zone " + std::to_string(side.which) + " of " + site +
               (Planes() == 1 ? "" : " in fabric plane " + std::to_string(side.part));
    }

    Climb ToTop() const override
    {
        Climb climb = FabricShape::ToTop();
        if (HasZones())
        {
            climb.propagation += Fabric().aggregationDelay;
            climb.rates.push_back(m_zoneUplinkRate);
            climb.up *= Fabric().aggregations;
            climb.down = Fabric().spines;
        }
        return climb;
    }

  private:
    bool HasZones() const
    {
        return Fabric().aggregations > 0;
    }

    uint32_t ZoneOf(uint32_t gpu) const
    {
        return gpu / Pod() / m_podsPerZone;
    }

    Tier TierAbove(uint32_t gpuA, uint32_t gpuB) const override
    {
        return HasZones() && ZoneOf(gpuA) == ZoneOf(gpuB) ? Tier::Zone : Tier::Building;
    }

    FabricPath Above(Tier tier) const override
    {
        const FabricSpec& fabric = Fabric();
        FabricPath path;
        path.propagation = fabric.leafDelay * 2;
        path.rates = {UplinkRate(), UplinkRate()};
        path.paths = fabric.spines;
        if (tier == Tier::Building && HasZones())
        {
            path.propagation += fabric.aggregationDelay * 2;
            path.rates = {UplinkRate(), m_zoneUplinkRate, m_zoneUplinkRate, UplinkRate()};
            path.paths = ToTop().up * ToTop().down;
        }
        path.least = path.propagation;
        return path;
    }

    uint32_t m_podsPerZone;
    uint32_t m_zones;         //!< 1 where there are two stages
    BitRate m_zoneUplinkRate; //!< one spine to one aggregation switch
};

} // namespace

std::shared_ptr<const FabricShape>
MakeClos(const BuildingSpec& building)
{
    return std::make_shared<const Clos>(building);
}

} // namespace scaleacross
