// SPDX-License-Identifier: GPL-2.0-only

#include "cli/plan-formats/option-text.h"

#include <fmt/format.h>
#include <sstream>

namespace scaleacross
{

namespace
{

constexpr size_t g_columns = 100;

/// Lines of at most g_columns, where words allow it; those after the first begin with `indent`.
std::string
Wrapped(const std::string& text, const std::string& begin, const std::string& indent)
{
    std::string lines;
    std::string line = begin;
    std::istringstream words(text);
    bool empty = true;
    for (std::string word; words >> word;)
    {
        if (!empty && line.size() + 1 + word.size() > g_columns)
        {
            lines += line + "\n";
            line = indent;
            empty = true;
        }
        line += (empty ? "" : " ") + word;
        empty = false;
    }
    return lines + line + "\n";
}

} // namespace

std::string
FieldText(const Plan& plan, const std::string& key)
{
    const PlanField* field = FindPlanField(key);
    SCALEACROSS_INVARIANT(field != nullptr, key);
    return key + " " + field->get(plan);
}

void
OptionText::Blank()
{
    m_text += "\n";
}

void
OptionText::Comment(const std::string& text)
{
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
    {
        m_text += line.empty()                 ? "#\n"
                  : line.rfind("    ", 0) == 0 ? "# " + line + "\n"
                                               : Wrapped(line, "# ", "# ");
    }
}

void
OptionText::Setting(const std::string& line, const std::string& keys)
{
    m_text += line + " # " + keys + "\n";
    Tell(keys);
}

void
OptionText::Note(const std::string& text, const std::string& keys, const std::string& indent)
{
    m_text += indent + "# " + text + ": " + keys + "\n";
    Tell(keys);
}

void
OptionText::Tell(const std::string& keys)
{
    std::istringstream words(keys);
    for (std::string key; words >> key;)
    {
        m_told.insert(key);
    }
}

void
OptionText::Plain(const std::string& line)
{
    m_text += line + "\n";
}

void
OptionText::Remark(const std::string& key, const Plan& plan, const std::string& text)
{
    m_remarks.push_back(FieldText(plan, key) + ": " + text);
    m_told.insert(key);
}

void
OptionText::Remarks(const std::string& heading, const Plan& plan, const std::string& prefix)
{
    for (const PlanField& field : PlanFields())
    {
        if (field.key.rfind(prefix, 0) == 0 && field.IsSaid(plan) && m_told.count(field.key) == 0)
        {
            Remark(field.key, plan, "no option says this");
        }
    }
    if (m_remarks.empty())
    {
        return;
    }
    Blank();
    Comment(heading);
    for (const auto& remark : m_remarks)
    {
        m_text += Wrapped(remark, "# - ", "#   ");
    }
}

void
Refusals::Add(const Plan& plan,
              const std::string& key,
              const std::string& why,
              const std::string& remedy)
{
    Add(FieldText(plan, key), why, remedy);
}

void
Refusals::Add(const std::string& what, const std::string& why, const std::string& remedy)
{
    m_reasons.push_back(what + ": " + why);
    if (!remedy.empty())
    {
        m_remedies.push_back(remedy);
    }
}

void
Refusals::Throw(const std::string& format, const std::string& program) const
{
    if (m_reasons.empty())
    {
        return;
    }
    std::vector<std::string> remedies = m_remedies;
    if (remedies.size() < m_reasons.size())
    {
        remedies.emplace_back(
            "explore with values that it has only: the page export-plan.md lists them");
    }
    throw PlanRefused(
        "--format " + format,
        fmt::format("{} cannot run this plan: {}", program, fmt::join(m_reasons, "; ")),
        "a plan with groups, schedule, layers and sharding that it has",
        fmt::format("{}", fmt::join(remedies, "; ")));
}

} // namespace scaleacross
