// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/framework-ranks.h"

#include <algorithm>
#include <fmt/core.h>

namespace scaleacross
{

namespace
{

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

} // namespace scaleacross
