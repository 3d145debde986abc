// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/transfer-cost.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

double
SlotUse::Seconds(double times) const
{
    const double all = pieces * times;
    const double before = std::ceil(all / slots) - 1.0;
    return before <= 0
               ? 0.0
               : (before * round + (all - before * slots) * seconds - (phases - 1) * way) / phases;
}

double
TransferCost::OutSeconds() const
{
    return On(Port::NicOut) > 0 ? On(Port::NicOut) : On(Port::ScaleUpOut);
}

double
TransferCost::PortSeconds() const
{
    return std::max({least,
                     window.LeastSeconds(),
                     admission.LeastSeconds(),
                     *std::max_element(ports.begin(), ports.end())});
}

Duration
TransferCost::LatencyBehind(double held, double seconds) const
{
    const double later = held - seconds;
    const WindowUse& binding = window.Seconds() < admission.Seconds() ? admission : window;
    return later > 0 ? std::max(std::min(latency, binding.last), latency - Duration::Seconds(later))
                     : latency;
}

double
TransferCost::MovingSeconds() const
{
    return std::max(*std::max_element(ports.begin(), ports.end()), CutSeconds());
}

const CutUse*
TransferCost::Tightest() const
{
    const auto tightest =
        std::max_element(cuts.begin(), cuts.end(), [](const CutUse& a, const CutUse& b) {
            return a.seconds < b.seconds;
        });
    return tightest == cuts.end() ? nullptr : &*tightest;
}

double
TransferCost::CutSeconds() const
{
    const CutUse* tightest = Tightest();
    return tightest == nullptr ? 0.0 : tightest->seconds;
}

double
TransferCost::Seconds() const
{
    return std::max(PortSeconds(), CutSeconds()) + extra;
}

Duration
TransferCost::Alone() const
{
    return Duration::Seconds(Seconds()) + latency;
}

void
TransferCost::Stretch(double factor)
{
    if (factor == 1)
    {
        return; // to the picosecond
    }
    const double wanted = Alone().S() * factor;
    if (factor > 1)
    {
        extra += Seconds() * (factor - 1);
    }
    else
    {
        least *= factor;
        extra *= factor;
        window.round *= factor;
        admission.round *= factor;
        for (CutUse& use : cuts)
        {
            use.seconds = std::max(use.wire, use.seconds * factor);
            use.demand = std::min(use.demand, use.seconds);
        }
    }
    latency = Duration::Seconds(std::max(0.0, wanted - Seconds()));
}

} // namespace scaleacross
