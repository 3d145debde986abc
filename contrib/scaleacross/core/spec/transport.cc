// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/transport.h"

#include "core/base/word-registry.h"

namespace scaleacross
{

namespace
{

TransportFacts
Roce()
{
    TransportFacts facts{
        {"roce",
         "RoCEv2 reliable connections, lossless by priority flow control unless pfc: false",
         true}};
    facts.format = kRoceFormat;
    facts.pauses = true;
    return facts;
}

TransportFacts
Infiniband()
{
    TransportFacts facts{
        {"infiniband",
         "InfiniBand reliable connections: credits for every lane, nothing is dropped"}};
    facts.format = kInfinibandFormat;
    facts.credits = true;
    facts.sourcePorts = false;
    facts.telemetry = false;
    facts.mtus = {Bytes(256), Bytes(512), Bytes(1024), Bytes(2048), Bytes(4096)};
    return facts;
}

TransportFacts
Trimmed()
{
    TransportFacts facts{
        {"trimming", "Ethernet whose switches cut the payload off what they have no room for"}};
    facts.format = kRoceFormat;
    // 13 us of queue at 100 Gb/s; ten bytes of data (priority 3) to one of headers and answers (6)
    // where both wait.
    facts.trimming = Trimming{40 * 4200, "100Gbps", "0,0,0,41780,0,0,4178,0"};
    facts.needsSelectiveRepeat = true;
    return facts;
}

} // namespace

template <>
const std::vector<const TransportFacts*>&
Transport::Rows()
{
    static const auto rows = PointersTo<TransportFacts>({Roce(), Infiniband(), Trimmed()});
    return rows;
}

template class Word<TransportFacts>;

} // namespace scaleacross
