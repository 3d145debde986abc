// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CREW_H
#define SCALEACROSS_CREW_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace scaleacross
{

/**
 * Threads that do the jobs 0 to n - 1, begun in this order, each once.
 *
 * `work` is called from several threads at a time. Where it throws, or once `stop` is set, no job
 * is begun any more; what has been begun is finished.
 */
class Crew
{
  public:
    /// How many threads so many that are asked for are: 0 is one per core.
    static unsigned ThreadsOf(unsigned asked);

    /// @param threads 0: one per core
    /// @param stop looked at before every job, if given
    Crew(unsigned threads,
         size_t jobs,
         const std::atomic<bool>* stop,
         std::function<void(size_t)> work);
    Crew(const Crew&) = delete;
    Crew& operator=(const Crew&) = delete;
    ~Crew();

    /// The jobs handed over since the last call, after at most `patience`; `last` once nothing
    /// follows. A thread hands over what it has finished with the job that is the last of a
    /// millisecond, or its last.
    std::vector<size_t> Take(std::chrono::steady_clock::duration patience, bool& last);

    /// The first thing thrown by a job, if any; Interrupted is none, it only stops the others.
    std::exception_ptr Error();

  private:
    void Work();
    bool Stopped() const;

    size_t m_jobs;
    const std::atomic<bool>* m_stop;
    std::function<void(size_t)> m_work;
    std::atomic<size_t> m_next{0};
    std::atomic<bool> m_abort{false};
    std::mutex m_mutex;
    std::condition_variable m_change;
    std::vector<size_t> m_done;
    std::exception_ptr m_error;
    size_t m_running{0};
    std::vector<std::thread> m_threads;
};

} // namespace scaleacross

#endif // SCALEACROSS_CREW_H
