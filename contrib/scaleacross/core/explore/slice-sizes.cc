// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/slice-sizes.h"

#include <algorithm>
#include <limits>

namespace scaleacross
{

namespace
{

constexpr double kLeastPart = 1.0 / 4096;
constexpr double kLeastPartOfAll = 1.0 / 4; // less of one stage's is a better window
constexpr double kUsed = 0.9;               // of the time: the rest is for what takes longer

bool
IsInTime(const std::vector<SliceSubject>& subjects,
         const std::vector<double>& known,
         const PacketSpeed& speed,
         const MeasuringTime& time,
         double seconds)
{
    double sum = 0;
    double longest = 0;
    for (size_t i = 0; i < subjects.size(); i++)
    {
        const SliceSize size = BestWithin(subjects[i], speed, seconds);
        if (!known.empty() && !IsWorthwhile(size.Amount(subjects[i].stages), known[i]))
        {
            continue;
        }
        const double one = speed.Seconds(subjects[i], size);
        sum += one * time.seeds;
        longest = std::max(longest, one);
    }
    return sum / time.jobs + (1 - 1.0 / time.jobs) * longest <= kUsed * time.seconds;
}

/// What is covered after both rounds of measurements.
double
CoverageAfter(const std::vector<SliceSubject>& subjects,
              CommClass comm,
              const PacketSpeed& expected,
              const PacketSpeed& speed,
              MeasuringTime time)
{
    const double most = kFirstShare * time.seconds;
    double taken = 0;
    std::vector<double> known;
    for (const SliceSubject& subject : subjects)
    {
        const SliceSize size = BestWithin(subject, expected, most);
        taken += speed.Seconds(subject, size) * time.seeds / time.jobs;
        known.push_back(size.Amount(subject.stages));
    }
    if (taken > time.seconds)
    {
        return 0; // not all are measured
    }
    const double left = time.seconds - taken;
    if (left < kWorthwhileShare * time.seconds)
    {
        return CoverageWithin(subjects, comm, expected, most);
    }
    time.seconds = left;
    const double seconds = EvenSeconds(subjects, known, speed, time);
    double share = 0;
    for (size_t i = 0; i < subjects.size(); i++)
    {
        const SliceSubject& subject = subjects[i];
        const SliceSize larger = BestWithin(subject, speed, seconds);
        share += subject.comm != comm ? 0.0
                 : IsWorthwhile(larger.Amount(subject.stages), known[i])
                     ? subject.Share(larger)
                     : subject.Share(BestWithin(subject, expected, most));
    }
    return share;
}

} // namespace

double
SliceSize::Amount(uint32_t stages) const
{
    return part * times * (allStages ? stages : 1);
}

double
SliceSize::Sent() const
{
    return part < 1 ? 1.5 * part : times;
}

bool
operator==(const SliceSize& a, const SliceSize& b)
{
    return a.allStages == b.allStages && a.times == b.times && a.part == b.part;
}

double
SliceSubject::Packets(const SliceSize& size) const
{
    const double alone = onePackets * SliceSize{false, 1, size.part}.Sent();
    return size.allStages ? size.Sent() * allPackets + alone : size.Sent() * onePackets;
}

double
SliceSubject::Share(const SliceSize& size) const
{
    return size.Sent() * (size.allStages ? allShare : oneShare);
}

double
PacketSpeed::Seconds(const SliceSubject& subject, const SliceSize& size) const
{
    return start + subject.Packets(size) * perPacket;
}

std::vector<SliceSize>
SizesOf(const SliceSubject& subject)
{
    std::vector<SliceSize> sizes;
    for (double part = kLeastPart; part <= 1; part *= 2)
    {
        sizes.push_back({false, 1, part});
    }
    const bool all = subject.stages > 1;
    for (double part = kLeastPartOfAll; all && part <= 1; part *= 2)
    {
        sizes.push_back({true, 1, part});
    }
    for (uint64_t times = 2; times / 2 < subject.mostTimes; times *= 2)
    {
        sizes.push_back(
            {all, static_cast<uint32_t>(std::min<uint64_t>(times, subject.mostTimes)), 1});
    }
    return sizes;
}

SliceSize
BestWithin(const SliceSubject& subject, const PacketSpeed& speed, double seconds)
{
    const std::vector<SliceSize> sizes = SizesOf(subject);
    for (auto size = sizes.rbegin(); size != sizes.rend(); ++size)
    {
        if (speed.Seconds(subject, *size) <= seconds)
        {
            return *size;
        }
    }
    return sizes.front();
}

bool
IsWorthwhile(double amount, double known)
{
    constexpr double kTwice = 1.99;
    return amount >= kTwice * known && amount > 0;
}

double
EvenSeconds(const std::vector<SliceSubject>& subjects,
            const std::vector<double>& known,
            const PacketSpeed& speed,
            const MeasuringTime& time)
{
    constexpr double kLeast = 1e-3;
    double best = 0;
    for (double seconds = kLeast; seconds <= time.seconds; seconds *= 1.1)
    {
        // Larger sizes may be cheaper, so that one of more seconds may be in time where one of
        // fewer is not.
        best = IsInTime(subjects, known, speed, time, seconds) ? seconds : best;
    }
    return best;
}

double
CoverageWithin(const std::vector<SliceSubject>& subjects,
               CommClass comm,
               const PacketSpeed& speed,
               double seconds)
{
    double share = 0;
    for (const SliceSubject& subject : subjects)
    {
        share += subject.comm == comm ? subject.Share(BestWithin(subject, speed, seconds)) : 0.0;
    }
    return share;
}

std::optional<double>
SecondsToCover(double share,
               const std::vector<SliceSubject>& subjects,
               CommClass comm,
               const PacketSpeed& expected,
               const PacketSpeed& speed,
               MeasuringTime time)
{
    if (CoverageWithin(subjects, comm, speed, std::numeric_limits<double>::infinity()) < share)
    {
        return std::nullopt;
    }
    constexpr double kStep = 1.1;
    while (CoverageAfter(subjects, comm, expected, speed, time) < share)
    {
        time.seconds *= kStep;
    }
    return time.seconds;
}

} // namespace scaleacross
