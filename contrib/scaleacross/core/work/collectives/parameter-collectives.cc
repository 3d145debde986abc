// SPDX-License-Identifier: GPL-2.0-only

#include "core/work/collectives/parameter-collectives.h"

namespace scaleacross
{

namespace
{

constexpr UnitPart kParts[] = {UnitPart::Dense, UnitPart::Expert};

} // namespace

ParameterCollectives::ParameterCollectives(const JobSpec& job,
                                           const RankLayout& layout,
                                           const LoweringRules& rules,
                                           CollectiveTable& table)
    : m_layout(layout),
      m_rules(rules),
      m_gradientBytes(job.workload.gradientBytes),
      m_dense(DataGroupsOf(layout.dense, layout)),
      m_expert(DataGroupsOf(layout.experts, layout)),
      m_table(table)
{
}

bool
ParameterCollectives::Shards() const
{
    return m_dense.shard.Size() > 1 || m_expert.shard.Size() > 1;
}

uint32_t
ParameterCollectives::Handle(uint32_t slot, UnitPart part, bool reduction)
{
    return LayerProgram::kHandles + 4 * slot + (part == UnitPart::Expert ? 2 : 0) +
           (reduction ? 1 : 0);
}

bool
ParameterCollectives::Gathers(const ParameterUnit& unit, UnitPart part) const
{
    return Count(unit, part) > 0 && Groups(part).shard.Size() > 1;
}

bool
ParameterCollectives::Reduces(const ParameterUnit& unit, UnitPart part) const
{
    const DataGroups& groups = Groups(part);
    return Count(unit, part) > 0 && groups.shard.Size() * groups.replicas.Size() > 1;
}

void
ParameterCollectives::PostGather(const ParameterUnit& unit, uint32_t slot, Program& program) const
{
    for (const UnitPart part : kParts)
    {
        if (Gathers(unit, part))
        {
            const Bytes bytes(Count(unit, part) * kParameterBytes);
            const uint32_t collective = m_table.Add(Lower(CollectiveOp::AllGather,
                                                          CommClass::Data,
                                                          bytes,
                                                          Groups(part).shard,
                                                          m_layout,
                                                          m_rules));
            AppendCollective(collective, Stream::Gather, Handle(slot, part, false), program);
        }
    }
}

void
ParameterCollectives::WaitGather(const ParameterUnit& unit,
                                 uint32_t slot,
                                 UnitPart part,
                                 Program& program) const
{
    if (Gathers(unit, part))
    {
        AppendWait(Handle(slot, part, false), program);
    }
}

void
ParameterCollectives::PostReduction(const ParameterUnit& unit,
                                    uint32_t slot,
                                    UnitPart part,
                                    bool replicas,
                                    Program& program) const
{
    const DataGroups& groups = Groups(part);
    const Bytes bytes(Count(unit, part) * m_gradientBytes);
    const uint32_t shards = groups.shard.Size();
    const Bytes shard((bytes.Count() + shards - 1) / shards);
    const auto post = [&](CollectiveOp op, Bytes size, const RankGroup& group) {
        AppendCollective(m_table.Add(Lower(op, CommClass::Data, size, group, m_layout, m_rules)),
                         Stream::Reduce,
                         Handle(slot, part, true),
                         program);
    };
    if (bytes > Bytes())
    {
        post(CollectiveOp::ReduceScatter, bytes, groups.shard);
        if (replicas)
        {
            post(CollectiveOp::AllReduce, shard, groups.replicas);
        }
    }
}

void
ParameterCollectives::WaitReduction(const ParameterUnit& unit,
                                    uint32_t slot,
                                    Program& program) const
{
    for (const UnitPart part : kParts)
    {
        if (Reduces(unit, part))
        {
            AppendWait(Handle(slot, part, true), program);
        }
    }
}

} // namespace scaleacross
