// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/flow/server-rings.h"

#include "core/base/errors.h"
#include "core/program/step-pattern.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

namespace
{

constexpr int64_t kNever = INT64_MAX / 2;

} // namespace

ServerRings::ServerRings(const Scenario& scenario,
                         const Symmetry& symmetry,
                         FlowClock& clock,
                         Owner& owner)
    : m_symmetry(symmetry),
      m_clock(clock),
      m_owner(owner),
      m_gpusPerNode(scenario.cluster.buildings.front().gpusPerNode),
      m_rings(scenario.cluster.Gpus()),
      m_out(scenario.cluster.Gpus()),
      m_in(scenario.cluster.Gpus())
{
    for (const BuildingSpec& building : scenario.cluster.buildings)
    {
        m_gpus.insert(m_gpus.end(), building.gpus, &building.gpu);
    }
}

const ServerRings::Group&
ServerRings::GroupOf(Rank rank, const Phase& phase)
{
    const auto [found, isNew] = m_groups.try_emplace({&phase, rank});
    Group& group = found->second;
    if (!isNew)
    {
        return group;
    }
    const uint32_t n = phase.group.Size();
    if (StepsOf(phase).ChainOf() != Chain::Ring || phase.perServer != 1 || n > m_gpusPerNode)
    {
        return group;
    }
    group.index = phase.group.IndexOf(rank);
    group.next = phase.group.Member(rank, (group.index + 1) % n);
    group.fits = true;
    for (uint32_t i = 0; i < n; i++)
    {
        const Rank member = phase.group.Member(rank, i);
        group.fits = group.fits && member / m_gpusPerNode == rank / m_gpusPerNode;
        group.members.push_back(m_symmetry.rank[member]);
    }
    group.kinds = group.members;
    std::sort(group.kinds.begin(), group.kinds.end());
    group.kinds.erase(std::unique(group.kinds.begin(), group.kinds.end()), group.kinds.end());
    return group;
}

bool
ServerRings::IsIn(Rank rank, uint64_t tag) const
{
    const Ring& ring = m_rings[rank];
    return ring.isThere && ring.start.tag == tag;
}

bool
ServerRings::Takes(Rank rank, const PhaseStart& start)
{
    const Group& group = GroupOf(rank, *start.whole);
    if (!group.fits)
    {
        return false;
    }
    if (m_broken.erase({rank, start.tag}) > 0)
    {
        return false;
    }
    const int64_t now = m_clock.Now().Ps();
    Ring& ring = m_rings[rank];
    bool takes = !m_owner.IsSendingInside(rank);
    if (takes && ring.isThere)
    {
        // What has left is done with; the rest of the ring before would be in the way.
        takes = ring.isOver && ring.ends.back() <= now;
    }
    if (!takes)
    {
        RestoreAll(group, start.tag);
        m_broken.erase({rank, start.tag});
        return false;
    }
    if (ring.isThere)
    {
        Retire(rank);
    }
    ring.isThere = true;
    ring.isOver = false;
    ring.start = start;
    ring.group = &group;
    ring.generation++;
    ring.entered = now;
    ring.ends.clear();
    ring.arrivals.clear();
    const bool areAllIn = std::all_of(group.kinds.begin(), group.kinds.end(), [&](Rank kind) {
        return IsIn(kind, start.tag);
    });
    if (areAllIn)
    {
        for (const Rank kind : group.kinds)
        {
            Schedule(kind);
        }
    }
    return true;
}

/// As the network would have it: never early by more than rounding.
int64_t
ServerRings::TimeOf(Rank rank, const Phase& phase, Bytes bytes) const
{
    constexpr double kPart = 1e-3; // of a picosecond
    const GpuSpec& gpu = *m_gpus[rank];
    const double rate = (gpu.scaleUpBandwidth * gpu.scaleUpEfficiency).Value();
    const auto size = static_cast<double>(std::max<uint64_t>(1, bytes.Count()));
    return static_cast<int64_t>(std::ceil(size * 8.0 * phase.occupied / rate * 1e12 - kPart));
}

int64_t
ServerRings::LatencyOf(Rank rank, const Phase& phase, Bytes bytes) const
{
    return phase.inside ? phase.inside->Of(static_cast<double>(bytes.Count())).Ps()
                        : m_gpus[rank]->scaleUpLatency.Ps();
}

/// When the messages of a rank in its ring leave, and those to it come; kNever where that depends
/// on those who have not entered.
void
ServerRings::Trace(Rank rank, std::vector<int64_t>& ends, std::vector<int64_t>& arrivals) const
{
    const Ring& own = m_rings[rank];
    const Group& group = *own.group;
    const Phase& phase = *own.start.whole;
    const auto n = static_cast<uint32_t>(group.members.size());
    const bool isEven = phase.bytes.Count() % n == 0;
    int64_t time = 0;
    int64_t latency = 0;
    m_end.assign(n, 0);
    m_come.assign(n, 0);
    m_comeNow.assign(n, 0);
    ends.resize(n - 1);
    arrivals.resize(n - 1);
    for (uint32_t k = 0; k + 1 < n; k++)
    {
        for (uint32_t i = 0; i < n; i++)
        {
            if (!isEven || (k == 0 && i == 0))
            {
                const Bytes bytes = MessageOf(phase, i, 0, k).bytes;
                time = TimeOf(rank, phase, bytes);
                latency = LatencyOf(rank, phase, bytes);
            }
            const Ring& ring = m_rings[group.members[i]];
            const bool isIn = IsIn(group.members[i], own.start.tag);
            const int64_t entered = isIn ? ring.entered : kNever;
            const int64_t post = k == 0 ? entered : std::max(entered, m_come[i]);
            const int64_t begin = std::max(post, m_end[i]);
            m_end[i] = std::min(kNever, begin + time);
            m_comeNow[(i + 1) % n] = std::min(kNever, m_end[i] + latency);
        }
        m_come.swap(m_comeNow);
        ends[k] = m_end[group.index];
        arrivals[k] = m_come[group.index];
    }
}

/// All members have entered.
void
ServerRings::Schedule(Rank rank)
{
    Ring& ring = m_rings[rank];
    Trace(rank, ring.ends, ring.arrivals);
    const Duration over = Duration::Picoseconds(std::max(ring.entered, ring.arrivals.back()));
    m_clock.At(over, [this, rank, generation = ring.generation] { Over(rank, generation); });
}

void
ServerRings::Over(Rank rank, uint32_t generation)
{
    Ring& ring = m_rings[rank];
    if (!ring.isThere || ring.generation != generation)
    {
        return;
    }
    ring.isOver = true;
    const uint32_t stream = ring.start.stream;
    if (ring.ends.back() <= m_clock.Now().Ps())
    {
        Retire(rank);
    }
    m_owner.PhaseOver(rank, stream);
}

/// All of its messages count as sent.
void
ServerRings::Retire(Rank rank)
{
    Ring& ring = m_rings[rank];
    const auto bytes = static_cast<double>(SentBy(*ring.start.whole, ring.group->index).Count());
    Leave(rank, bytes);
}

/// Has no ring in hand any more; so many bytes of it have left.
void
ServerRings::Leave(Rank rank, double carried)
{
    Ring& ring = m_rings[rank];
    m_out[rank] += carried;
    m_in[m_symmetry.rank[ring.group->next]] += carried;
    ring.isThere = false;
}

void
ServerRings::Disturb(Rank rank)
{
    Ring& ring = m_rings[rank];
    if (!ring.isThere)
    {
        return;
    }
    if (ring.isOver && ring.ends.back() <= m_clock.Now().Ps())
    {
        Retire(rank);
        return;
    }
    RestoreAll(*ring.group, ring.start.tag);
}

/// Those of a group who have entered go on message by message, and so will the others.
void
ServerRings::RestoreAll(const Group& group, uint64_t tag)
{
    std::vector<Rank> entered;
    bool isKnown = false;
    for (const Rank kind : group.kinds)
    {
        if (IsIn(kind, tag))
        {
            entered.push_back(kind);
            isKnown = isKnown || !m_rings[kind].ends.empty();
        }
    }
    if (!isKnown)
    {
        for (const Rank kind : group.kinds)
        {
            if (!IsIn(kind, tag))
            {
                m_broken.insert({kind, tag});
            }
        }
        for (const Rank kind : entered)
        {
            Trace(kind, m_rings[kind].ends, m_rings[kind].arrivals);
        }
    }
    for (const Rank kind : entered)
    {
        Restore(kind, entered);
    }
}

/// `together`: those of its group who are restored with it.
void
ServerRings::Restore(Rank rank, const std::vector<Rank>& together)
{
    Ring& ring = m_rings[rank];
    const Group& group = *ring.group;
    const Phase& phase = *ring.start.whole;
    const uint64_t tag = ring.start.tag;
    const int64_t now = m_clock.Now().Ps();
    const bool isNextToEnter = m_broken.count({m_symmetry.rank[group.next], tag}) > 0;
    Leave(rank, CarriedBy(ring, ring.ends, ring.arrivals));
    const auto steps = static_cast<uint32_t>(ring.ends.size());
    const auto isTogether = [&together](Rank kind) {
        return std::find(together.begin(), together.end(), kind) != together.end();
    };
    // Of parts that are not even, whoever is through has all, whatever a byte more would take.
    const Rank next = m_symmetry.rank[group.next];
    const bool isNextOver = isTogether(next) && m_rings[next].isOver;
    uint32_t sent = 0;
    for (; sent < steps && PostOf(ring, ring.arrivals, sent) <= now; sent++)
    {
        const Bytes bytes = MessageOf(phase, group.index, 0, sent).bytes;
        const double left = LeftOf(ring, ring.ends, ring.arrivals, sent);
        if (left <= 0 || isNextOver)
        {
            if (isNextToEnter)
            {
                m_owner.DeliverAt(
                    Duration::Picoseconds(
                        std::max(now, ring.ends[sent] + LatencyOf(rank, phase, bytes))),
                    m_symmetry.rank[group.next],
                    tag + sent);
            }
        }
        else
        {
            m_owner.SendRest(rank,
                             group.next,
                             bytes,
                             left,
                             tag + sent,
                             RankReplay::CareOf(phase, ring.start.comm, 0, bytes));
        }
    }
    if (ring.isOver)
    {
        return;
    }
    const auto n = static_cast<uint32_t>(group.members.size());
    const uint32_t before = (group.index + n - 1) % n;
    const bool isWithBefore = isTogether(group.members[before]);
    const std::vector<int64_t>& endsBefore = m_rings[group.members[before]].ends;
    uint32_t received = 0;
    for (uint32_t k = 0; k < steps && ring.arrivals[k] < kNever; k++)
    {
        // By the sender's own account: a part may be a byte larger than those that it is alike to.
        const bool hasLeft = !isWithBefore || endsBefore[k] <= now;
        // The last one is what it waits for, also if it has come.
        if (hasLeft && ring.arrivals[k] <= now && k + 1 < steps)
        {
            received++;
            continue;
        }
        if (hasLeft)
        {
            m_owner.DeliverAt(Duration::Picoseconds(std::max(now, ring.arrivals[k])),
                              rank,
                              tag + k);
        }
    }
    m_owner.GoOnWithPhase(rank, ring.start.stream, sent, received);
}

/// When a message may leave.
int64_t
ServerRings::PostOf(const Ring& ring, const std::vector<int64_t>& arrivals, uint32_t k)
{
    return k == 0 ? ring.entered : std::max(ring.entered, arrivals[k - 1]);
}

/// The share of a message that has not left by now.
double
ServerRings::LeftOf(const Ring& ring,
                    const std::vector<int64_t>& ends,
                    const std::vector<int64_t>& arrivals,
                    uint32_t k) const
{
    const int64_t now = m_clock.Now().Ps();
    const int64_t post = PostOf(ring, arrivals, k);
    const int64_t begin = k == 0 ? post : std::max(post, ends[k - 1]);
    if (begin >= now)
    {
        return 1;
    }
    return ends[k] <= now ? 0 : static_cast<double>(ends[k] - now) / (ends[k] - begin);
}

/// Bytes that have left a rank by now.
double
ServerRings::CarriedBy(const Ring& ring,
                       const std::vector<int64_t>& ends,
                       const std::vector<int64_t>& arrivals) const
{
    double carried = 0;
    for (uint32_t k = 0; k < ends.size(); k++)
    {
        const Bytes bytes = MessageOf(*ring.start.whole, ring.group->index, 0, k).bytes;
        carried += static_cast<double>(bytes.Count()) * (1 - LeftOf(ring, ends, arrivals, k));
    }
    return carried;
}

void
ServerRings::AddCarried(std::vector<double>& out, std::vector<double>& in) const
{
    std::vector<int64_t> ends;
    std::vector<int64_t> arrivals;
    for (Rank rank = 0; rank < m_rings.size(); rank++)
    {
        const Ring& ring = m_rings[rank];
        out[rank] += m_out[rank];
        in[rank] += m_in[rank];
        if (ring.isThere)
        {
            Trace(rank, ends, arrivals);
            const bool isKnown = !ring.ends.empty();
            const double carried = isKnown ? CarriedBy(ring, ring.ends, ring.arrivals)
                                           : CarriedBy(ring, ends, arrivals);
            out[rank] += carried;
            in[m_symmetry.rank[ring.group->next]] += carried;
        }
    }
}

} // namespace scaleacross
