// SPDX-License-Identifier: GPL-2.0-only

#include "flow-track.h"

#include <cmath>
#include <numeric>

namespace scaleacross
{

namespace
{

/// Both are means of counts that go up and down by packets that leave in turns.
constexpr double kPackets = 0.5;
constexpr double kShare = 0.005;

double
Mean(const std::vector<double>& of, std::size_t from, std::size_t to)
{
    const auto begin = of.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = of.begin() + static_cast<std::ptrdiff_t>(to);
    return std::accumulate(begin, end, 0.0) / static_cast<double>(to - from);
}

} // namespace

double
SlopeOf(const std::vector<double>& samples, std::size_t from)
{
    // Sum of (k - mean k) y(k) over the sum of (k - mean k)^2, which is n (n^2 - 1) / 12.
    const auto n = static_cast<double>(samples.size() - from);
    double sum = 0;
    for (std::size_t k = from; k < samples.size(); ++k)
    {
        sum += (static_cast<double>(k - from) - (n - 1) / 2) * (samples[k] - samples[from]);
    }
    return sum * 12 / (n * (n * n - 1));
}

void
Thin(std::vector<double>& samples)
{
    for (std::size_t i = 0; 2 * i < samples.size(); ++i)
    {
        samples[i] = samples[2 * i];
    }
    samples.resize((samples.size() + 1) / 2);
}

void
FlowTrack::Add(const std::vector<uint64_t>& sent, uint64_t inFlight)
{
    for (std::size_t i = 0; i < m_sent.size(); ++i)
    {
        m_sent[i].push_back(static_cast<double>(sent[i]));
    }
    m_inFlight.push_back(static_cast<double>(inFlight));
}

void
FlowTrack::Thin()
{
    for (std::vector<double>& sent : m_sent)
    {
        scaleacross::Thin(sent);
    }
    scaleacross::Thin(m_inFlight);
}

bool
FlowTrack::IsSteady(std::size_t from) const
{
    const std::size_t last = Size() - 1;
    const std::size_t middle = (from + last) / 2;
    double first = 0;
    double second = 0;
    for (const std::vector<double>& sent : m_sent)
    {
        first += sent[middle] - sent[from];
        second += sent[last] - sent[middle];
    }
    const double share = kShare * second;
    if (first < kLeast || second < kLeast || std::abs(first - second) > 2 + share)
    {
        return false;
    }
    const double more = Mean(m_inFlight, middle + 1, last + 1) - Mean(m_inFlight, from, middle);
    return std::abs(more) <= kPackets + share;
}

} // namespace scaleacross
