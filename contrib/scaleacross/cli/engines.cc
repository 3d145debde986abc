// SPDX-License-Identifier: GPL-2.0-only

#include "cli/engines.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/spec/study.h"
#include "helper/engine/packet-engine.h"

namespace scaleacross
{

std::unique_ptr<Engine>
MakeEngine(const std::string& name, const std::string& where)
{
    if (name == "analytical")
    {
        return std::make_unique<AnalyticalEngine>();
    }
    if (name == "packet")
    {
        return std::make_unique<PacketEngine>();
    }
    if (name == "flow")
    {
        return std::make_unique<FlowEngine>(Collisions::Expected);
    }
    if (name == "flow:sampled")
    {
        return std::make_unique<FlowEngine>(Collisions::Sampled);
    }
    const std::string nearest = Nearest(name, KnownEngines());
    throw ConfigError(where,
                      Quoted(name) + " is not known",
                      AnyOf(KnownEngines()),
                      nearest.empty() ? "" : "did you mean " + nearest + "?");
}

} // namespace scaleacross
