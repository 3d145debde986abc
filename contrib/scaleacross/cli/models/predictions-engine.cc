// SPDX-License-Identifier: GPL-2.0-only

#include "cli/models/predictions-engine.h"

#include "core/base/version.h"
#include "core/io/text-file.h"
#include "core/store/key.h"
#include "core/work/graph/collective-graph.h"

#include <variant>

namespace scaleacross
{

PredictionsEngine::PredictionsEngine(const std::string& name, const std::string& path)
    : ForeignEngine(name),
      m_rows(path),
      // What a plan is called, and what a field's text means, is the program's.
      m_fingerprint(HashOf(std::string(SourceHash(Sources::Core)) + ":" + ReadTextFile(path)))
{
}

std::string
PredictionsEngine::Fingerprint() const
{
    return m_fingerprint;
}

ModelAnswer
PredictionsEngine::Ask(const Scenario& scenario,
                       const PreparedRun& run,
                       const RunOptions& /* options */,
                       Duration /* left */) const
{
    const JobSpec& job = scenario.Job();
    ModelAnswer answer;
    if (job.collective)
    {
        const RankGroup group = std::get<RankGroup>(GroupOf(job.collective->group, run.layout));
        answer.time =
            m_rows.OfCollective(ToString(job.collective->op), job.collective->bytes, group.Size());
    }
    else
    {
        answer.time = m_rows.OfPlan({job.plan, scenario.network});
    }
    return answer;
}

} // namespace scaleacross
