// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLOW_TRACK_H
#define SCALEACROSS_FLOW_TRACK_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace scaleacross
{

/// Slope of least squares of what was sampled at equal distances, per distance, from sample `from`
/// on. Domain: there is one more.
double SlopeOf(const std::vector<double>& samples, std::size_t from);

/// Keeps every second sample, the first one and the last one among them. Domain: an odd number.
void Thin(std::vector<double>& samples);

/**
 * What a flow of several queue pairs has done at equally spaced times, and whether it goes on like
 * that.
 *
 * Model: a flow is steady between two samples if in the second half of that time as much has left
 * as in the first, and as much as that has arrived: the mean number of packets in flight is the
 * same, which tells of a queue that grows before anything else does. In either half it has sent
 * kLeast packets, so that a packet more or less is little of them: a flow that rests waits for
 * something.
 *
 * Rates are slopes of least squares, as packets are whole and leave in turns.
 *
 * Worked case: 12 packets between every two samples and 30 in flight: steady, at 12 a sample. If
 * one of 12 stays on the way, it is 30 to 61 in flight after 32 samples: not steady.
 */
class FlowTrack
{
  public:
    /// Packets sent in either half.
    static constexpr double kLeast = 40;

    explicit FlowTrack(std::size_t queuePairs)
        : m_sent(queuePairs)
    {
    }

    /// The next sample: packets sent so far by queue pair; of all of them, those that have not
    /// arrived.
    void Add(const std::vector<uint64_t>& sent, uint64_t inFlight);

    /// Keeps every second sample, the first one and the last one among them. Domain: an odd number.
    void Thin();

    std::size_t Size() const
    {
        return m_inFlight.size();
    }

    /// From sample `from` on. Domain: there are four more.
    bool IsSteady(std::size_t from) const;

    /// Packets that queue pair i has sent between two samples, since sample `from`.
    double Slope(std::size_t i, std::size_t from) const
    {
        return SlopeOf(m_sent[i], from);
    }

  private:
    std::vector<std::vector<double>> m_sent; //!< by queue pair
    std::vector<double> m_inFlight;
};

} // namespace scaleacross

#endif // SCALEACROSS_FLOW_TRACK_H
