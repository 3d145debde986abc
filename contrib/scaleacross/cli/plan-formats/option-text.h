// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_OPTION_TEXT_H
#define SCALEACROSS_OPTION_TEXT_H

#include "core/base/errors.h"
#include "core/spec/plan-fields.h"

#include <set>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * Text for a program whose comments begin with "#" (bash, a shell, TOML): settings, each with the
 * field of the plan that it is from, and remarks on fields for which there is none.
 *
 * It keeps count of the fields that it has told of, so that none can be left out silently.
 */
class OptionText
{
  public:
    void Blank();

    /// Wrapped; a line for each of the text's.
    void Comment(const std::string& text);

    /// "line # keys", where keys are fields of the plan or words for what else it is from,
    /// separated by blanks.
    void Setting(const std::string& line, const std::string& keys);

    /// A comment in place of a setting: what holds without one.
    void Note(const std::string& text, const std::string& keys, const std::string& indent = "");

    /// A line as it is.
    void Plain(const std::string& line);

    /// A remark on a field, for Remarks().
    void Remark(const std::string& key, const Plan& plan, const std::string& text);

    /// All remarks, under a heading, and one more on each field whose key begins with `prefix`,
    /// which the plan says, and of which nothing has been told.
    void Remarks(const std::string& heading, const Plan& plan, const std::string& prefix);

    const std::string& Text() const
    {
        return m_text;
    }

  private:
    void Tell(const std::string& keys);

    std::string m_text;
    std::vector<std::string> m_remarks;
    std::set<std::string> m_told;
};

/// A program cannot run a plan, which another plan may mend.
class PlanRefused : public ConfigError
{
  public:
    using ConfigError::ConfigError;
};

/// Reasons why a program cannot run a plan, by field. All are told at once.
class Refusals
{
  public:
    /// `remedy` says what to change, where that is more special than other values of the plan.
    void Add(const Plan& plan,
             const std::string& key,
             const std::string& why,
             const std::string& remedy = "");

    /// The same of what is no field of the plan: "workload.sequence 4100".
    void Add(const std::string& what, const std::string& why, const std::string& remedy);

    /// Throws PlanRefused (where = "--format <format>") if there are any.
    void Throw(const std::string& format, const std::string& program) const;

  private:
    std::vector<std::string> m_reasons;
    std::vector<std::string> m_remedies;
};

/// "plan.tp 8"
std::string FieldText(const Plan& plan, const std::string& key);

} // namespace scaleacross

#endif // SCALEACROSS_OPTION_TEXT_H
