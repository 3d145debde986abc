// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/multipath.h"

#include "core/base/word-registry.h"

namespace scaleacross
{

namespace
{

/// One path for every queue pair.
MultipathFacts
Path(const char* word, const char* help, const char* selector)
{
    return {{word, help}, selector};
}

/// Every packet on its own; the hash is for packets of other stacks.
MultipathFacts
Spray(const char* word, const char* help, const char* selector)
{
    MultipathFacts facts{{word, help}, selector};
    facts.order = PacketOrder::Sprayed;
    return facts;
}

std::vector<MultipathFacts>
Facts()
{
    MultipathFacts ecmp = Path("ecmp", "hash of the pair of NICs", "ns3::EcmpSelector");
    ecmp.owner = PathOwner::NicPair;
    ecmp.hashFields = "source,destination";

    MultipathFacts eEcmp = Path("e-ecmp", "hash that sees each queue pair", "ns3::EcmpSelector");
    eEcmp.usual = true;

    MultipathFacts ucmp =
        Path("ucmp", "that hash, weighted by the capacity of the ways", "ns3::WeightedSelector");
    ucmp.weightedRoutes = true;

    MultipathFacts flowlet = Path("flowlet",
                                  "a queue pair may move to another path after a pause",
                                  "ns3::FlowletSelector");
    flowlet.order = PacketOrder::KeptByPauses;

    const MultipathFacts random =
        Spray("spray-random", "every packet at random", "ns3::RandomSpraySelector");
    const MultipathFacts roundRobin =
        Spray("spray-rr", "every packet on the next port", "ns3::RoundRobinSpraySelector");

    MultipathFacts adaptive =
        Spray("spray-adaptive", "every packet where it waits least", "ns3::AdaptiveSpraySelector");
    adaptive.followsCapacity = true;

    MultipathFacts entropy =
        Spray("entropy-random",
              "every packet with a UDP source port of its own, drawn at random, to e-ecmp",
              "ns3::EcmpSelector");
    entropy.entropies = "ns3::RandomEntropy";

    MultipathFacts reps = Spray("reps",
                                "the same, with those ports again that came back unmarked",
                                "ns3::EcmpSelector");
    reps.entropies = "ns3::RecycledEntropy";
    // In proportion from a fifth to four fifths of what 8 us carry.
    reps.marking = Marking{"100Gbps", 20'000, 80'000, 1.0};

    MultipathFacts dModK = Path("d-mod-k",
                                "by the destination's address: one path per destination",
                                "ns3::DestinationModKSelector");
    dModK.owner = PathOwner::Destination;
    dModK.stageAttribute = "Divisor";

    return {ecmp, eEcmp, ucmp, flowlet, random, roundRobin, adaptive, entropy, reps, dModK};
}

} // namespace

template <>
const std::vector<const MultipathFacts*>&
Multipath::Rows()
{
    static const auto rows = PointersTo<MultipathFacts>(Facts());
    return rows;
}

template class Word<MultipathFacts>;

} // namespace scaleacross
