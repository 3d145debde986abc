// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_MODEL_DOCUMENT_H
#define SCALEACROSS_MODEL_DOCUMENT_H

#include "core/engine/engine.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace scaleacross
{

/// Of ModelDocument(): raised with every change of what stands in it, since it is part of the
/// fingerprint of all models that read it.
constexpr uint32_t kModelFormat = 1;

/**
 * What a model of somebody else's is asked: one line of JSON with the scenario, what a small model
 * needs to know of the network, and all that ranks compute and send (doc/your-model.md). Times are
 * in seconds, bytes whole, rates in bit/s.
 *
 * Domain: `run` is what PrepareRun() gives for the scenario.
 */
std::string ModelDocument(const Scenario& scenario, const PreparedRun& run);

/// What it answers.
struct ModelAnswer
{
    Duration time; //!< of an iteration, or of the collective; above 0
    // What a model says besides, of an iteration.
    std::optional<Duration> compute;
    std::optional<Duration> bubble;
    std::array<std::optional<Duration>, kCommClasses> exposed; //!< by CommClass
    std::string infeasible; //!< why there is no time; empty: there is one
};

/// The answer of a model to a question about a collective, or else about an iteration. Throws
/// ValueError, which shows the beginning of `text`, for everything that is no such answer.
ModelAnswer ParseModelAnswer(const std::string& text, bool collective);

/// A text of unknown origin as UTF-8 on one line: " | " between lines, and "?" for what can be no
/// part of it. Of more than `most` bytes the first, or the last ones.
std::string Excerpt(const std::string& text, size_t most, bool last = false);

} // namespace scaleacross

#endif // SCALEACROSS_MODEL_DOCUMENT_H
