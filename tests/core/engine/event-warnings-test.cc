// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/event-warnings.h"

#include <gmock/gmock.h>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Duration
Ms(int64_t ms)
{
    return Duration::Nanoseconds(ms * 1'000'000);
}

EventSpec
Failure(Duration at, Duration until)
{
    EventSpec event;
    event.kind = "link-failure";
    event.target = "a--b";
    event.at = at;
    event.until = until;
    return event;
}

RunReport
Measured(Duration from, Duration until)
{
    RunReport report;
    report.measured = MeasuredSpan{from, until};
    return report;
}

TEST(EventWarnings, AreOfEventsThatAreNotInWhatIsMeasured)
{
    const RunReport report = Measured(Ms(345), Ms(690));
    EXPECT_THAT(WarningsOfEvents({Failure(Ms(10), Ms(300))}, report),
                ElementsAre(HasSubstr("events.0 (link-failure of a--b) changes no time: it is over "
                                      "at 300 ms, and the measured iterations begin at 345 ms")));
    EXPECT_THAT(WarningsOfEvents({Failure(Ms(700), Duration())}, report),
                ElementsAre(HasSubstr("it begins at 700 ms, and the measured iterations end at "
                                      "690 ms")));
    // Whatever is there for a part of it may change it.
    EXPECT_THAT(WarningsOfEvents({Failure(Ms(10), Ms(346)),
                                  Failure(Ms(10), Duration()),
                                  Failure(Duration(), Duration()),
                                  Failure(Ms(689), Ms(1000))},
                                 report),
                IsEmpty());
    EXPECT_THAT(WarningsOfEvents({Failure(Ms(10), Ms(300))}, RunReport()), IsEmpty());
}

/// Failures of 5 ms at 10, 110 and 210 ms: over at 215 ms.
TEST(EventWarnings, FlapsEndWithTheirLastFailure)
{
    EventSpec flap = Failure(Ms(10), Duration());
    flap.kind = "flap";
    flap.down = Ms(5);
    flap.period = Ms(100);
    flap.count = 3;
    EXPECT_THAT(WarningsOfEvents({flap}, Measured(Ms(215), Ms(300))),
                ElementsAre(HasSubstr("it is over at 215 ms")));
    EXPECT_THAT(WarningsOfEvents({flap}, Measured(Ms(214), Ms(300))), IsEmpty());
}

} // namespace

} // namespace scaleacross
