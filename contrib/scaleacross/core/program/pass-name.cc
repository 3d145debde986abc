// SPDX-License-Identifier: GPL-2.0-only

#include "core/program/pass-name.h"

#include <array>

namespace scaleacross
{

namespace
{

constexpr std::array<const char*, kActions> g_actionNames = {"forward",
                                                             "backward",
                                                             "input gradient",
                                                             "weight gradient",
                                                             "optimizer",
                                                             "forward and backward"};

} // namespace

std::string
PassName(Action action, uint16_t microbatch, uint16_t backMicrobatch)
{
    std::string name = g_actionNames[static_cast<size_t>(action)];
    if (action != Action::Optimizer)
    {
        name += " " + std::to_string(microbatch);
    }
    if (action == Action::ForwardBackward)
    {
        name += " and " + std::to_string(backMicrobatch);
    }
    return name;
}

} // namespace scaleacross
