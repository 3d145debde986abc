// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_READ_STUDY_H
#define SCALEACROSS_READ_STUDY_H

#include "core/base/errors.h"
#include "core/spec/study.h"

#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/// Values set on the command line: path ("cluster.cross.oversubscription") and value ("4"), applied
/// in order to the document before it is read. Any key can be set, also one the file leaves out.
/// With "*" in its path one sets several values, or multiplies them (core/io/wildcard-path.h).
using Overrides = std::vector<std::pair<std::string, std::string>>;

/// What is read of a study.
enum class StudyScope : uint8_t
{
    Training, //!< all of it; what replays traces is refused
    Replay,   //!< the same, and with `trace` traces in place of model, workload, plan and search
    /// The same of a scenario that is written down (core/spec/study-json.h): a job may be a
    /// collective or replay traces, and the degrees need not make up the GPUs, which is for an
    /// engine to find out.
    Scenario,
    /// Only cluster, network, events, engines and seed: the job is a collective that the caller
    /// fills in. Model, workload, plan, jobs, search and baselines may be missing and are not
    /// looked at.
    Network,
    /// The same and the model, where there is one: it has the experts that tokens go to.
    NetworkAndModel
};

/**
 * Reads a study file (YAML, or JSON), "-" from standard input; its schema is described in
 * doc/study-file.md.
 *
 * With `search: auto` what the study does not give is searched as CompleteSearch() says, and so it
 * is without `search`, where the plan has to fit by itself.
 *
 * The result is complete and has passed Scenario::Validate(). Where `search` names no degree, tp x
 * cp x pp x dp is the number of GPUs: dp follows unless it is given.
 *
 * Throws ConfigError for everything that is wrong, with the place in the file: where =
 * "study.yaml:12:5 plan.tp" (line and column from 1), or "--set plan.tp=0 plan.tp".
 */
Study ReadStudy(const std::string& path,
                const Overrides& overrides = {},
                StudyScope scope = StudyScope::Training);

/// As ReadStudy(), from text. `name` stands for the file: in messages, and paths in the study are
/// relative to its folder.
Study ParseStudy(const std::string& text,
                 const std::string& name,
                 const Overrides& overrides = {},
                 StudyScope scope = StudyScope::Training);

/**
 * Returns an error of what runs a study that ReadStudy() has read, with the place of its key in the
 * file as it was then: engines know keys only. One that has a place, or is of no key, stays as it
 * is, and so do those of a study that is of no file.
 */
ConfigError PlacedInStudy(const ConfigError& error, const Study& study);

} // namespace scaleacross

#endif // SCALEACROSS_READ_STUDY_H
