// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CONVOYS_H
#define SCALEACROSS_CONVOYS_H

#include "core/engine/state-words.h"
#include "core/program/collective.h"

#include <array>
#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * The order in which the chunks of a collective go through its phases.
 *
 * As many chunks as there are channels begin together, and chunk j follows chunk j - channels into
 * every phase. Those that begin together are alike, so they do everything at the same time: they
 * are one convoy, and a convoy enters a phase when it has left the one before and the convoy ahead
 * of it has left this one. So the work follows chunks / channels, not the chunks.
 *
 * Chunks that stream are one convoy in one phase, whose cost is that of all (ClassCosts::OfPhase).
 *
 * Worked case: 10 chunks on 4 channels are convoys of 4, 4 and 2. With two phases of 1 s they enter
 * the first at 0, 1 and 2 s, and the last leaves the second at 4 s.
 */
class Convoys
{
  public:
    /// Convoys that may enter a phase, in the order in which they do.
    struct Entering
    {
        std::array<uint32_t, 2> convoys{};
        uint32_t count{0};

        const uint32_t* begin() const
        {
            return convoys.data();
        }

        const uint32_t* end() const
        {
            return convoys.data() + count;
        }
    };

    Convoys() = default;
    explicit Convoys(const Collective& collective);

    uint32_t Count() const
    {
        return static_cast<uint32_t>(m_phase.size());
    }

    /// Chunks of a convoy: as many as channels, less in the last one where they do not divide.
    uint32_t ChunksOf(uint32_t convoy) const;

    /// The phase that a convoy is in or waits for.
    uint32_t PhaseOf(uint32_t convoy) const
    {
        return m_phase[convoy];
    }

    /// Whether the last convoy is in or waits for the last phase.
    bool IsEnd(uint32_t convoy) const
    {
        return convoy + 1 == Count() && m_phase[convoy] + 1 == m_phases;
    }

    /// Whether all have left the last phase; no phases: from the beginning.
    bool Done() const
    {
        return m_phases == 0 || m_phase.back() == m_phases;
    }

    /// The first one begins. Domain: once, before any Leave().
    Entering Start();

    /// A convoy leaves the phase that it is in: itself into the next one, and the one behind it
    /// into this one, if they may.
    Entering Leave(uint32_t convoy);

    /// Writes down where the convoys of a collective are.
    void Describe(StateWords& words) const
    {
        for (uint32_t i = 0; i < Count(); i++)
        {
            words.Add(uint64_t{2} * m_phase[i] + (m_inside[i] ? 1 : 0));
        }
    }

  private:
    void Enter(uint32_t convoy, Entering& entering);

    uint32_t m_phases{0};
    uint32_t m_chunks{0};
    uint32_t m_channels{1};
    std::vector<uint32_t> m_phase;
    std::vector<bool> m_inside; //!< it has entered the phase
};

} // namespace scaleacross

#endif // SCALEACROSS_CONVOYS_H
