// SPDX-License-Identifier: GPL-2.0-only

#include "core/explore/crew.h"

#include "core/explore/outcome.h"

#include <algorithm>
#include <utility>

namespace scaleacross
{

namespace
{

/// Most jobs of a search take microseconds: to wake the one who takes them for each would take
/// longer than they do.
constexpr auto g_handOver = std::chrono::milliseconds(1);

} // namespace

Crew::Crew(unsigned threads,
           size_t jobs,
           const std::atomic<bool>* stop,
           std::function<void(size_t)> work)
    : m_jobs(jobs),
      m_stop(stop),
      m_work(std::move(work))
{
    m_running = std::min<size_t>(ThreadsOf(threads), jobs);
    for (size_t i = 0, n = m_running; i < n; i++)
    {
        m_threads.emplace_back([this] { Work(); });
    }
}

unsigned
Crew::ThreadsOf(unsigned asked)
{
    return asked == 0 ? std::max(1U, std::thread::hardware_concurrency()) : asked;
}

Crew::~Crew()
{
    m_abort = true;
    for (auto& thread : m_threads)
    {
        thread.join();
    }
}

bool
Crew::Stopped() const
{
    return m_abort || (m_stop != nullptr && m_stop->load());
}

void
Crew::Work()
{
    using Clock = std::chrono::steady_clock;
    std::vector<size_t> done; // not handed over yet
    auto handed = Clock::now();
    try
    {
        while (!Stopped())
        {
            const size_t job = m_next.fetch_add(1);
            if (job >= m_jobs)
            {
                break;
            }
            m_work(job);
            done.push_back(job);
            if (const auto now = Clock::now(); now - handed >= g_handOver)
            {
                handed = now;
                const std::lock_guard<std::mutex> lock(m_mutex);
                m_done.insert(m_done.end(), done.begin(), done.end());
                done.clear();
                m_change.notify_one();
            }
        }
    }
    catch (const Interrupted&)
    {
        m_abort = true;
    }
    catch (...)
    {
        m_abort = true;
        const std::lock_guard<std::mutex> lock(m_mutex);
        if (!m_error)
        {
            m_error = std::current_exception();
        }
    }
    const std::lock_guard<std::mutex> lock(m_mutex);
    m_done.insert(m_done.end(), done.begin(), done.end());
    m_running--;
    m_change.notify_one();
}

std::vector<size_t>
Crew::Take(std::chrono::steady_clock::duration patience, bool& last)
{
    std::unique_lock<std::mutex> lock(m_mutex);
    m_change.wait_for(lock, patience, [this] { return !m_done.empty() || m_running == 0; });
    last = m_running == 0;
    std::vector<size_t> taken;
    taken.swap(m_done);
    return taken;
}

std::exception_ptr
Crew::Error()
{
    const std::lock_guard<std::mutex> lock(m_mutex);
    return m_error;
}

} // namespace scaleacross
