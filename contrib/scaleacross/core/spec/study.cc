// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/study.h"

namespace scaleacross
{

const std::vector<std::string>&
KnownEngines()
{
    static const std::vector<std::string> names = {"analytical", "flow", "flow:sampled", "packet"};
    return names;
}

} // namespace scaleacross
