// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SENDER_TURNS_H
#define SCALEACROSS_SENDER_TURNS_H

#include "pacing-queue.h"

#include "ns3/arrival-agenda.h"
#include "ns3/fabric-packet.h"

#include <array>
#include <cstdint>
#include <vector>

namespace scaleacross
{

/// What SenderTurns keeps in a sender, and nobody else writes.
template <class Sender>
struct SenderTurn
{
    bool active{false};    //!< it can send: it has a place in a ring, or waits
    bool waiting{false};   //!< for the time of its next packet
    uint64_t sent{0};      //!< bytes of its turn so far, for TurnLength
    Sender* next{nullptr}; //!< in its ring
};

/**
 * Whose turn it is: the senders of a line, in a ring for each priority, and those that wait for the
 * time of their next packet.
 *
 * Model: a sender that can send and whose next packet is due stands at the end of the ring of its
 * priority, and the first of a ring starts a packet whenever the line is free for that priority. It
 * then leaves if it can send no more, and waits if its next packet is due later. Else it goes to
 * the end, or stays the first while its turn lasts (TurnLength). Those that wait go to the ends of
 * their rings when they are due (Admit), in the order of these times, and of their numbers if the
 * times are equal.
 *
 * A Sender has
 *   - GetNumber() and GetPriority(), which stay what they are;
 *   - CanSend();
 *   - Eligible(), ps: when its next packet is due, 0: at any time;
 *   - EligibleUnlessTimed(), ps: the same, or when something may make that another time;
 *   - AdvanceWait(time): that time has come;
 *   - Turn(), its SenderTurn.
 *
 * O(1) for a packet, O(log n) for a wait, O(n) when a sender in the middle of a ring leaves it.
 *
 * Worked case: 0, 1 and 2 can send at any time, and 1 has two packets: they start 0, 1, 2, 0, 1, 2,
 * 0, 2. If the next packet of 1 is due 50 ns after its first one has started, and a packet takes 20
 * ns, they start 0, 1, 2, 0, 2, 0, 1, 2. With turns of two packets, of which 1 waits after its
 * first: 0, 0, 1, 2, 2, 0, 2, 1.
 */
template <class Sender>
class SenderTurns
{
  public:
    /// A new sender. Domain: its number is how many there were before.
    void Add(Sender* sender)
    {
        m_senders.push_back(sender);
    }

    /// Whose turn it is, null if none of this priority may start.
    Sender* First(uint8_t priority) const
    {
        return m_rings[priority].head;
    }

    /// The first of this priority has started a packet, its last one of this turn if `ends`. True
    /// if it has left the ring.
    bool Started(uint8_t priority, int64_t start, bool ends)
    {
        Ring& ring = m_rings[priority];
        Sender* sender = ring.head;
        SenderTurn<Sender>& turn = sender->Turn();
        if (!sender->CanSend())
        {
            ring.head = turn.next;
            turn.active = false;
            return true;
        }
        if (sender->Eligible() > start)
        {
            ring.head = turn.next;
            Wait(sender);
            return true;
        }
        if (!ends)
        {
            return false;
        }
        turn.sent = 0;
        if (turn.next != nullptr)
        {
            ring.head = turn.next;
            Append(ring, sender);
        }
        return false;
    }

    /// A sender can send, or can no longer, or has another time. True if that has changed whose
    /// turn it is, or when Admit is due.
    bool Update(Sender* sender, int64_t now)
    {
        SenderTurn<Sender>& turn = sender->Turn();
        const bool active = sender->CanSend();
        if (active != turn.active)
        {
            turn.active = active;
            if (active)
            {
                Join(sender);
            }
            else
            {
                Leave(sender);
            }
            return true;
        }
        if (turn.waiting)
        {
            Wait(sender); // its rate may be another one
            return true;
        }
        if (active && sender->Eligible() > now)
        {
            // It had the rate of the line, and its packet is on it.
            Remove(sender);
            Wait(sender);
            return true;
        }
        return false;
    }

    /// When Admit is due, ps; kNever if none waits.
    int64_t Due() const
    {
        return m_waiting.Empty() ? kNever : m_waiting.Front().time;
    }

    /// Lets those go on that have waited until `now`; calls mayStart(priority) for each.
    template <class MayStart>
    void Admit(int64_t now, MayStart mayStart)
    {
        while (Due() <= now)
        {
            const PacingQueue::Entry first = m_waiting.Front();
            Sender* sender = m_senders[first.number];
            sender->AdvanceWait(first.time);
            if (sender->Eligible() > first.time)
            {
                m_waiting.Set(first.number, sender->EligibleUnlessTimed());
                continue;
            }
            StopWaiting(sender);
            Enter(sender);
            mayStart(sender->GetPriority());
        }
    }

    /// By number.
    const std::vector<Sender*>& Senders() const
    {
        return m_senders;
    }

    /// Forgets all senders without touching them.
    void Clear()
    {
        m_rings = {};
        m_waiting.Clear();
        m_senders.clear();
    }

  private:
    struct Ring
    {
        Sender* head{nullptr};
        Sender* tail{nullptr};
    };

    static void Append(Ring& ring, Sender* sender)
    {
        sender->Turn().next = nullptr;
        (ring.head == nullptr ? ring.head : ring.tail->Turn().next) = sender;
        ring.tail = sender;
    }

    void Join(Sender* sender)
    {
        if (sender->Eligible() > 0)
        {
            Wait(sender); // until Admit, if it is due already
            return;
        }
        Enter(sender);
    }

    /// It stands at the end of its ring, and its next turn is a whole one.
    void Enter(Sender* sender)
    {
        sender->Turn().sent = 0;
        Append(m_rings[sender->GetPriority()], sender);
    }

    /// Rare: it has gone back or failed, or its window has shrunk.
    void Leave(Sender* sender)
    {
        if (sender->Turn().waiting)
        {
            StopWaiting(sender);
            return;
        }
        Remove(sender);
    }

    void Remove(const Sender* sender)
    {
        Ring& ring = m_rings[sender->GetPriority()];
        Sender* rest = ring.head;
        ring = Ring();
        while (rest != nullptr)
        {
            Sender* next = rest->Turn().next;
            if (rest != sender)
            {
                Append(ring, rest);
            }
            rest = next;
        }
    }

    void Wait(Sender* sender)
    {
        sender->Turn().waiting = true;
        m_waiting.Set(sender->GetNumber(), sender->EligibleUnlessTimed());
    }

    void StopWaiting(Sender* sender)
    {
        sender->Turn().waiting = false;
        m_waiting.Remove(sender->GetNumber());
    }

    std::array<Ring, kPriorities> m_rings; //!< those that may start
    PacingQueue m_waiting;                 //!< those that are not due yet
    std::vector<Sender*> m_senders;        //!< by number
};

} // namespace scaleacross

#endif // SCALEACROSS_SENDER_TURNS_H
