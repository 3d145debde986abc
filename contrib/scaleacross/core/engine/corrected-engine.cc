// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/corrected-engine.h"

#include "core/engine/analytical-engine.h"

#include <utility>
#include <variant>
#include <vector>

namespace scaleacross
{

CorrectedEngine::CorrectedEngine(std::string name,
                                 std::string set,
                                 std::string fingerprint,
                                 Finder find)
    : m_name(std::move(name)),
      m_set(std::move(set)),
      m_fingerprint(std::move(fingerprint)),
      m_find(std::move(find))
{
}

std::string
CorrectedEngine::Name() const
{
    return m_name;
}

bool
CorrectedEngine::UsesSeed() const
{
    return false;
}

std::string
CorrectedEngine::Fingerprint() const
{
    return m_fingerprint;
}

RunResult
CorrectedEngine::Run(const Scenario& scenario, const RunOptions& options) const
{
    const Corrections corrections = m_find(scenario);
    auto prepared = PrepareRun(scenario, options.slice);
    if (auto* no = std::get_if<Infeasible>(&prepared))
    {
        return *no;
    }
    const PreparedRun& run = std::get<PreparedRun>(prepared);
    const auto facts = m_facts.Of(scenario);
    const auto timeBy = [&](double Factor::*which) {
        return RunAnalytically(scenario, run, options, facts, [&, which](TransferTimes& times) {
            times.collectiveFactor = [&, which](const Collective& collective, Rank rank) {
                const auto factor = corrections.Of(KindOf(collective, rank, facts->paths),
                                                   MembersOf(collective),
                                                   BytesOf(collective));
                return factor ? (*factor).*which : 1.0;
            };
            times.messageFactor = [&, which](Bytes bytes, Rank from, Rank to) {
                const auto factor = corrections.Of(KindOfMessage(from, to, facts->paths), 2, bytes);
                return factor ? (*factor).*which : 1.0;
            };
        });
    };
    RunReport report = timeBy(&Factor::value);
    report.engine = Name();
    CorrectionReport& correction = report.correction.emplace();
    correction.set = m_set;
    correction.low = timeBy(&Factor::low).iterationTime;
    correction.high = timeBy(&Factor::high).iterationTime;
    for (const Operation& operation : OperationsOf(run, facts->paths))
    {
        correction.operations++;
        if (corrections.Of(operation.kind, operation.members, operation.bytes))
        {
            correction.covered++;
            continue;
        }
        correction.missing.push_back(ToString(operation.comm) + " " + ToString(operation.kind) +
                                     ", " + ToString(operation.bytes) + " of " +
                                     std::to_string(operation.members));
    }
    return report;
}

} // namespace scaleacross
