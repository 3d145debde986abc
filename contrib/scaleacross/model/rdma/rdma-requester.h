// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RDMA_REQUESTER_H
#define SCALEACROSS_RDMA_REQUESTER_H

#include "queue-pair-ends.h"
#include "rdma-callbacks.h"
#include "rdma-counters.h"
#include "reordering.h"
#include "retry-timer.h"
#include "selective-repeat.h"
#include "send-allowance.h"
#include "send-queue.h"
#include "send-window.h"
#include "sender-turns.h"
#include "source-ports.h"

#include "ns3/fabric-packet.h"
#include "ns3/psn.h"
#include "ns3/watched-trace.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The sending half of a queue pair, the standard's requester: what to send next, what answers and
 * the timer do to that, and how it ends in an error.
 *
 * Model: messages are cut into packets of the NIC's PathMtu, in the order of posting (SendQueue).
 * A lost packet that may be repeated (SelectiveRepeat, SendWindow) goes before a new one. Window,
 * rate and congestion control are in SendAllowance, timeouts and waits for a receiver in
 * RetryTimer.
 *
 * With go-back-N a NAK makes it go back to the missing packet. With selective repeat it repeats
 * what was sent more than the tolerance before a packet that has arrived, and has not arrived
 * itself; and what a switch has trimmed at once. A timeout makes it go back to the first
 * unacknowledged packet, or repeat all that are not known to have arrived.
 *
 * The timer runs while anything that has been sent is unacknowledged; while the wire of the NIC is
 * down, and while it waits for pulls, also for what has been posted and could not leave yet.
 *
 * Times in ps.
 */
class RdmaRequester
{
  public:
    /// RdmaQueuePair's attributes of the same names, those of its parts among them.
    struct Config : SendAllowance::Config,
                    SendWindow::Config,
                    RetryTimer::Config,
                    SourcePorts::Config
    {
        uint8_t priority{3};
        bool ecnCapable{false};
    };

    /// Domain: all of them live as long as this.
    RdmaRequester(const QueuePairEnds& ends,
                  const Config& config,
                  const Reordering& reordering,
                  RdmaCounters& counters);

    // Trace sources of the queue pair.
    WatchedTrace<uint64_t, uint64_t> startedTrace;
    WatchedTrace<uint64_t, uint64_t> sentTrace;
    WatchedTrace<uint64_t, uint64_t> flushedTrace;
    WatchedTrace<uint64_t, uint64_t> retransmitTrace;
    WatchedTrace<uint64_t, uint32_t> timeoutTrace;
    WatchedTrace<> cnpTrace;

    ns3::RdmaMessageCallback completion; //!< a message is acknowledged
    ns3::RdmaFailureCallback failure;    //!< once, the last thing that is heard of it

    /// Who is told of the timer. `look`: what to do when somebody looks at a trace.
    void Watch(RetryTimer::Watcher& timer, const std::function<void()>& look);

    /// What is configured counts, and the ends are known but for the entropy, which it returns
    /// (SourcePorts::Connect). Throws ConfigError on impossible values.
    uint16_t Connect(uint16_t pinned);

    bool IsConnected() const
    {
        return m_connected;
    }

    /// It is connected and has not failed.
    bool IsOpen() const
    {
        return m_connected && m_failure.empty();
    }

    /// Which error, at which PSN, and what is lost by it; empty if it has not failed.
    const std::string& Failure() const
    {
        return m_failure;
    }

    const SendQueue& Queue() const
    {
        return m_queue;
    }

    SendAllowance& Allowance()
    {
        return m_allowance;
    }

    const SendAllowance& Allowance() const
    {
        return m_allowance;
    }

    SourcePorts& Ports()
    {
        return m_ports;
    }

    const SourcePorts& Ports() const
    {
        return m_ports;
    }

    /// Posts a message, to be shown. Throws ConfigError during the run if a packet would be longer
    /// than the switches on its way let pass. Domain: IsOpen().
    const PostedMessage& Post(RdmaOperation operation, uint64_t bytes, uint64_t tag);

    /// Messages posted so far may be sent from now on.
    void ShowPosted()
    {
        m_queue.Show();
    }

    /// See SendQueue. Domain: IsOpen(), and of a control that goes by pulls none.
    uint64_t Spare(std::size_t messages) const
    {
        return IsOpen() && !m_repeat.HasLost() ? m_queue.Spare(messages) : 0;
    }

    void LeaveOut(uint64_t packets, std::size_t messages);

    /// At time zero, when there are routes. Throws ConfigError if a full packet, or one that has
    /// been posted, is longer than the switches on its way let pass.
    void CheckSizes() const;

    // --- What SenderTurns asks

    uint32_t GetNumber() const
    {
        return m_ends.number;
    }

    uint8_t GetPriority() const
    {
        return m_config.priority;
    }

    bool CanSend() const
    {
        return m_window.Allows(m_queue);
    }

    int64_t Eligible() const
    {
        return m_allowance.Eligible();
    }

    int64_t EligibleUnlessTimed() const
    {
        return m_allowance.EligibleUnlessTimed();
    }

    void AdvanceWait(int64_t now)
    {
        m_allowance.Advance(now);
    }

    SenderTurn<RdmaRequester>& Turn()
    {
        return m_turn;
    }

    /// Fills in the next packet. Domain: CanSend().
    void FillNext(FabricPacket& packet, int64_t start);
    void HandleAck(const FabricPacket& packet, int64_t now);
    void HandleCnp(int64_t now);
    void HandlePull(const FabricPacket& packet, int64_t now);
    void HandleTimeout(int64_t now);
    /// The wire of the NIC has broken, or is back.
    void LinkChanged(bool up, int64_t now);
    /// The wire is down, or it waits for pulls: the timer runs although nothing is under way.
    void RunTimerIfHeldUp(int64_t now);

    /// When the timer runs out, kNever if it does not run.
    int64_t Deadline() const
    {
        return m_timer.Deadline();
    }

    /// Until then, in ps, it does not only go by what arrives: a receiver that was not ready holds
    /// it back, or its entropies are frozen. 0: neither.
    int64_t WaitsUntil() const
    {
        return std::max(m_timer.IsHeldBack() ? m_timer.Deadline() : 0,
                        m_ports.Ops() != nullptr ? m_ports.Ops()->WaitsUntil() : 0);
    }

    /// See RdmaQueuePair::MayComplete, for an ACK or TrimNak.
    bool MayComplete(const FabricPacket& packet) const
    {
        if (m_reordering.selective && !retransmitTrace.IsEmpty())
        {
            return true; // any answer may show losses
        }
        return m_queue.Completes(PsnNear(packet.psn, m_queue.Una()));
    }

    /// Forgets everything that others own.
    void Clear();

  private:
    struct Verdict;

    void CheckPulls() const;
    /// Throws ConfigError if switches spray, and the queue pair does not bear it (CheckTolerates).
    void CheckPaths() const;
    void CheckFits(uint32_t size) const;
    void Fill(FabricPacket& packet, const PostedMessage& message, uint64_t psn) const;
    void FillRepeated(FabricPacket& packet);
    void FillNew(FabricPacket& packet);
    void Judge(const FabricPacket& packet, Verdict& verdict);
    void Tell(const FabricPacket& packet, const Verdict& verdict, int64_t now);
    void Found(const SelectiveRepeat::Finding& finding);
    void GoBack(int64_t now);
    bool HoldBack(uint64_t timerCode, int64_t now);
    void UpdateWindow();
    void UpdateSending(int64_t now);
    bool Waits() const;
    uint64_t Backlog() const;
    uint64_t UnderWay(uint64_t from) const;
    void Complete(const std::vector<PostedMessage>& messages);
    void Fail(const std::string& error, int64_t now);

    const QueuePairEnds& m_ends;
    const Config& m_config;
    const Reordering& m_reordering;
    RdmaCounters& m_counters;
    SendQueue m_queue;
    SendWindow m_window;
    RetryTimer m_timer;
    SelectiveRepeat m_repeat;
    SendAllowance m_allowance;
    SourcePorts m_ports;
    SenderTurn<RdmaRequester> m_turn; //!< among those of its NIC that can send
    uint32_t m_mtu{0};
    uint32_t m_largest{0};    //!< packet of all messages, bytes on the wire without telemetry
    bool m_ecnCapable{false}; //!< switches may mark its packets
    bool m_connected{false};
    std::string m_failure;
};

} // namespace scaleacross

#endif // SCALEACROSS_RDMA_REQUESTER_H
