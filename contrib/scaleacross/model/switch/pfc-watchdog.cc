// SPDX-License-Identifier: GPL-2.0-only

#include "pfc-watchdog.h"

#include "ns3/arrival-agenda.h"

#include <algorithm>

namespace scaleacross
{

PfcWatchdog::PfcWatchdog(Owner& owner)
    : m_owner(owner)
{
}

void
PfcWatchdog::Configure(const Config& config)
{
    m_detection = config.detection.GetPicoSeconds();
    m_restoration = config.restoration.GetPicoSeconds();
    m_forward = config.forward;
}

std::vector<PfcWatchdog::Watched>::iterator
PfcWatchdog::Find(uint32_t port, uint8_t priority)
{
    return std::find_if(m_watched.begin(), m_watched.end(), [&](const Watched& watched) {
        return watched.port == port && watched.priority == priority;
    });
}

void
PfcWatchdog::Watch(Watched& watched, int64_t now)
{
    const bool waiting = m_owner.IsWaiting(watched.port, watched.priority);
    watched.due = waiting ? now + m_detection : kNever;
    m_owner.Mark(watched.port, watched.priority, !waiting);
}

void
PfcWatchdog::PauseChanged(uint32_t port, uint8_t priority, bool paused, int64_t now)
{
    auto watched = Find(port, priority);
    if (watched == m_watched.end())
    {
        if (paused)
        {
            m_watched.push_back({port, priority, true, false, kNever});
            Watch(m_watched.back(), now);
        }
        return;
    }
    watched->paused = paused;
    if (watched->storm)
    {
        watched->due = paused ? kNever : now + m_restoration;
    }
    else
    {
        m_owner.Mark(port, priority, false);
        m_watched.erase(watched);
    }
}

bool
PfcWatchdog::Admits(uint32_t port, uint8_t priority, int64_t now)
{
    auto watched = Find(port, priority);
    if (watched->storm)
    {
        return false;
    }
    // The first packet of a paused queue. Should it find no memory, Check asks for the next one.
    watched->due = now + m_detection;
    m_owner.Mark(port, priority, false);
    return true;
}

int64_t
PfcWatchdog::Due() const
{
    int64_t due = kNever;
    for (const Watched& watched : m_watched)
    {
        due = std::min(due, watched.due);
    }
    return due;
}

void
PfcWatchdog::Check(int64_t now)
{
    for (Watched& watched : m_watched)
    {
        if (watched.due > now)
        {
            continue;
        }
        if (watched.storm)
        {
            watched.storm = false;
            m_owner.Mark(watched.port, watched.priority, false);
            m_owner.EndStorm(watched.port, watched.priority, now);
        }
        else if (!m_owner.IsWaiting(watched.port, watched.priority))
        {
            Watch(watched, now);
        }
        else
        {
            watched.storm = true;
            watched.due = kNever;
            ++m_storms;
            m_owner.Mark(watched.port, watched.priority, !m_forward);
            m_owner.BeginStorm(watched.port, watched.priority, now);
        }
    }
    // Queues whose storm is over are neither paused nor in a storm.
    m_watched.erase(
        std::remove_if(m_watched.begin(),
                       m_watched.end(),
                       [](const Watched& watched) { return !watched.storm && !watched.paused; }),
        m_watched.end());
}

bool
PfcWatchdog::IsStorm(uint32_t port, uint8_t priority) const
{
    return std::any_of(m_watched.begin(), m_watched.end(), [&](const Watched& watched) {
        return watched.port == port && watched.priority == priority && watched.storm;
    });
}

} // namespace scaleacross
