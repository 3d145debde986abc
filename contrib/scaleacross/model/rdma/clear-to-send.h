// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CLEAR_TO_SEND_H
#define SCALEACROSS_CLEAR_TO_SEND_H

#include "core/base/units.h"
#include "rdma-queue-pair.h"
#include "receiver-admission.h"

#include "ns3/ptr.h"

#include <cstdint>
#include <deque>

namespace scaleacross
{

/**
 * How a connection asks for messages to be admitted, and is told: requests and grants are sends of
 * a few bytes over a queue pair of their own, and ReceiverAdmission at the receiving NIC decides.
 *
 * Model: a send carries no payload in the simulation, so what a grant says is kept here until it
 * arrives, in the order in which grants were sent, which a queue pair keeps.
 */
class ClearToSend
{
  public:
    /// RdmaConnection's attributes ClearToSend, ControlPriority and ControlBytes.
    struct Config
    {
        bool on{false};
        uint8_t priority{6};
        uint32_t bytes{64};
    };

    struct Grant
    {
        uint64_t id; //!< of the message
        uint64_t bytes;
    };

    /// The queue pair, and a source of the receiving NIC's admission. `grant` is to call SendGrant.
    void Connect(const Config& config,
                 ns3::Ptr<ns3::RdmaQueuePair> local,
                 ns3::Ptr<ns3::RdmaQueuePair> remote,
                 ns3::Ptr<ns3::ReceiverAdmission> admission,
                 const ns3::ReceiverAdmission::GrantCallback& grant);

    /// It has been connected: nothing may be sent without a grant.
    bool IsOn() const
    {
        return m_admission != nullptr;
    }

    /// At the sender: asks to send message `id`.
    void Request(uint64_t id);
    /// At the receiver: message `id` of `bytes` is asked for.
    void RequestArrived(uint64_t id, Bytes bytes);
    /// At the receiver: so much of it is granted.
    void SendGrant(uint64_t id, Bytes bytes);
    /// At the sender: a grant has arrived, and this one it is.
    Grant TakeGrant();
    /// At the receiver: granted bytes have arrived.
    void Arrived(Bytes bytes);

    /// The connection has failed: the receiver is told at once; a real one finds out by its own
    /// timeouts.
    void Withdraw();

    /// Forgets everything that others own.
    void Clear();

  private:
    uint32_t m_bytes{0};
    ns3::Ptr<ns3::RdmaQueuePair> m_local;
    ns3::Ptr<ns3::RdmaQueuePair> m_remote;
    ns3::Ptr<ns3::ReceiverAdmission> m_admission;
    uint32_t m_source{0};       //!< our number at the admission
    std::deque<Grant> m_grants; //!< under way, in order
};

} // namespace scaleacross

#endif // SCALEACROSS_CLEAR_TO_SEND_H
