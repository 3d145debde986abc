// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SLICE_SIZES_H
#define SCALEACROSS_SLICE_SIZES_H

#include "core/program/collective.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace scaleacross
{

/// How much of an operation one measurement sends.
struct SliceSize
{
    bool allStages{false};
    uint32_t times{1}; //!< one after the other
    double part{1};    //!< of the bytes; below 1 half of that is sent, too

    /// Operations that are sent at a time, of so many stages: what tells a larger slice.
    double Amount(uint32_t stages) const;

    /// Operations of a stage that a measurement sends in all.
    double Sent() const;
};

bool operator==(const SliceSize& a, const SliceSize& b);

/// What slices of an operation take and cover.
struct SliceSubject
{
    CommClass comm{CommClass::Data};
    uint32_t stages{1}; //!< that do it
    /// That it is worth being done one after the other: what it has to be so that a slice of all
    /// stages is 5 % of what they send of it in an iteration.
    uint32_t mostTimes{1};
    // Of the whole operation, once:
    double onePackets{0}; //!< of one stage
    double allPackets{0}; //!< of all stages
    double oneShare{0};   //!< of its class's bytes across buildings, of one stage
    double allShare{0};

    /// Of a measurement; with a slice of all stages the same part of one stage is sent, too.
    double Packets(const SliceSize& size) const;
    /// Of what is sent of all stages, if that is.
    double Share(const SliceSize& size) const;
};

/// How fast packets go.
struct PacketSpeed
{
    double start{0.1};      //!< s, of a measurement
    double perPacket{4e-6}; //!< s of one core: about 8 events of 0.4 us from NIC to NIC

    double Seconds(const SliceSubject& subject, const SliceSize& size) const;
};

/**
 * Sizes that measurements of an operation may have, each better than the one before: windows of
 * 1/4096, 1/2048, ... of it on one stage, the whole; where several stages do it, a quarter of it on
 * all of them, a half and the whole, for so each sees what the others take from it; then the same
 * 2, 4, ... and mostTimes times.
 */
std::vector<SliceSize> SizesOf(const SliceSubject& subject);

/// The best of a subject's sizes that takes no longer; the least if none does.
SliceSize BestWithin(const SliceSubject& subject, const PacketSpeed& speed, double seconds);

/// Who measures, and for how long.
struct MeasuringTime
{
    double seconds{0};
    unsigned jobs{1};
    uint32_t seeds{1}; //!< of each operation
};

/// Whether a size is that much larger than another, of which 0 is none, that it is worth another
/// measurement: twice, or nearly, for windows of whole chunks.
bool IsWorthwhile(double amount, double known);

/**
 * The most seconds that every measurement may take so that all are done in time, whoever measures
 * what: n measurements of t_i seconds by J jobs are done within sum t_i / J + (1 - 1 / J) max t_i,
 * which is to be nine tenths of the time. 0: not even the least sizes are done. Where so much of
 * each is known (none: of none anything), only what is worthwhile is measured.
 *
 * Worked case: two operations that one stage alone does, 8 s each; one job, one seed, 15 s, of
 * which 13.5 s count. Both whole are 16 s; windows of a half, of which 1.5 times that is sent, are
 * 6 + 6 = 12 s: less than 8 s, and 6 at least.
 */
double EvenSeconds(const std::vector<SliceSubject>& subjects,
                   const std::vector<double>& known,
                   const PacketSpeed& speed,
                   const MeasuringTime& time);

/// The share of a class's bytes across buildings that measurements of so many seconds send.
double CoverageWithin(const std::vector<SliceSubject>& subjects,
                      CommClass comm,
                      const PacketSpeed& speed,
                      double seconds);

/// Of the time, what one measurement may take as long as it is not known how fast packets go.
constexpr double kFirstShare = 0.1;
/// Of the time, what has to be left for larger slices to be measured then, by EvenSeconds().
constexpr double kWorthwhileShare = 0.25;

/**
 * The seconds, at least those of `time`, in which measurements send that share of a class's bytes
 * across buildings, to a tenth; none: not even all sizes at their best do. First every operation is
 * measured by kFirstShare, at the speed that is expected, then larger slices in what is left.
 */
std::optional<double> SecondsToCover(double share,
                                     const std::vector<SliceSubject>& subjects,
                                     CommClass comm,
                                     const PacketSpeed& expected,
                                     const PacketSpeed& speed,
                                     MeasuringTime time);

} // namespace scaleacross

#endif // SCALEACROSS_SLICE_SIZES_H
