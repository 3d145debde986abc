// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STOP_AFTER_H
#define SCALEACROSS_STOP_AFTER_H

#include "core/base/units.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace scaleacross
{

/// A flag that is set once another one is, or a time is up.
class StopAfter
{
  public:
    /// @param limit of wall clock time from now on; Max(): none
    /// @param stop the other flag, which is referred to
    StopAfter(Duration limit, const std::atomic<bool>& stop);
    StopAfter(const StopAfter&) = delete;
    StopAfter& operator=(const StopAfter&) = delete;
    ~StopAfter();

    /// Lives as long as this.
    const std::atomic<bool>& Flag() const;

  private:
    void Watch(Duration limit);

    const std::atomic<bool>& m_stop;
    std::atomic<bool> m_flag{false};
    bool m_over{false};
    std::mutex m_mutex;
    std::condition_variable m_change;
    std::thread m_watch; //!< none without a limit
};

} // namespace scaleacross

#endif // SCALEACROSS_STOP_AFTER_H
