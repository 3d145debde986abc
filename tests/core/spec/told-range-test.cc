// SPDX-License-Identifier: GPL-2.0-only

#include "core/any-field.h"
#include "core/io/read-study.h"
#include "places.h"

#include <gtest/gtest.h>
#include <optional>
#include <regex>
#include <string>
#include <vector>

namespace scaleacross
{
namespace
{

/// An end of a range that messages tell.
struct ToldEnd
{
    std::string text;
    bool allowed;
};

/// Both ends of "a whole number 1 to 8", "a number above 0 and below 1" or "0s, or 1us to 2us".
std::vector<ToldEnd>
EndsOf(const std::string& allowed)
{
    static const std::regex closed("(?:^|a whole number |a number from |, or )([-0-9][^ ]*) to "
                                   "([-0-9][^ ,]*)$");
    static const std::regex open("a number above ([^ ]+) and below ([^ ]+)$");
    std::smatch ends;
    if (std::regex_search(allowed, ends, closed))
    {
        return {{ends[1], true}, {ends[2], true}};
    }
    if (std::regex_search(allowed, ends, open))
    {
        return {{ends[1], false}, {ends[2], false}};
    }
    return {};
}

/// The error of a scenario with this field at this text, where it is one of the field's.
std::optional<ConfigError>
RefusalAt(Scenario scenario, const AnyField& field, const std::string& text)
{
    try
    {
        field.set(scenario, text);
        scenario.Validate();
    }
    catch (const ConfigError& error)
    {
        if (error.Where() == field.path ||
            field.path.find("." + error.Where()) != std::string::npos)
        {
            return error;
        }
    }
    return std::nullopt;
}

Scenario
ScenarioWith(const EventKind& kind)
{
    Scenario scenario = ReadStudy(SourcePath("examples/small-two-buildings/study.yaml")).scenario;
    EventSpec event;
    event.kind = kind;
    event.target = "building1--building2";
    const bool flaps = kind->change == EventChange::Flaps;
    event.at = Duration::Microseconds(flaps ? 1 : 0);
    event.down = Duration::Microseconds(flaps ? 1 : 0);
    event.period = Duration::Microseconds(flaps ? 2 : 0);
    scenario.events = {event};
    return scenario;
}

/// Whether a refusal has a reason besides the range that was told, such as another field.
bool
HasReason(const ConfigError& refusal)
{
    const std::string& problem = refusal.Problem();
    const std::string range = " is out of range";
    return problem.size() < range.size() ||
           problem.compare(problem.size() - range.size(), range.size(), range) != 0;
}

TEST(ToldRange, BothEndsAreWhatMessagesSayOfThem)
{
    std::vector<Scenario> scenarios = {
        ReadStudy(SourcePath("examples/llama4-maverick-two-buildings/study.yaml")).scenario};
    scenarios.front().events = {EventSpec()};
    for (const auto* kind : EventKind::Rows())
    {
        scenarios.push_back(ScenarioWith(EventKind(kind->Name())));
        ASSERT_NO_THROW(scenarios.back().Validate()) << kind->Name();
    }
    uint32_t ranges = 0;
    for (const Scenario& scenario : scenarios)
    {
        for (const AnyField& field : AllFields())
        {
            const std::vector<ToldEnd> ends =
                field.applies(scenario) ? EndsOf(field.allowed) : std::vector<ToldEnd>();
            ranges += ends.empty() ? 0 : 1;
            for (const ToldEnd& end : ends)
            {
                const auto refusal = RefusalAt(scenario, field, end.text);
                const bool fits = !refusal || (end.allowed && HasReason(*refusal));
                EXPECT_EQ(fits, end.allowed)
                    << field.path << ": " << field.allowed << ": "
                    << (refusal ? refusal->what() : end.text + " is taken");
            }
        }
    }
    EXPECT_GT(ranges, 600U);
}

} // namespace
} // namespace scaleacross
