// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ECN_MARKER_H
#define SCALEACROSS_ECN_MARKER_H

#include "ns3/data-rate.h"
#include "ns3/ptr.h"

#include <cstdint>

namespace ns3
{
class UniformRandomVariable;
} // namespace ns3

namespace scaleacross
{

/// RED on the instantaneous queue: where marking begins, where it is certain, how likely between.
struct EcnThresholds
{
    uint64_t kmin;    //!< bytes
    uint64_t kmax;    //!< bytes, not less than kmin
    double pmax;      //!< 0 to 1
    double beyond{1}; //!< probability above kmax

    /**
     * Probability with which a packet is marked that finds q bytes waiting:
     * 0 up to kmin, pmax * (q - kmin) / (kmax - kmin) up to kmax, `beyond` above that.
     *
     * Worked case: 5 kB, 200 kB, 1 %: 102,500 bytes are half way, 0.5 %.
     */
    double Probability(uint64_t bytes) const;

    /// For a port of `rate`, these being those of one of `reference` (bit/s).
    EcnThresholds Scaled(uint64_t rate, uint64_t reference) const;
};

/// FabricSwitch's attributes EcnPriorities, EcnKmin and so on.
struct EcnConfig
{
    uint32_t priorities{0}; //!< bit p: packets of priority p may be marked
    uint64_t kmin{0};
    uint64_t kmax{0};
    double pmax{0};
    uint32_t markingRate{0};
    bool atDeparture{false};
    bool victims{false};
    ns3::DataRate reference;

    /// Throws ConfigError (where = owner + the attribute) if kmin is more than kmax.
    void Check(const std::string& owner) const;

    /// For a port of that rate.
    EcnThresholds ThresholdsAt(ns3::DataRate rate) const;
};

/// Marks packets of one egress port. Draws a random number only where the probability is between 0
/// and 1.
class EcnMarker
{
  public:
    explicit EcnMarker(const EcnThresholds& thresholds);
    ~EcnMarker();
    EcnMarker(const EcnMarker&) = delete;
    EcnMarker& operator=(const EcnMarker&) = delete;

    void SetStream(int64_t stream);

    /// Is a packet to be marked that finds `bytes` waiting?
    bool Marks(uint64_t bytes);

    const EcnThresholds& Thresholds() const
    {
        return m_thresholds;
    }

  private:
    EcnThresholds m_thresholds;
    ns3::Ptr<ns3::UniformRandomVariable> m_random;
};

} // namespace scaleacross

#endif // SCALEACROSS_ECN_MARKER_H
