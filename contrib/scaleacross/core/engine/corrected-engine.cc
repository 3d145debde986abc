// SPDX-License-Identifier: GPL-2.0-only

#include "core/engine/corrected-engine.h"

#include "core/base/text.h"
#include "core/engine/analytical-engine.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

namespace scaleacross
{

namespace
{

std::string
Hundredths(double value)
{
    return NumberText(std::round(value * 100) / 100);
}

/// The corrections of one run, and what became of them.
class Corrected
{
  public:
    Corrected(const PreparedRun& run, const ClusterPaths& paths, const Corrections& corrections)
        : m_graph(run.graph),
          m_finder(run.graph, paths),
          m_operations(m_finder.All()),
          m_corrections(corrections)
    {
    }

    /// Makes transfers take longer by one end of their factors, or by the factors themselves, of
    /// which is kept what became of them.
    void Change(TransferTimes& times, double Factor::*which)
    {
        times.collectiveFactor = [this, which](uint32_t c, uint32_t collective) {
            return FactorOf(OfCollective(c, collective), which);
        };
        times.messageFactor = [this, which](uint32_t c, int32_t peer, Bytes bytes) {
            return FactorOf(OfMessage(c, peer, bytes), which);
        };
        if (which == &Factor::value)
        {
            times.ofCollective =
                [this](uint32_t c, uint32_t collective, const Correction& correction) {
                    Keep(OfCollective(c, collective), correction);
                };
            times.ofMessage =
                [this](uint32_t c, int32_t peer, Bytes bytes, const Correction& correction) {
                    Keep(OfMessage(c, peer, bytes), correction);
                };
        }
    }

    CorrectionReport Report() const
    {
        constexpr double kReached = 1e-3; // of the factor
        CorrectionReport report;
        double all = 0;
        double missing = 0;
        for (const Operation& operation : m_operations)
        {
            const auto found = m_kept.find(KeyOf(operation));
            const Correction kept = found == m_kept.end() ? Correction() : found->second;
            const double seconds = kept.seconds * static_cast<double>(operation.times);
            const auto factor = m_corrections.Of(operation.kind, operation.levels, operation.bytes);
            report.operations++;
            all += seconds;
            if (!factor)
            {
                missing += seconds;
                report.missing.push_back(ToString(operation));
                continue;
            }
            report.covered++;
            if (kept.got > factor->value * (1 + kReached))
            {
                report.unreached.push_back(ToString(operation) + ": asked " +
                                           Hundredths(factor->value) + ", got " +
                                           Hundredths(kept.got));
            }
        }
        report.uncovered = all > 0 ? missing / all : 0;
        return report;
    }

  private:
    using Key = std::tuple<OperationKind, MemberLevels, uint64_t>;

    static Key KeyOf(const Operation& operation)
    {
        return {operation.kind, operation.levels, operation.bytes.Count()};
    }

    Operation OfCollective(uint32_t classId, uint32_t collective)
    {
        return m_finder.OfCollective(m_graph.classes[classId].stage, collective);
    }

    Operation OfMessage(uint32_t classId, int32_t peer, Bytes bytes)
    {
        return m_finder.OfMessage(m_graph.classes[classId].stage, peer, bytes);
    }

    double FactorOf(const Operation& operation, double Factor::*which) const
    {
        const auto factor = m_corrections.Of(operation.kind, operation.levels, operation.bytes);
        return factor ? (*factor).*which : 1.0;
    }

    /// Of unlike classes that do an operation what became of the slowest.
    void Keep(const Operation& operation, const Correction& correction)
    {
        Correction& kept = m_kept[KeyOf(operation)];
        kept = kept.seconds < correction.seconds ? correction : kept;
    }

    const TaskGraph& m_graph;
    OperationFinder m_finder;
    std::vector<Operation> m_operations;
    const Corrections& m_corrections;
    std::map<Key, Correction> m_kept;
};

} // namespace

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
    Corrected corrected(run, facts->paths, corrections);
    const auto timeBy = [&](double Factor::*which) {
        return RunAnalytically(scenario, run, options, facts, [&, which](TransferTimes& times) {
            corrected.Change(times, which);
        });
    };
    RunReport report = timeBy(&Factor::value);
    report.engine = Name();
    report.correction = corrected.Report();
    report.correction->set = m_set;
    // What is shorter may take more of a port from others, which then take longer.
    const Duration byLow = timeBy(&Factor::low).iterationTime;
    const Duration byHigh = timeBy(&Factor::high).iterationTime;
    report.correction->low = std::min({report.iterationTime, byLow, byHigh});
    report.correction->high = std::max({report.iterationTime, byLow, byHigh});
    return report;
}

} // namespace scaleacross
