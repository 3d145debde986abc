// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_WATCHED_TRACE_H
#define SCALEACROSS_WATCHED_TRACE_H

#include "ns3/traced-callback.h"

#include <functional>
#include <string>
#include <utility>

namespace scaleacross
{

/**
 * A trace source whose object learns that a sink is being connected.
 *
 * Departures are computed late while nobody looks at them, and some traces are not even asked
 * whether they have sinks. Both have to change with the first sink; they stay changed when it is
 * disconnected, which makes no difference to results.
 */
template <typename... Ts>
class WatchedTrace : public ns3::TracedCallback<Ts...>
{
  public:
    /// What to do when a sink is connected, before it is.
    void OnConnect(std::function<void()> action)
    {
        m_action = std::move(action);
    }

    void ConnectWithoutContext(const ns3::CallbackBase& callback)
    {
        Announce();
        ns3::TracedCallback<Ts...>::ConnectWithoutContext(callback);
    }

    void Connect(const ns3::CallbackBase& callback, std::string path)
    {
        Announce();
        ns3::TracedCallback<Ts...>::Connect(callback, std::move(path));
    }

  private:
    void Announce()
    {
        if (m_action)
        {
            m_action();
        }
    }

    std::function<void()> m_action;
};

} // namespace scaleacross

#endif // SCALEACROSS_WATCHED_TRACE_H
