// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LOSS_MODEL_H
#define SCALEACROSS_LOSS_MODEL_H

#include "fabric-packet.h"

#include "ns3/attribute-guard.h"
#include "ns3/object.h"
#include "ns3/ptr.h"

#include <cstdint>

namespace ns3
{

class UniformRandomVariable;

/**
 * Which packets one direction of a wire loses: what ErrorModel is to other devices.
 *
 * IsLost is asked once for every packet, in the order in which packets are put on the wire, pause
 * frames left out. A subclass decides in DoIsLost, and may say with PassNext how many packets after
 * this one are not lost in any case: it is not asked about them. Models of rare losses so draw
 * whole gaps instead of one random number per packet.
 *
 * A model has one direction of one wire to itself, draws from its own stream, and must not look at
 * the Simulator's clock: packets are put on wires ahead of it.
 *
 * Left out: corruption (a packet is lost or whole), loss that depends on the time of day.
 */
class FabricLossModel : public Object, public scaleacross::FixedOnceUsed
{
  public:
    static TypeId GetTypeId();
    FabricLossModel();
    ~FabricLossModel() override;

    /// Decides about the next packet.
    bool IsLost(const scaleacross::FabricPacket& packet)
    {
        if (m_pass > 0)
        {
            --m_pass;
            return false;
        }
        const bool lost = DoIsLost(packet);
        m_losses += lost ? 1 : 0;
        return lost;
    }

    /// Packets that have been put on the wire and do not arrive.
    uint64_t Losses() const
    {
        return m_losses;
    }

    /// The next packets, as many as this, are not lost in any case.
    uint64_t Passing() const
    {
        return m_pass;
    }

    /// So many packets pass that nobody sends. Domain: packets <= Passing().
    void LeaveOut(uint64_t packets)
    {
        m_pass -= packets;
    }

    /// Forgets the packets seen so far; to be called by setters of what DoIsLost depends on.
    void Reset();

    /// Fixes the random streams, and resets; returns how many streams are used.
    int64_t AssignStreams(int64_t stream);

  protected:
    void DoDispose() override;

    /// The packets after this one, as many as given, are not lost. To be called in DoIsLost.
    void PassNext(uint64_t packets)
    {
        m_pass = packets;
    }

    /// Packets before the first success of trials that succeed with probability p each: k >= 0 with
    /// probability p (1 - p)^k, drawn as floor(ln U / ln(1 - p)). At most 10^18; that for p = 0.
    static uint64_t DrawGeometric(double p, UniformRandomVariable& random);

  private:
    virtual bool DoIsLost(const scaleacross::FabricPacket& packet) = 0;
    virtual void DoReset() = 0;
    virtual int64_t DoAssignStreams(int64_t stream) = 0;

    uint64_t m_pass{0};
    uint64_t m_losses{0};
};

/**
 * Independent loss: each packet with probability q = LossRate, whatever happened to others.
 *
 * Gaps between losses are geometric, and drawn as such. FabricWire's LossRate is the short form.
 *
 * Worked case: q = 1e-4 and 4,096-byte packets: a loss every 10,000 packets, 41 MB, on average; the
 * next packet after a lost one is lost with 1e-4 again.
 */
class IidLossModel : public FabricLossModel
{
  public:
    static TypeId GetTypeId();
    IidLossModel();
    ~IidLossModel() override;

    void SetLossRate(double loss);
    double GetLossRate() const;

  private:
    void DoDispose() override;
    bool DoIsLost(const scaleacross::FabricPacket& packet) override;
    void DoReset() override;
    int64_t DoAssignStreams(int64_t stream) override;

    Ptr<UniformRandomVariable> m_random;
    double m_loss{0};
    bool m_drawn{false}; //!< the packet that DoIsLost is asked about ends a gap
};

/**
 * Bursty loss: a wire that is good or bad, and changes from packet to packet (Gilbert 1960, Elliott
 * 1963).
 *
 * With p = GoodToBad and r = BadToGood: after each packet a good wire turns bad with probability p,
 * a bad one good with r. A packet is lost with LossInGood (Elliott's 1 - k) or LossInBad (1 - h).
 * Closed forms, with pG = r / (p + r), pB = p / (p + r):
 *
 *   loss rate          q = pG LossInGood + pB LossInBad
 *   sojourn in bad     1 / r packets, geometric; in good 1 / p
 *   mean burst         1 / r packets, if LossInGood = 0 and LossInBad = 1
 *   in general         q / (q - q2), q2 = pG g (g (1-p) + b p) + pB b (b (1-r) + g r), where g and
 *                      b are the two loss probabilities: of losses in a row
 *
 * The first state is drawn from (pG, pB); good if p = r = 0. Lengths of sojourns and, within one,
 * of gaps between losses are drawn as geometric numbers: a state without losses costs one draw.
 *
 * Left out: states that change with time rather than with packets.
 *
 * Worked case: p = 1e-5, r = 0.1: one burst every 100,010 packets, 10 packets long, a loss rate of
 * 1e-5 / 0.10001 = 1e-4 in all. Go-back-N pays for about one loss per burst instead of for ten.
 */
class GilbertElliottLossModel : public FabricLossModel
{
  public:
    static TypeId GetTypeId();
    GilbertElliottLossModel();
    ~GilbertElliottLossModel() override;

    /// Probabilities of a change after a packet, and of loss in each state. Each restarts the
    /// model.
    void SetGoodToBad(double p);
    double GetGoodToBad() const;
    void SetBadToGood(double r);
    double GetBadToGood() const;
    void SetLossInGood(double loss);
    double GetLossInGood() const;
    void SetLossInBad(double loss);
    double GetLossInBad() const;

  private:
    void DoDispose() override;
    bool DoIsLost(const scaleacross::FabricPacket& packet) override;
    void DoReset() override;
    int64_t DoAssignStreams(int64_t stream) override;

    /// Packets that pass before the next loss.
    uint64_t DrawGap();
    void EnterState(bool bad);

    Ptr<UniformRandomVariable> m_random;
    double m_goodToBad{0};
    double m_badToGood{0};
    double m_lossInGood{0};
    double m_lossInBad{0};
    bool m_drawn{false};   //!< the packet that DoIsLost is asked about ends a gap
    bool m_bad{false};     //!< state that the next packet meets
    uint64_t m_sojourn{0}; //!< packets that still meet this state
};

} // namespace ns3

#endif // SCALEACROSS_LOSS_MODEL_H
