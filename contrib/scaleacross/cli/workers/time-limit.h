// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TIME_LIMIT_H
#define SCALEACROSS_TIME_LIMIT_H

#include "core/base/units.h"

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace scaleacross
{

/**
 * What `work` returns or throws; nothing if it is not done in time.
 *
 * It runs on a thread of its own. Engines look at their limit themselves and end in order, but not
 * while they prepare, where a graph can take long to build, nor between the ticks of a simulated
 * clock; so they have a second more than `limit`. A thread that is given up cannot be ended: it
 * goes on with what `work` holds, and the program is to end by EndAbandoned. Without a limit,
 * Duration::Max(), `work` runs here.
 */
template <class Work>
auto
Within(Duration limit, Work work) -> std::optional<decltype(work())>
{
    if (limit == Duration::Max())
    {
        return work();
    }
    using Result = decltype(work());
    // Shared with a thread that may outlive this function.
    auto task = std::make_shared<std::packaged_task<Result()>>(std::move(work));
    auto result = task->get_future();
    std::thread([task] { (*task)(); }).detach();
    // What no clock counts is never over.
    const std::chrono::duration<double> patience(std::min(limit.S() + 1, 1e9));
    if (result.wait_for(patience) == std::future_status::ready)
    {
        return result.get();
    }
    return std::nullopt;
}

/// The value of an option that limits a time; Max() for "", no limit. Throws ConfigError for what
/// is no time above 0.
Duration TimeLimitOf(const std::string& text, const std::string& option = "--time-limit");

/// What is said of work that Within has given up.
std::string NotDoneAfter(Duration limit);

/// Does what is `last` to do and ends the program as failed, while a thread that Within has given
/// up is still busy. What `last` throws is said like any error.
[[noreturn]] void EndAbandoned(const std::function<void()>& last);

} // namespace scaleacross

#endif // SCALEACROSS_TIME_LIMIT_H
