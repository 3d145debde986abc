// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TRANSPORT_H
#define SCALEACROSS_TRANSPORT_H

#include "core/base/packet-format.h"
#include "core/base/units.h"
#include "core/base/word.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// When switches cut the payload off packets in place of dropping them.
struct Trimming
{
    uint64_t threshold;    //!< B that wait
    const char* reference; //!< rate of the ports at which the threshold holds; it grows with it
    const char* quanta; //!< B that the lanes of a switch's port send in turn (FabricPort::Quanta)
};

/// What is known of what carries data between NICs.
struct TransportFacts : WordFacts
{
    PacketFormat format{kRoceFormat};
    /// Lossless by pauses (PFC) unless a study says otherwise; others have none.
    bool pauses{false};
    /// Lossless by credits for every lane of every wire.
    bool credits{false};
    std::optional<Trimming> trimming{};
    /// Packets have a UDP source port, by which each may choose its way.
    bool sourcePorts{true};
    /// Switches may write into packets.
    bool telemetry{true};
    /// With go-back-n a packet that was trimmed would cost all after it.
    bool needsSelectiveRepeat{false};
    /// Payloads that a full packet may have; empty: any.
    std::vector<Bytes> mtus{};
};

/// What carries data between NICs.
using Transport = Word<TransportFacts>;

template <>
const std::vector<const TransportFacts*>& Transport::Rows();
extern template class Word<TransportFacts>;

} // namespace scaleacross

#endif // SCALEACROSS_TRANSPORT_H
