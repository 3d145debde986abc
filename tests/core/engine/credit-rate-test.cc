// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/credit-rate.h"

#include <gtest/gtest.h>

namespace scaleacross
{
namespace
{

constexpr Bytes kPacket(4124);
constexpr Bytes kCredits(128 << 10);

/// The worked case of the header: 30 packets in 10 ms, three packets and a credit.
TEST(CreditShare, LongWires)
{
    const BitRate rate(400e9);
    const double roundTrip = 2 * 5e-3 + (3 * 4124 + 8) * 8 / 400e9;
    EXPECT_NEAR(CreditShare(kCredits, kPacket, rate, Duration::Microseconds(5000)),
                30 * 4124 * 8 / roundTrip / 400e9,
                1e-9);
    // 10 km, 50 us: 9.87 Gb/s.
    const double near = CreditShare(kCredits, kPacket, rate, Duration::Microseconds(50)) * 400;
    EXPECT_NEAR(near, 30 * 4124 * 8 / (100.2476e3), 1e-3);
    // A hundred times the credits: floor(204,800 / 65) = 3,150 packets, 3 x 1,050.
    EXPECT_NEAR(CreditShare(Bytes(12'800 << 10), kPacket, rate, Duration::Microseconds(5000)),
                3150 * 4124 * 8 / roundTrip / 400e9,
                1e-9);
}

/// 100 Gb/s over 1 us needs 28 kB of the 128 KiB; 400 Gb/s over 4.5 us needs 462 kB.
TEST(CreditShare, ShortWires)
{
    EXPECT_EQ(CreditShare(kCredits, kPacket, BitRate(100e9), Duration::Microseconds(1)), 1.0);
    const double roundTrip = 9e-6 + (3 * 4124 + 8) * 8 / 400e9;
    EXPECT_NEAR(CreditShare(kCredits, kPacket, BitRate(400e9), Duration::Nanoseconds(4500)),
                30 * 4124 * 8 / roundTrip / 400e9,
                1e-9);
}

/// Two packets are less than a lot of three: they are all there is. 1,048 bytes are 17 blocks, a
/// lot is 8; 16,384 bytes are 15 of them, of which one lot counts.
TEST(CreditShare, FewCredits)
{
    const BitRate rate(100e9);
    const Duration delay = Duration::Microseconds(1000);
    EXPECT_NEAR(CreditShare(Bytes(2 * 65 * 64), kPacket, rate, delay),
                2 * 4124 * 8 / (2e-3 + (3 * 4124 + 8) * 8 / 100e9) / 100e9,
                1e-9);
    EXPECT_NEAR(CreditShare(Bytes(16 << 10), Bytes(1048), rate, delay),
                8 * 1048 * 8 / (2e-3 + (8 * 1048 + 8) * 8 / 100e9) / 100e9,
                1e-9);
}

} // namespace
} // namespace scaleacross
