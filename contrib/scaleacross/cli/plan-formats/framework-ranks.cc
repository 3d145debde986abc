// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/framework-ranks.h"

#include "core/topology/rank-digits.h"

#include <algorithm>
#include <fmt/core.h>
#include <unordered_map>
#include <variant>

namespace scaleacross
{

namespace
{

/// What a framework numbers the rank on each GPU by.
struct Place
{
    uint32_t tensor;
    uint32_t context;
    uint32_t data;
    uint32_t stage;
};

/// A number for the group of each GPU, in some family of groups.
using GroupNumbers = std::vector<uint64_t>;

/// Whether the same GPUs are together in both.
bool
AreSame(const GroupNumbers& a, const GroupNumbers& b)
{
    std::unordered_map<uint64_t, uint64_t> bOfA;
    std::unordered_map<uint64_t, uint64_t> aOfB;
    for (size_t gpu = 0; gpu < a.size(); gpu++)
    {
        if (bOfA.emplace(a[gpu], b[gpu]).first->second != b[gpu] ||
            aOfB.emplace(b[gpu], a[gpu]).first->second != a[gpu])
        {
            return false;
        }
    }
    return true;
}

template <class NumberOf>
GroupNumbers
Numbers(const PlannedJob& job, NumberOf numberOf)
{
    GroupNumbers numbers(job.layout.ranks);
    for (Rank gpu = 0; gpu < job.layout.ranks; gpu++)
    {
        numbers[gpu] = numberOf(gpu);
    }
    return numbers;
}

/// Tries numberings of a plan's ranks by a framework.
class Numbering
{
  public:
    Numbering(const PlannedJob& job, uint32_t shardMembers)
        : m_job(job),
          m_plan(job.plan.parallel),
          m_shardMembers(shardMembers)
    {
    }

    std::optional<FrameworkRanks> Find(const std::vector<FrameworkOrder>& orders) const
    {
        std::optional<FrameworkRanks> found;
        // Members of a data-parallel group in the order of GPUs; or those that share experts beside
        // each other, wherever they are.
        for (const bool expertsFirst : {false, true})
        {
            const auto places = PlacesOf(expertsFirst);
            if (!places || !HasGroups(*places))
            {
                continue;
            }
            for (const FrameworkOrder order : orders)
            {
                FrameworkRanks ranks = Placed(*places, order);
                if (!found || Needs(ranks) < Needs(*found))
                {
                    found = std::move(ranks);
                }
            }
        }
        return found;
    }

  private:
    std::optional<std::vector<Place>> PlacesOf(bool expertsFirst) const
    {
        if (expertsFirst && (m_plan.ep == 1 || m_plan.FoldsExperts()))
        {
            return std::nullopt;
        }
        const RankLayout& layout = m_job.layout;
        const auto digits = std::get<RankDigits>(DigitsOf(m_plan));
        const RankGroup data = GroupOf(digits, {Dimension::Expert, Dimension::Data});
        const RankGroup rest = GroupOf(digits, {Dimension::Data});
        std::vector<Place> places(layout.ranks);
        for (Rank gpu = 0; gpu < layout.ranks; gpu++)
        {
            places[gpu] = {layout.tensor.IndexOf(gpu),
                           layout.context.IndexOf(gpu),
                           expertsFirst ? layout.expert.IndexOf(gpu) + m_plan.ep * rest.IndexOf(gpu)
                                        : data.IndexOf(gpu),
                           layout.StageOf(gpu)};
        }
        return places;
    }

    /// Number of a GPU's rank in its stage.
    uint64_t InStage(const Place& place) const
    {
        return place.tensor +
               uint64_t{m_plan.tp} * (place.context + uint64_t{m_plan.cp} * place.data);
    }

    bool HasGroups(const std::vector<Place>& places) const
    {
        return HasExperts(places) && HasShards(places);
    }

    bool HasExperts(const std::vector<Place>& places) const
    {
        if (!m_job.Job().model.IsMoe())
        {
            return true;
        }
        const RankLayout& layout = m_job.layout;
        const uint64_t etp = m_plan.ExpertTensor();
        const auto group = [&](const RankGroup& family) {
            return Numbers(m_job, [&](Rank gpu) { return family.Member(gpu, 0); });
        };
        const uint64_t inStage = layout.ranks / m_plan.pp;
        return AreSame(group(layout.expert),
                       Numbers(m_job,
                               [&](Rank gpu) {
                                   const uint64_t number = InStage(places[gpu]);
                                   return places[gpu].stage * inStage +
                                          number / (etp * m_plan.ep) * etp + number % etp;
                               })) &&
               AreSame(group(layout.expertTensor), Numbers(m_job, [&](Rank gpu) {
                           return places[gpu].stage * inStage + InStage(places[gpu]) / etp;
                       }));
    }

    /// Number of the block of `span` neighbours that a member is in, of the group of each GPU.
    GroupNumbers Blocks(const RankGroup& family) const
    {
        return Numbers(m_job, [&](Rank gpu) {
            return uint64_t{family.Member(gpu, 0)} * m_job.layout.ranks +
                   gpu / m_job.layout.ShardSpan();
        });
    }

    bool HasShards(const std::vector<Place>& places) const
    {
        if (m_shardMembers == 0 || m_shardMembers == m_job.layout.dense.Size())
        {
            return true;
        }
        const uint64_t ranks = m_job.layout.ranks;
        const auto dense = Numbers(m_job, [&](Rank gpu) {
            const Place& place = places[gpu];
            const uint64_t member = place.context + uint64_t{m_plan.cp} * place.data;
            return (member / m_shardMembers * m_plan.pp + place.stage) * m_plan.tp + place.tensor;
        });
        if (!AreSame(Blocks(m_job.layout.dense), dense))
        {
            return false;
        }
        if (!m_job.Job().model.IsMoe())
        {
            return true;
        }
        const uint64_t instances = m_job.layout.dense.Size() / m_shardMembers;
        const uint64_t split = uint64_t{m_plan.ExpertTensor()} * m_plan.ep;
        if (m_plan.ExpertData() % instances != 0)
        {
            return false;
        }
        const uint64_t share = m_plan.ExpertData() / instances;
        return AreSame(Blocks(m_job.layout.experts), Numbers(m_job, [&](Rank gpu) {
                           const uint64_t number = InStage(places[gpu]);
                           return (places[gpu].stage * ranks + number / split / share) * split +
                                  number % split;
                       }));
    }

    FrameworkRanks Placed(const std::vector<Place>& places, FrameworkOrder order) const
    {
        FrameworkRanks ranks;
        ranks.order = order;
        ranks.perNode = m_job.layout.gpusPerNode;
        ranks.gpus.resize(places.size());
        for (Rank gpu = 0; gpu < places.size(); gpu++)
        {
            ranks.gpus[RankOn(places[gpu], order)] = gpu;
        }
        return ranks;
    }

    /// Of who starts the processes: nothing, an order of nodes, or a rank for each.
    static int Needs(const FrameworkRanks& ranks)
    {
        return ranks.KeepsOrder() ? 0 : ranks.GoesByNodes() ? 1 : 2;
    }

    uint32_t RankOn(const Place& place, FrameworkOrder order) const
    {
        const bool pipelineLast = order == FrameworkOrder::PipelineOutermost;
        const uint64_t outer = pipelineLast ? place.data + uint64_t{m_plan.dp} * place.stage
                                            : place.stage + uint64_t{m_plan.pp} * place.data;
        return static_cast<uint32_t>(place.tensor +
                                     m_plan.tp * (place.context + m_plan.cp * outer));
    }

    const PlannedJob& m_job;
    const ParallelPlan& m_plan;
    uint32_t m_shardMembers;
};

/// "3", "0-7", or "0-12 step 4".
std::string
RangeText(uint32_t first, uint32_t count, int64_t step = 1)
{
    return count == 1  ? std::to_string(first)
           : step == 1 ? fmt::format("{}-{}", first, first + count - 1)
                       : fmt::format("{}-{} step {}", first, first + step * (count - 1), step);
}

/// Numbers that are equally far apart.
struct Run
{
    uint32_t count{1};
    int64_t step{1};
};

/// Names servers by building, and numbers them there.
class Servers
{
  public:
    Servers(const ClusterSpec& cluster, uint32_t perNode)
        : m_cluster(cluster),
          m_perNode(perNode)
    {
    }

    uint32_t BuildingOf(uint32_t server) const
    {
        return m_cluster.BuildingOf(server * m_perNode);
    }

    std::string Text(uint32_t server, Run run) const
    {
        const uint32_t building = BuildingOf(server);
        return m_cluster.buildings[building].name + " server " +
               RangeText(server - m_cluster.FirstGpu(building) / m_perNode, run.count, run.step);
    }

  private:
    const ClusterSpec& m_cluster;
    uint32_t m_perNode;
};

/// "0-3,8-11"
std::string
ListText(const std::vector<uint32_t>& numbers)
{
    std::string text;
    for (size_t begin = 0; begin < numbers.size();)
    {
        size_t end = begin + 1;
        while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1)
        {
            end++;
        }
        text +=
            (begin == 0 ? "" : ",") + RangeText(numbers[begin], static_cast<uint32_t>(end - begin));
        begin = end;
    }
    return text;
}

/// Which servers the nodes of a launcher are.
std::string
NodesText(const FrameworkRanks& ranks, const Servers& servers)
{
    const auto nodes = static_cast<uint32_t>(ranks.gpus.size() / ranks.perNode);
    const auto serverOf = [&](uint32_t node) {
        return ranks.gpus[node * ranks.perNode] / ranks.perNode;
    };
    std::string text;
    for (uint32_t node = 0; node < nodes;)
    {
        const uint32_t server = serverOf(node);
        const auto isBeside = [&](uint32_t other) {
            return other < nodes &&
                   servers.BuildingOf(serverOf(other)) == servers.BuildingOf(server);
        };
        Run run;
        run.step = isBeside(node + 1) ? int64_t{serverOf(node + 1)} - server : 1;
        while (isBeside(node + run.count) &&
               int64_t{serverOf(node + run.count)} - server == run.step * run.count)
        {
            run.count++;
        }
        text += fmt::format("    node {} = {}\n",
                            RangeText(node, run.count),
                            servers.Text(server, run));
        node += run.count;
    }
    return text;
}

/// Which ranks the GPUs of each server have.
std::string
ServersText(const FrameworkRanks& ranks, const Servers& servers)
{
    std::vector<uint32_t> rankOf(ranks.gpus.size());
    for (uint32_t rank = 0; rank < rankOf.size(); rank++)
    {
        rankOf[ranks.gpus[rank]] = rank;
    }
    const auto count = static_cast<uint32_t>(rankOf.size() / ranks.perNode);
    const auto ranksOf = [&](uint32_t server) {
        const auto begin = rankOf.begin() + server * ranks.perNode;
        return std::vector<uint32_t>(begin, begin + ranks.perNode);
    };
    const auto isShifted = [&](uint32_t server, uint32_t other, int64_t by) {
        const auto a = ranksOf(server);
        const auto b = ranksOf(other);
        return std::equal(a.begin(), a.end(), b.begin(), [by](uint32_t x, uint32_t y) {
            return y == x + by;
        });
    };
    std::string text;
    for (uint32_t server = 0; server < count;)
    {
        const auto first = ranksOf(server);
        const auto isBeside = [&](uint32_t other) {
            return other < count && servers.BuildingOf(other) == servers.BuildingOf(server);
        };
        const int64_t step =
            isBeside(server + 1) ? int64_t{ranksOf(server + 1).front()} - first.front() : 0;
        uint32_t like = 1;
        while (isBeside(server + like) && isShifted(server, server + like, step * like))
        {
            like++;
        }
        text += fmt::format("    {} = ranks {}{}\n",
                            servers.Text(server, {like, 1}),
                            ListText(first),
                            like == 1 ? "" : fmt::format(", each {} further", step));
        server += like;
    }
    return text;
}

} // namespace

bool
FrameworkRanks::KeepsOrder() const
{
    for (uint32_t rank = 0; rank < gpus.size(); rank++)
    {
        if (gpus[rank] != rank)
        {
            return false;
        }
    }
    return true;
}

bool
FrameworkRanks::GoesByNodes() const
{
    for (uint32_t rank = 0; rank < gpus.size(); rank++)
    {
        if (gpus[rank] % perNode != rank % perNode ||
            gpus[rank] / perNode != gpus[rank - rank % perNode] / perNode)
        {
            return false;
        }
    }
    return true;
}

std::string
FrameworkRanks::LaunchText(const std::string& command) const
{
    const size_t nodes = gpus.size() / perNode;
    const std::string where = fmt::format("on {} nodes of {} GPUs", nodes, perNode);
    if (GoesByNodes())
    {
        return fmt::format("Start one process per GPU {}:\n    torchrun --nnodes {} "
                           "--nproc-per-node {} --node-rank NODE ... {} ...\n",
                           where,
                           nodes,
                           perNode,
                           command);
    }
    return fmt::format("Start one process per GPU {}, each with its own RANK, since ranks are not "
                       "together as torchrun has them (plan.crossing):\n    RANK=... "
                       "LOCAL_RANK=GPU WORLD_SIZE={} MASTER_ADDR=... MASTER_PORT=... python {} "
                       "...\n",
                       where,
                       gpus.size(),
                       command);
}

std::string
FrameworkRanks::PlacesText(const ClusterSpec& cluster) const
{
    const Servers servers(cluster, perNode);
    if (GoesByNodes())
    {
        return (KeepsOrder()
                    ? "Nodes of the launcher (--node-rank) are servers in their order "
                      "(plan.crossing):\n"
                    : "Nodes of the launcher (--node-rank) have to be these servers, or other "
                      "groups cross buildings (plan.crossing):\n") +
               NodesText(*this, servers);
    }
    return "Ranks of the GPUs of each server, GPU 0 first (plan.crossing):\n" +
           ServersText(*this, servers);
}

std::optional<FrameworkRanks>
FrameworkRanksOf(const PlannedJob& job,
                 const std::vector<FrameworkOrder>& orders,
                 uint32_t shardMembers)
{
    return Numbering(job, shardMembers).Find(orders);
}

} // namespace scaleacross
