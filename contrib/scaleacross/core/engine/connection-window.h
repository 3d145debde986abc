// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CONNECTION_WINDOW_H
#define SCALEACROSS_CONNECTION_WINDOW_H

#include "core/base/units.h"
#include "core/engine/state-words.h"
#include "core/engine/transfer-cost.h"
#include "core/program/collective.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace scaleacross
{

/**
 * What the transfers of a connection that follow each other leave of what it may have under way.
 *
 * A transfer that fills k windows takes k round trips R of the connection's time, from when all
 * before it has come back or from when it starts, whichever is later. Its last window leaves a
 * round trip before that: as in a generic cell rate algorithm (ITU-T I.371) with a tolerance of a
 * round trip.
 *
 * Worked case: R = 2 ms, transfers of one window each that start at 0, 0, 1 and 9 ms. They are held
 * for 0, 2, 3 and 0 ms, and leave at 0, 2, 4 and 9 ms.
 */
class ConnectionWindow
{
  public:
    /// Seconds from now until the last of a transfer, or of `times` that are alike, has left, at
    /// least; 0 where it has no window.
    double Hold(const WindowUse& use, Duration now, uint32_t times = 1)
    {
        m_back = std::max(m_back, now) + Duration::Seconds(use.Seconds(times));
        return std::max(0.0, (m_back - now).S() - use.round);
    }

    /// Writes down what decides how later transfers are held.
    void Describe(Duration now, StateWords& words) const
    {
        words.Add(std::max(m_back, now) - now);
    }

    /// All that it knows happens so much later.
    void Delay(Duration by)
    {
        m_back += by;
    }

  private:
    Duration m_back; //!< when all that has left is back
};

/// The windows of a rank's connections to those that it sends to in collectives, and that of what
/// it admits.
class RankWindows
{
  public:
    /// As ConnectionWindow::Hold(), of a phase or of `times` such chunks. Phases whose members send
    /// to the same ones share a connection.
    double Hold(const Phase& phase, const TransferCost& cost, Duration now, uint32_t times)
    {
        const double admitted = Admit(cost, now, times);
        if (cost.window.windows <= 0)
        {
            return admitted;
        }
        const Peer peer{phase.group, MessageOf(phase, 0, 0, 0).to};
        size_t i = 0;
        while (i < m_peers.size() && !(m_peers[i] == peer))
        {
            i++;
        }
        if (i == m_peers.size())
        {
            m_peers.push_back(peer);
            m_windows.emplace_back();
        }
        return std::max(admitted, m_windows[i].Hold(cost.window, now, times));
    }

    /// The same of what it admits, which is sent to it.
    double Admit(const TransferCost& cost, Duration now, uint32_t times = 1)
    {
        return cost.admission.windows > 0 ? m_admission.Hold(cost.admission, now, times) : 0.0;
    }

    /// As ConnectionWindow::Describe(); peers are known by the order in which they came.
    void Describe(Duration now, StateWords& words) const
    {
        m_admission.Describe(now, words);
        words.Add(uint64_t{m_windows.size()});
        for (const ConnectionWindow& window : m_windows)
        {
            window.Describe(now, words);
        }
    }

    /// As ConnectionWindow::Delay().
    void Delay(Duration by)
    {
        m_admission.Delay(by);
        for (ConnectionWindow& window : m_windows)
        {
            window.Delay(by);
        }
    }

  private:
    /// The group, and whom its first member sends to.
    using Peer = std::pair<RankGroup, uint32_t>;

    ConnectionWindow m_admission;
    std::vector<Peer> m_peers;
    std::vector<ConnectionWindow> m_windows; //!< by peer
};

} // namespace scaleacross

#endif // SCALEACROSS_CONNECTION_WINDOW_H
