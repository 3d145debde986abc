// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/errors.h"

#include <cstdio>
#include <cstdlib>
#include <utility>

namespace scaleacross
{

namespace
{
std::string
Sentence(const std::string& where,
         const std::string& problem,
         const std::string& allowed,
         const std::string& remedy)
{
    std::string text = where.empty() ? problem : where + ": " + problem;
    if (!allowed.empty())
    {
        text += "\n  allowed: " + allowed;
    }
    if (!remedy.empty())
    {
        text += "\n  remedy: " + remedy;
    }
    return text;
}
} // namespace

ConfigError::ConfigError(std::string where,
                         std::string what,
                         std::string allowed,
                         std::string remedy)
    : std::runtime_error(Sentence(where, what, allowed, remedy)),
      m_where(std::move(where)),
      m_problem(std::move(what)),
      m_allowed(std::move(allowed)),
      m_remedy(std::move(remedy))
{
}

ConfigError
ConfigError::At(const std::string& where) const
{
    return ConfigError(where, m_problem, m_allowed, m_remedy);
}

RunError::RunError(const std::string& detail)
    : RunError("error", detail)
{
}

RunError::RunError(std::string reason, const std::string& detail)
    : std::runtime_error(detail),
      m_reason(std::move(reason))
{
}

OutOfRange::OutOfRange(const std::string& detail)
    : RunError("range", detail)
{
}

void
InvariantBroken(const char* condition, const char* file, int line, const std::string& message)
{
    std::fprintf(stderr,
                 "%s:%d: broken invariant: %s: %s\n  this is a fault in scaleacross: please "
                 "report it with the study that caused it\n",
                 file,
                 line,
                 condition,
                 message.c_str());
    std::abort();
}

} // namespace scaleacross
