// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_KEY_H
#define SCALEACROSS_KEY_H

#include "core/engine/engine.h"

#include <cstdint>
#include <optional>
#include <string>

namespace scaleacross
{

/**
 * The name of a text in the database: its version 5 UUID (RFC 4122) in the URL namespace, which is
 * 122 bits of its SHA-1.
 *
 * A standard that other languages have too (Python: uuid.uuid5(uuid.NAMESPACE_URL, text)), the same
 * on every machine and release, and wide enough that two of a billion texts share a name with a
 * probability below 1e-18. It guards against chance, not against somebody who wants two texts to
 * meet; the texts themselves are stored beside it.
 */
std::string HashOf(const std::string& text);

/// All that a scenario's times between servers depend on but the job: cluster, network and events,
/// as CanonicalJson() of a job that is a collective. Its HashOf() is the name of the network.
std::string NetworkText(const Scenario& scenario);

/// The spans on the ways between the buildings of a scenario, for whoever looks for it: the
/// longest, the scarcest and the worst where they differ. None where there is no span. Those that
/// only lead to sites where no GPUs are used carry nothing, and do not count.
struct SpanFigures
{
    std::optional<double> distanceKm;
    std::optional<double> capacityBps;
    std::optional<double> loss;
    std::optional<double> oversubscription; //!< none between hubs alone
};

SpanFigures SpanFiguresOf(const ClusterSpec& cluster);

/// Everything but the plan that decides the result of a run.
struct RunSetting
{
    std::string setting;          //!< CanonicalSetting() of the scenario
    std::string study;            //!< the same as StudyJson(), with its names and the seed
    std::string engine;           //!< Engine::Name()
    std::string options;          //!< OptionsText() of the run options
    std::string correction;       //!< name of the correction set; empty while there are none
    std::optional<uint64_t> seed; //!< none where the engine draws nothing
    std::string fingerprint;      //!< Engine::Fingerprint()
    RunLimits limits;             //!< decide what fails, hence no part of a result's name
    SpanFigures spans;            //!< of the setting, which has them too
};

/// "warmup=1 iterations=1": the options that decide a result. Limits of time and what is recorded
/// do not.
std::string OptionsText(const RunOptions& options);

RunSetting MakeRunSetting(const Scenario& scenario,
                          const Engine& engine,
                          const RunOptions& options);

/// The setting as one text: equal for equal settings.
std::string Text(const RunSetting& setting);

} // namespace scaleacross

#endif // SCALEACROSS_KEY_H
