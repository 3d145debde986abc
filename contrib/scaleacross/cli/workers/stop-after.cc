// SPDX-License-Identifier: GPL-2.0-only

#include "cli/workers/stop-after.h"

#include <algorithm>
#include <chrono>

namespace scaleacross
{

namespace
{

/// A signal handler cannot wake a thread: how often this one looks at what it sets.
constexpr auto g_look = std::chrono::milliseconds(20);

} // namespace

StopAfter::StopAfter(Duration limit, const std::atomic<bool>& stop)
    : m_stop(stop)
{
    if (limit != Duration::Max())
    {
        m_watch = std::thread([this, limit] { Watch(limit); });
    }
}

StopAfter::~StopAfter()
{
    {
        const std::lock_guard<std::mutex> lock(m_mutex);
        m_over = true;
    }
    m_change.notify_one();
    if (m_watch.joinable())
    {
        m_watch.join();
    }
}

const std::atomic<bool>&
StopAfter::Flag() const
{
    return m_watch.joinable() ? m_flag : m_stop;
}

void
StopAfter::Watch(Duration limit)
{
    using Clock = std::chrono::steady_clock;
    // Nobody waits for longer.
    const std::chrono::duration<double> patience(std::min(limit.S(), 1e9));
    const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(patience);
    std::unique_lock<std::mutex> lock(m_mutex);
    while (!m_over && !m_stop && Clock::now() < end)
    {
        m_change.wait_until(lock, std::min(end, Clock::now() + g_look));
    }
    m_flag = true;
}

} // namespace scaleacross
