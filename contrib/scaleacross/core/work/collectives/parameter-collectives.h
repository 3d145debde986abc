// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PARAMETER_COLLECTIVES_H
#define SCALEACROSS_PARAMETER_COLLECTIVES_H

#include "core/spec/scenario.h"
#include "core/topology/rank-layout.h"
#include "core/work/collectives/collective-table.h"
#include "core/work/collectives/parameter-units.h"
#include "core/work/graph/layer-program.h"

#include <cstdint>

namespace scaleacross
{

/// Which of a unit's parameters.
enum class UnitPart : uint8_t
{
    Dense, //!< over the dense data-parallel group
    Expert //!< routed experts, over the expert data-parallel group
};

/**
 * Gathers and reductions of a rank's parameter units, each known by its slot, a number on the rank.
 *
 * Gathers move BF16 parameters within the shard group on Stream::Gather. Reductions move gradients
 * of WorkloadSpec::gradientBytes on Stream::Reduce: DDP all-reduces; ZeRO and FSDP reduce-scatter;
 * HSDP reduce-scatters inside the shard group and then all-reduces the shard across, two
 * collectives on the one in-order stream, so that the next unit's first step waits for the crossing
 * of this one's.
 *
 * Handles: the first belong to LayerProgram; slot i has four: gather and reduction of either part,
 * all collectives of it.
 */
class ParameterCollectives
{
  public:
    ParameterCollectives(const JobSpec& job,
                         const RankLayout& layout,
                         const LoweringRules& rules,
                         CollectiveTable& table);

    /// Whether any parameters are sharded, so that they must be gathered for use.
    bool Shards() const;

    void PostGather(const ParameterUnit& unit, uint32_t slot, Program& program) const;
    void WaitGather(const ParameterUnit& unit,
                    uint32_t slot,
                    UnitPart part,
                    Program& program) const;

    /// @param replicas also sum over the replicas of the shard (DDP, HSDP).
    void PostReduction(const ParameterUnit& unit,
                       uint32_t slot,
                       UnitPart part,
                       bool replicas,
                       Program& program) const;
    void WaitReduction(const ParameterUnit& unit, uint32_t slot, Program& program) const;

    static uint32_t Handles(uint32_t slots)
    {
        return LayerProgram::kHandles + 4 * slots;
    }

  private:
    const DataGroups& Groups(UnitPart part) const
    {
        return part == UnitPart::Dense ? m_dense : m_expert;
    }

    static uint64_t Count(const ParameterUnit& unit, UnitPart part)
    {
        return part == UnitPart::Dense ? unit.dense : unit.expert;
    }

    static uint32_t Handle(uint32_t slot, UnitPart part, bool reduction);
    bool Gathers(const ParameterUnit& unit, UnitPart part) const;
    bool Reduces(const ParameterUnit& unit, UnitPart part) const;

    RankLayout m_layout;
    LoweringRules m_rules;
    uint32_t m_gradientBytes;
    DataGroups m_dense;
    DataGroups m_expert;
    CollectiveTable& m_table;
};

} // namespace scaleacross

#endif // SCALEACROSS_PARAMETER_COLLECTIVES_H
