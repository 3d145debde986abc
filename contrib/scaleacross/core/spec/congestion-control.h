// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CONGESTION_CONTROL_H
#define SCALEACROSS_CONGESTION_CONTROL_H

#include "core/base/word.h"
#include "core/spec/marking.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// What receivers do about marks.
enum class Notification : uint8_t
{
    Ack,     //!< the ACK says so
    Limited, //!< a CNP, one per RdmaQueuePair::CnpInterval at most
    Every    //!< a CNP for each
};

/// What switches write into the packets of a control, in bytes.
struct TelemetrySize
{
    uint32_t header{0};
    uint32_t perSwitch{0};
};

/// What is known of a congestion control.
struct CongestionControlFacts : WordFacts
{
    const char* type; //!< of RdmaQueuePair::CongestionOps
    /// What switches mark for it; none: as it is without.
    std::optional<Marking> marking{};
    Notification notification{Notification::Ack};
    /// A packet for each pull that the receiver hands out: windows count what is under way, and
    /// every packet has to be counted once.
    bool pulls{false};
    TelemetrySize telemetry{};
    bool controls{true}; //!< false: the line rate

    /// Most bytes that it adds to a packet that passes so many switches.
    uint32_t TelemetryBytes(uint32_t switches) const
    {
        return telemetry.header + telemetry.perSwitch * switches;
    }

    bool HasTelemetry() const
    {
        return telemetry.perSwitch > 0;
    }
};

/// What decides how fast a queue pair may send.
using CongestionControl = Word<CongestionControlFacts>;

template <>
const std::vector<const CongestionControlFacts*>& CongestionControl::Rows();
extern template class Word<CongestionControlFacts>;

} // namespace scaleacross

#endif // SCALEACROSS_CONGESTION_CONTROL_H
