// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/nccl-words.h"

#include "core/base/word-registry.h"

namespace scaleacross
{

template <>
const std::vector<const NcclAlgorithmFacts*>&
NcclAlgorithm::Rows()
{
    static const auto rows = PointersTo<NcclAlgorithmFacts>(
        {{{"auto", "what NCCL's model of time finds fastest", true}, true},
         {{"tree", "all-reduce: chains inside servers, two binary trees between them"},
          false,
          NcclKind::Tree},
         {{"ring", "through all GPUs of a server, then the next"}, false, NcclKind::Ring},
         {{"collnet-direct", "all-reduce: to all inside servers, switches reduce between them"},
          false,
          NcclKind::CollnetDirect},
         {{"collnet-chain", "all-reduce: chains inside servers, switches reduce between them"},
          false,
          NcclKind::CollnetChain},
         {{"nvls",
           "all-reduce in the scale-up switch, and in those between servers if they reduce"},
          false,
          NcclKind::Nvls},
         {{"nvls-tree", "the same in each server, two binary trees between them"},
          false,
          NcclKind::NvlsTree},
         {{"pat", "all-gather and reduce-scatter of one GPU a server in log2(n) rounds"},
          false,
          NcclKind::Pat}});
    return rows;
}

template class Word<NcclAlgorithmFacts>;

template <>
const std::vector<const NcclProtocolFacts*>&
NcclProtocol::Rows()
{
    // Slots by NCCL's init.cc and device.h: 8 lines of 16 bytes for each of 512 threads, 120 words
    // of 8 bytes for each of 640, an eighth of 4 MiB.
    static const auto rows = PointersTo<NcclProtocolFacts>(
        {{{"auto", "what NCCL's model of time finds fastest", true}, true},
         {{"ll-simple", "the faster of these, as where a NIC is not beside its GPU on PCIe"},
          true,
          0,
          1,
          Bytes(1),
          1},
         {{"ll", "a flag of 4 bytes with every 4 bytes of data"}, false, 0, 2.0, Bytes(64 << 10)},
         {{"ll128", "a flag of 8 bytes with every 120 bytes of data"},
          false,
          1,
          128.0 / 120.0,
          Bytes(614400)},
         {{"simple", "data, and a flag when a slot is full"}, false, 2, 1.0, Bytes(512 << 10)}});
    return rows;
}

template class Word<NcclProtocolFacts>;

template <>
const std::vector<const ArchitectureFacts*>&
Architecture::Rows()
{
    // Links: 12 of 20 GB/s of 300 (A100), 18 of 20.6 of 450 (H100) and of 40.1 of 900 (B200), as
    // NCCL's topo.h has them.
    static const auto rows = PointersTo<ArchitectureFacts>(
        {{{"other", "not known to NCCL's tables", true}, false},
         {{"ampere", "A100 (compute capability 8)"}, true, 0, 0.8},
         {{"hopper", "H100, H200, GH200 (compute capability 9)"}, true, 1, 0.824},
         {{"blackwell", "B200, B300, GB200, GB300 (compute capability 10)"}, true, 2, 0.802},
         {{"cdna3", "MI300X, MI325X, which RCCL serves"}, true, 0, 0.75, true},
         {{"cdna4", "MI350X, MI355X, which RCCL serves"}, true, 0, 0.75, true}});
    return rows;
}

template class Word<ArchitectureFacts>;

} // namespace scaleacross
