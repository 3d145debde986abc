// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/collective-words.h"

#include "core/base/word-registry.h"

namespace scaleacross
{

template <>
const std::vector<const CollectiveAlgorithmFacts*>&
CollectiveAlgorithm::Rows()
{
    static const auto rows = PointersTo<CollectiveAlgorithmFacts>(
        {{{"ring", "one ring over all servers of the group, building after building"}},
         {{"hierarchical", "inside each building, across buildings, inside again", true},
          LevelSteps::Ring,
          true,
          false,
          false,
          "building"},
         {{"halving-doubling", "the same levels, each by halves of halves"},
          LevelSteps::Halves,
          true},
         {{"bidirectional-ring", "the one ring, both ways round"}, LevelSteps::TwoWays},
         {{"tree", "all-reduce over all servers in two binary trees; all else as ring"},
          LevelSteps::Ring,
          false,
          true},
         {{"auto", "by size: what takes least time alone"}, LevelSteps::Ring, false, false, true},
         {{"nccl", "by NCCL's algorithms, protocols and choice, with what their steps cost"},
          LevelSteps::Ring,
          false,
          false,
          false,
          "direct",
          true}});
    return rows;
}

template class Word<CollectiveAlgorithmFacts>;

template <>
const std::vector<const AllToAllFacts*>&
AllToAllAlgorithm::Rows()
{
    static const auto rows = PointersTo<AllToAllFacts>(
        {{{"follow", "building with hierarchical, the fastest with auto, else direct", true},
          FirstHop::None,
          true},
         {{"direct", "a message to every other member"}},
         {{"rail", "first to the GPU of the server in the destination's position"},
          FirstHop::Server},
         {{"building", "first to the building's member in the destination's position"},
          FirstHop::Building},
         {{"once", "tokens of experts once to each server, copied there; else as rail"},
          FirstHop::Server,
          false,
          true},
         {{"deepep", "tokens of experts by DeepEP's kernels for throughput; else direct"},
          FirstHop::None,
          false,
          true,
          TokenKernel::Throughput},
         {{"deepep-low-latency", "tokens of experts by its kernels for low latency; else direct"},
          FirstHop::None,
          false,
          false,
          TokenKernel::LowLatency}});
    return rows;
}

template class Word<AllToAllFacts>;

} // namespace scaleacross
