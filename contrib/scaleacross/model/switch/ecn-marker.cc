// SPDX-License-Identifier: GPL-2.0-only

#include "ecn-marker.h"

#include "core/base/errors.h"

#include "ns3/random-variable-stream.h"

#include <cmath>

namespace scaleacross
{

double
EcnThresholds::Probability(uint64_t bytes) const
{
    if (bytes <= kmin)
    {
        return 0;
    }
    if (bytes > kmax)
    {
        return beyond;
    }
    return pmax * static_cast<double>(bytes - kmin) / static_cast<double>(kmax - kmin);
}

EcnThresholds
EcnThresholds::Scaled(uint64_t rate, uint64_t reference) const
{
    const double factor = static_cast<double>(rate) / static_cast<double>(reference);
    auto scale = [factor](uint64_t bytes) {
        return static_cast<uint64_t>(std::llround(static_cast<double>(bytes) * factor));
    };
    return {scale(kmin), scale(kmax), pmax, beyond};
}

void
EcnConfig::Check(const std::string& owner) const
{
    if (kmin > kmax)
    {
        throw ConfigError(owner + "EcnKmin",
                          std::to_string(kmin) + " bytes are more than EcnKmax, " +
                              std::to_string(kmax) + " bytes",
                          "at most EcnKmax",
                          "");
    }
}

EcnThresholds
EcnConfig::ThresholdsAt(ns3::DataRate rate) const
{
    const EcnThresholds thresholds{kmin, kmax, pmax, 1.0 / (1.0 + markingRate)};
    return reference.GetBitRate() > 0 ? thresholds.Scaled(rate.GetBitRate(), reference.GetBitRate())
                                      : thresholds;
}

EcnMarker::EcnMarker(const EcnThresholds& thresholds)
    : m_thresholds(thresholds),
      m_random(ns3::CreateObject<ns3::UniformRandomVariable>())
{
}

EcnMarker::~EcnMarker() = default;

void
EcnMarker::SetStream(int64_t stream)
{
    m_random->SetStream(stream);
}

bool
EcnMarker::Marks(uint64_t bytes)
{
    if (bytes <= m_thresholds.kmin || (bytes > m_thresholds.kmax && m_thresholds.beyond >= 1))
    {
        return bytes > m_thresholds.kmin;
    }
    return m_random->GetValue() < m_thresholds.Probability(bytes);
}

} // namespace scaleacross
