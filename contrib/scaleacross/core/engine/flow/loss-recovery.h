// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LOSS_RECOVERY_H
#define SCALEACROSS_LOSS_RECOVERY_H

#include "core/engine/flow/flow-clock.h"
#include "core/engine/loss-delay.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace scaleacross
{

/**
 * The losses of a connection's packets, drawn one by one, and what each of them delays.
 *
 * A packet that is lost with d packets of its queue pair after it in its transfer comes a round
 * trip late if d is at least s (LossyMessages::silent), of which what follows it takes d - s
 * packets' time. Nothing tells of the others until s - d more packets of the same queue pair have
 * come: those of the transfers that follow, whenever that is, or else the timeout does. A
 * repetition that is lost as well costs a timeout. Under go-back-N all is sent again from the lost
 * packet on, and may be lost again, so that delays add up, also those of the transfers that follow
 * on the queue pair: nothing of them is taken before what was lost has come. See LossDelay() for
 * the same in expectation.
 *
 * Left out: that whoever repeats packets sends later ones later; and by selective repeat whatever
 * follows a lost packet in later transfers comes when it would without.
 *
 * Worked case: transfers of 8 packets on one queue pair, s = 5, a round trip of 100 us. The last
 * packet of the first is lost, and needs 5 more. The second transfer leaves from 200 to 280 us, so
 * that its fifth packet has left at 250 us: the first transfer is there at 350 us and a latency.
 */
class LossRecovery
{
  public:
    /// In (0, 1].
    using Uniform = std::function<double()>;

    /// A transfer, or as much of it as has left.
    struct Sent
    {
        uint32_t flow{0};  //!< that it is: another number than all others that are leaving
        uint32_t first{0}; //!< queue pair
        uint32_t pairs{1}; //!< from that on, each with as many packets
        double packets{0}; //!< of each that have left
        double perSecond{0};
    };

    /// `clock` has to outlive it, and it what is asked of the clock. `pairs`: of the connection.
    LossRecovery(FlowClock& clock,
                 uint32_t pairs,
                 Recovery recovery,
                 Duration timeout,
                 Uniform uniform);

    LossRecovery(const LossRecovery&) = delete;
    LossRecovery& operator=(const LossRecovery&) = delete;

    /// A transfer begins to leave, or goes on at another rate, until it is told again or Leaves().
    void GoesOn(const Sent& sent);

    /// Now the last packet of a transfer leaves, and takes `latency`; has `arrived` happen when all
    /// of its packets have come.
    void Leaves(const Sent& sent,
                const LossyMessages& lossy,
                Duration latency,
                FlowClock::Action arrived);

  private:
    /// A transfer of which packets are missing that nothing has told of.
    struct Late
    {
        uint32_t missing{0};
        Duration arrival; //!< of all others
        Duration latency;
        Duration roundTrip;
        FlowClock::Action arrived;
    };

    struct Silent
    {
        uint64_t number{0};
        uint32_t pair{0};
        double need{0};   //!< packets of the queue pair that had still to follow at m_counted
        Duration since;   //!< nothing tells of it before
        Duration besides; //!< that its arrival takes, by what else is lost
        std::shared_ptr<Late> late;
    };

    double Gap(const LossyMessages& lossy);
    double Repeats(const LossyMessages& lossy, uint32_t pair, const std::shared_ptr<Late>& late);
    double GoesBack(const LossyMessages& lossy,
                    uint32_t pair,
                    double behind,
                    const std::shared_ptr<Late>& late);
    double ComesInOrder(const LossyMessages& lossy,
                        uint32_t pair,
                        const std::shared_ptr<Late>& late);
    static double StallOf(const LossyMessages& lossy, double after);
    void WaitsToBeTold(const LossyMessages& lossy,
                       uint32_t pair,
                       double after,
                       Duration leaves,
                       Duration besides,
                       const std::shared_ptr<Late>& late);
    bool IsOn(uint32_t pair, const Sent& sent) const;
    void Follow(const Sent& sent, double packets);
    void CountUpToNow();
    void TellWhatIsKnown();
    void TimedOut(uint64_t number);
    void Told(const Silent& silent, Duration arrival);

    FlowClock& m_clock;
    uint32_t m_pairs;
    bool m_goesBack;
    Duration m_timeout;
    Uniform m_uniform;
    uint64_t m_next{0};
    std::vector<Silent> m_silent;
    std::vector<Duration> m_latest; //!< by queue pair: when all that has left on it has come, but
                                    //!< for what is silent; of go-back-N
    std::vector<Sent> m_leaving;    //!< as of m_counted
    Duration m_counted;
    uint64_t m_look{0}; //!< the next time that something may be told is the one of this number
};

} // namespace scaleacross

#endif // SCALEACROSS_LOSS_RECOVERY_H
