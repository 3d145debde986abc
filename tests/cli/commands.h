// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_COMMANDS_H
#define SCALEACROSS_TESTS_COMMANDS_H

#include "program.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace scaleacross
{

/// Tests of commands on the small study.
class Commands : public ProgramTest
{
  protected:
    Commands()
    {
        Write("study.yaml", g_smallStudy);
    }
};

/// The keys that a JSON object has to have.
inline void
ExpectKeys(const nlohmann::json& json, const std::vector<std::string>& keys)
{
    for (const auto& key : keys)
    {
        EXPECT_TRUE(json.contains(key)) << key << " is missing in " << json.dump(2);
    }
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_COMMANDS_H
