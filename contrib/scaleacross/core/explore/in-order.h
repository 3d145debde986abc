// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_IN_ORDER_H
#define SCALEACROSS_IN_ORDER_H

#include <cstddef>
#include <functional>
#include <mutex>
#include <utility>
#include <vector>

namespace scaleacross
{

/**
 * Lets jobs that end in any order, on any threads, count in their own: what one of them means may
 * depend on those before it, and so does not on which was the faster.
 */
class InOrder
{
  public:
    /// @param jobs how many there are: 0 to jobs - 1
    /// @param mutex held while `count` is called
    /// @param count called once for each job, from the thread that has done it or one before it
    InOrder(size_t jobs, std::mutex& mutex, std::function<void(size_t)> count)
        : m_done(jobs, false),
          m_mutex(mutex),
          m_count(std::move(count))
    {
    }

    /// Counts it, and what was done behind it, once all before it are. Domain: not done yet.
    void Done(size_t job)
    {
        const std::lock_guard lock(m_mutex);
        m_done[job] = true;
        while (m_next < m_done.size() && m_done[m_next])
        {
            m_count(m_next++);
        }
    }

    /// Counts what is done behind one that is not, and will not be.
    void PassOver()
    {
        const std::lock_guard lock(m_mutex);
        while (m_next < m_done.size())
        {
            const size_t job = m_next++;
            if (m_done[job])
            {
                m_count(job);
            }
        }
    }

  private:
    std::vector<bool> m_done;
    std::mutex& m_mutex;
    std::function<void(size_t)> m_count;
    size_t m_next{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_IN_ORDER_H
