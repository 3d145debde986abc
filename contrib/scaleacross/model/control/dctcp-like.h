// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_DCTCP_LIKE_H
#define SCALEACROSS_DCTCP_LIKE_H

#include "rdma-congestion-ops.h"

namespace ns3
{

/**
 * A window cut by the share of marked packets, as DCTCP's.
 *
 * Model: there is no window, and the line rate, until the first mark comes back; then the window is
 * what is under way. From there on, once per window of data with F the share of its acknowledged
 * packets whose ACK was marked,
 *
 *   alpha = (1 - g) alpha + g F,   and W = W + MTU if F = 0 and the window was used up;
 *
 * a marked ACK cuts, W = W (1 - alpha / 2), and after it none does until what had been sent by then
 * is acknowledged. A reported gap halves W if it has not been cut in this window. Alpha is 1 at
 * first. W is in bytes of payload, at least one packet.
 * What DCTCP has of TCP besides (slow start, exact echo by a state machine at the receiver) has no
 * counterpart: a queue pair begins at line rate, and the ACK of every packet has its mark.
 *
 * With ACKs of several packets a mark on one counts for all.
 *
 * Source: Alizadeh et al., Data Center TCP (DCTCP), SIGCOMM 2010; g = 1/16, and marking at a queue
 * of K > C RTT / 7 (FabricSwitch: EcnKmin = EcnKmax = K, EcnPmax 1).
 *
 * Worked case: W = 100 packets, alpha = 1; a mark: W = 50. At the end of the window a quarter was
 * marked: alpha = 15/16 + 1/64 = 0.953. Ten windows without a mark: alpha = 0.5, W = 60.
 */
class DctcpLike : public RdmaCongestionOps
{
  public:
    static TypeId GetTypeId();
    DctcpLike();
    ~DctcpLike() override;

    std::string GetName() const override;
    Ptr<RdmaCongestionOps> Fork() const override;
    void Init(RdmaCongestionState& state) override;
    void OnAck(RdmaCongestionState& state, const RdmaAck& ack, int64_t now) override;
    void OnLoss(RdmaCongestionState& state, int64_t now) override;
    void OnTimeout(RdmaCongestionState& state, int64_t now) override;

    double GetAlpha() const;
    /// Bytes of payload; infinite before the first mark.
    double GetWindow() const;

  private:
    bool IsLimited() const;
    void Publish(RdmaCongestionState& state);

    double m_gain{0};

    double m_window{0}; //!< bytes
    double m_alpha{1};
    uint64_t m_acked{0};     //!< packets of this window
    uint64_t m_marked{0};    //!< of them
    uint64_t m_windowEnd{0}; //!< PSN: when all before have arrived the window is over
    bool m_cut{false};       //!< in this window
    uint64_t m_cutEnd{0};    //!< PSN: when it has arrived a mark may cut again
};

} // namespace ns3

#endif // SCALEACROSS_DCTCP_LIKE_H
