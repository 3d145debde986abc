// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_REPEATING_APPLICATION_H
#define SCALEACROSS_REPEATING_APPLICATION_H

#include "ns3/application.h"
#include "ns3/event-id.h"
#include "ns3/nstime.h"

#include <optional>

namespace ns3
{

/**
 * What applications have in common that do one thing again and again, from their start to their
 * stop: after a gap for the first time, then after one more each time. It has no attributes of its
 * own, so its children are types below ns3::Application.
 *
 * One that was disposed of before it starts, or is stopped before that, does nothing; one that is
 * stopped leaves no event behind, so that the simulation may end.
 */
class RepeatingApplication : public Application
{
  protected:
    RepeatingApplication();
    ~RepeatingApplication() override;

    /// Throws ConfigError if another process simulates its node (scaleacross::CheckPartition).
    void DoInitialize() override;
    /// Children drop what they hold, then call this.
    void DoDispose() override;

  private:
    /// At the start. Throws ConfigError if something is missing.
    virtual void DoStart() = 0;
    /// From now to the next time; nothing: there is none.
    virtual std::optional<Time> NextGap() = 0;
    /// What it does each time.
    virtual void Act() = 0;

    void StartApplication() final;
    void StopApplication() final;
    void ScheduleNext();
    void Repeat();

    bool m_disposed{false};
    EventId m_next;
};

} // namespace ns3

#endif // SCALEACROSS_REPEATING_APPLICATION_H
