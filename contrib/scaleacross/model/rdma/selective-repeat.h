// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SELECTIVE_REPEAT_H
#define SCALEACROSS_SELECTIVE_REPEAT_H

#include "ns3/psn-bitmap.h"

#include <cstdint>
#include <deque>

namespace scaleacross
{

/**
 * What a sender with selective repeat knows of its unacknowledged packets: which have arrived,
 * which are lost, which have been sent again.
 *
 * Model: every ACK and NAK says that all packets before `cumulative` have arrived, and `cause`, the
 * one that made the receiver answer. Whatever was sent more than `tolerance` transmissions before
 * `cause` and has not arrived is lost:
 *   - packets that have been sent once: their PSN is more than `tolerance` below that of `cause`;
 *   - packets that have been sent again: the transmissions between follow from the position in the
 *     list of repetitions and from the first PSN that had not been sent at that time.
 * On paths that keep the order a tolerance of 0 is exact. So a lost repetition is found as soon as
 * anything sent after it arrives, and each loss is repeated once; only if nothing sent after it
 * arrives it takes the timer, after which everything that has not arrived counts as lost.
 *
 * A packet whose payload a switch has cut off is named by the receiver (Trimmed) and is lost at
 * once, whatever the tolerance: each such notice makes it be sent again exactly once. One that
 * tells of a transmission which has been given up before is ignored.
 *
 * Lost packets are sent again before new ones, in the order in which they were found.
 *
 * Source: the shape (bitmap, cumulative and causing PSN in every NAK, each loss repeated once per
 * recovery) is IRN's: Mittal et al., Revisiting Network Support for RDMA, SIGCOMM 2018. There, lost
 * repetitions always wait for the timer.
 *
 * Worked case: 0 to 9 have been sent, 3 and 5 are lost. NAK (3, caused by 4): 3 is lost and goes
 * out after 9, before 10. NAK (3, caused by 6): 5 is lost and goes out after 10, say. If the
 * repetition of 3 is lost too, NAK (3, caused by 10), which was sent after it, says so. With 7
 * trimmed and a tolerance of 100, Trimmed (3, 7) has 7 sent again next, and 3 still waits.
 */
class SelectiveRepeat
{
  public:
    /// What an answer or a timeout has brought.
    struct Finding
    {
        bool progress{false};  //!< a packet is known to have arrived that was not before
        uint64_t lost{0};      //!< packets found lost just now
        uint64_t firstLost{0}; //!< the first of them
        uint64_t arrived{0};   //!< packets that are newly known to have arrived
    };

    void Start(uint64_t firstPsn, uint64_t tolerance);

    /// An answer has come: `next` is the first PSN that has not been sent. Domain: first
    /// unacknowledged <= cumulative <= next.
    Finding Answered(uint64_t cumulative, uint64_t cause, uint64_t next);

    /**
     * The receiver has got `psn` without its payload, and all before `cumulative`. `repetition`: it
     * was not the first transmission of it. A timely notice is no evidence about other packets, as
     * trimmed ones overtake.
     */
    Finding Trimmed(uint64_t cumulative, uint64_t psn, uint64_t next, bool repetition);

    /// The receiver had to throw `psn` away, all before have arrived: it is to be sent again.
    void Refused(uint64_t psn);

    /// Nothing has come for so long that whatever has not arrived is lost.
    Finding TimedOut(uint64_t next);

    /// There is a packet to send again.
    bool HasLost() const
    {
        return !m_lost.empty();
    }

    /// The packet to send again now. Domain: HasLost().
    uint64_t TakeLost(uint64_t next);

    /// Packets from the first unacknowledged one on that are known not to be under way: they have
    /// arrived, or are lost and wait to be sent again.
    uint64_t NotUnderWay() const
    {
        return m_arrived.Count() + m_toRepeat.Count();
    }

    /// Packets that wait to be sent again.
    uint64_t Waiting() const
    {
        return m_toRepeat.Count();
    }

    /// Packets known to have arrived beyond the first that has not.
    const PsnBitmap& Arrived() const
    {
        return m_arrived;
    }

  private:
    struct Repetition
    {
        uint64_t psn;
        uint64_t before; //!< first PSN that had not been sent when it was sent again
    };

    bool HasArrived(uint64_t psn) const
    {
        return psn < m_una || m_arrived.Test(psn);
    }

    void JudgeRepetitions(uint64_t cause, uint64_t position, Finding& finding);
    void JudgeFirst(uint64_t end, Finding& finding);
    void FoundLost(uint64_t psn, Finding& finding);
    void Note(PsnBitmap& set, uint64_t psn) const;
    void TidyLost();

    uint64_t m_una{0};    //!< first PSN that has not arrived
    uint64_t m_judged{0}; //!< PSNs below have been found to have arrived or to be lost once
    uint64_t m_tolerance{0};
    PsnBitmap m_arrived;
    PsnBitmap m_trimmed;  //!< lost by a notice, and perhaps not judged yet
    PsnBitmap m_toRepeat; //!< what m_lost stands for
    /// To be sent again, in order, if it is in m_toRepeat; the first is.
    std::deque<uint64_t> m_lost;
    std::deque<Repetition> m_repetitions; //!< sent again and not known to have arrived, in order
};

} // namespace scaleacross

#endif // SCALEACROSS_SELECTIVE_REPEAT_H
