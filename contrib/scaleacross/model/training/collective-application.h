// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_APPLICATION_H
#define SCALEACROSS_COLLECTIVE_APPLICATION_H

#include "collective-group.h"
#include "training-application.h"

#include "ns3/ptr.h"
#include "ns3/traced-callback.h"

#include <cstdint>

namespace ns3
{

/**
 * A member of a collective: sends and waits as the steps of its group say, from its start on.
 * CollectiveHelper makes one on the node of every NIC.
 */
class CollectiveApplication : public TrainingApplication
{
  public:
    static TypeId GetTypeId();
    CollectiveApplication();
    ~CollectiveApplication() override;

    /// Which member of which group it is. Once, before the start.
    void SetMember(Ptr<CollectiveGroup> group, uint32_t member);

    /// Has the trace source of the whole collective's end.
    Ptr<CollectiveGroup> GetGroup() const;

  protected:
    void DoDispose() override;

  private:
    void Began(scaleacross::Rank member, uint32_t repetition);
    void Ended(scaleacross::Rank member);
    void NoteEnd(uint32_t repetition);

    Ptr<CollectiveGroup> m_group;
    Time m_begun; //!< of the repetition under way
    TracedCallback<uint32_t, Time> m_completedTrace;
};

} // namespace ns3

#endif // SCALEACROSS_COLLECTIVE_APPLICATION_H
