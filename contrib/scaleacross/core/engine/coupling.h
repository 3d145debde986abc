// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COUPLING_H
#define SCALEACROSS_COUPLING_H

#include "core/engine/class-costs.h"

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * What the classes of a task graph have in common besides their messages: cuts that more than one
 * of them loads, and collectives that more than one takes part in. While a class uses none of it,
 * nothing that others do can change its times, but for the arrival of what they send.
 */
class Coupling
{
  public:
    Coupling(const TaskGraph& graph, ClassCosts& costs);

    /// Whether other classes load the cut as well. kNoCut: no.
    bool OfCut(uint32_t cut) const
    {
        return cut != TransferCost::kNoCut && m_cutUser[cut] == kSeveral;
    }

    /// Whether a collective that the class posts ties it to others.
    bool OfCollective(uint32_t classId, uint32_t collective) const
    {
        return m_collectives[size_t{classId} * m_count + collective] == Use::Shared;
    }

  private:
    static constexpr uint32_t kNobody = UINT32_MAX;
    static constexpr uint32_t kSeveral = UINT32_MAX - 1;

    enum class Use : uint8_t
    {
        None,
        Own,
        Shared
    };

    void UseCut(uint32_t classId, const TransferCost& cost);
    void UseCollective(uint32_t classId, uint32_t collective);

    ClassCosts& m_costs;
    const TaskGraph& m_graph;
    size_t m_count;                  //!< of collectives
    std::vector<uint32_t> m_cutUser; //!< by cut
    std::vector<Use> m_collectives;  //!< by class x collective
};

} // namespace scaleacross

#endif // SCALEACROSS_COUPLING_H
