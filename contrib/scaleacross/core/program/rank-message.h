// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANK_MESSAGE_H
#define SCALEACROSS_RANK_MESSAGE_H

#include "core/base/units.h"
#include "core/program/collective.h"
#include "core/program/rank-group.h"

#include <cstdint>
#include <optional>

namespace scaleacross
{

/// A message that has arrived.
struct RankMessage
{
    Rank from;
    Rank to;
    uint64_t tag;     //!< as it was sent with
    int64_t postedPs; //!< when it was posted
};

/// What a message takes besides its way, and beside which others it goes.
struct MessageCare
{
    Duration before; //!< at its sender, if it goes to another server
    /// Inside a server, in place of the network's own latency.
    std::optional<Duration> inside;
    double occupied{1}; //!< inside a server: times its own that it keeps the network busy
    uint32_t lane{0};   //!< inside a server: messages of a lane follow each other, lanes share
    SlotWindow slots;   //!< through which it goes to another building
    uint32_t tree{0};   //!< of several, each of which has such slots: whose
    CommClass comm{CommClass::Pipeline}; //!< what it is for
};

/// To whom a copy of a message goes.
struct MessageCopy
{
    Rank to;
    uint64_t tag;
};

} // namespace scaleacross

#endif // SCALEACROSS_RANK_MESSAGE_H
