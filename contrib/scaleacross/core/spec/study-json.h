// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STUDY_JSON_H
#define SCALEACROSS_STUDY_JSON_H

#include "core/spec/scenario.h"

#include <cstdint>
#include <optional>
#include <string>

namespace scaleacross
{

/// Which parts of a scenario a text has.
struct StudyParts
{
    bool plan{true};              //!< plan and network fields that PlanFields() knows
    std::optional<uint64_t> seed; //!< written if there is one
};

/**
 * A scenario as a study: one line of JSON, which is YAML, that ParseStudy() reads back as an equal
 * scenario (with StudyScope::Scenario also where a study could not say it: a collective as the
 * job, degrees that do not make up the GPUs).
 *
 * All fields of the tables in their order; those that are as they usually are, are left out.
 * Presets are written out, so that it does not depend on what is built in, nor on other files.
 */
std::string StudyJson(const Scenario& scenario, const StudyParts& parts = {});

} // namespace scaleacross

#endif // SCALEACROSS_STUDY_JSON_H
