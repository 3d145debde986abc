// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TEST_RATE_ORACLE_H
#define SCALEACROSS_TEST_RATE_ORACLE_H

#include <cstdint>

namespace fabrictest
{

/// A rate, and until when it holds.
struct RatePiece
{
    uint64_t rate;
    int64_t until; //!< ps
};

/**
 * When `bytes` that are begun at `start` have been worked off at a rate that changes, piece by
 * piece: `pieceAt(t)` says what holds at t. In whole picoseconds; `rest`, in ps * bit/s, is what
 * was left over before, and afterwards what is left over now.
 */
template <typename PieceAt>
int64_t
WorkedOff(uint32_t bytes, int64_t start, uint64_t& rest, const PieceAt& pieceAt)
{
    uint64_t work = bytes * uint64_t{8'000'000'000'000} + rest;
    int64_t time = start;
    for (;;)
    {
        const RatePiece piece = pieceAt(time);
        const uint64_t inPiece = static_cast<uint64_t>(piece.until - time) * piece.rate;
        if (work <= inPiece)
        {
            rest = work % piece.rate;
            return time + static_cast<int64_t>(work / piece.rate);
        }
        work -= inPiece;
        time = piece.until;
    }
}

} // namespace fabrictest

#endif // SCALEACROSS_TEST_RATE_ORACLE_H
