// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PLAN_FORMAT_H
#define SCALEACROSS_PLAN_FORMAT_H

#include "cli/plan-formats/planned-job.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// A form in which other software takes a plan.
struct PlanFormat
{
    std::string word; //!< of `export --format`
    std::string help;
    /// Throws PlanRefused for a plan that the software cannot run.
    std::string (*text)(const PlannedJob& job);
    /// Of one that is several files, in place of a text: writes them, whose names begin with
    /// `files`, and says what they are. Throws RunError for a plan that cannot run. None: it is a
    /// text.
    std::string (*write)(const Study& study, const std::string& files){nullptr};
};

/// All there are, each in the file of its name; registry.cc lists them.
const std::vector<const PlanFormat*>& PlanFormats();

/// "megatron: bash arguments for Megatron-LM; ...", for the help of an option.
std::string PlanFormatHelp();

/// Throws ConfigError (where = "--format") for a word that is none of theirs.
const PlanFormat& PlanFormatOf(const std::string& word);

} // namespace scaleacross

#endif // SCALEACROSS_PLAN_FORMAT_H
