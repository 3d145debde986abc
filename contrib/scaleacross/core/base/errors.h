// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ERRORS_H
#define SCALEACROSS_ERRORS_H

#include <stdexcept>
#include <string>

namespace scaleacross
{

/**
 * What the user wrote cannot be used. Caught once, in the command line program, which prints it and
 * exits with 2.
 *
 * Every field is a sentence part for people: where the value stands ("study.yaml:12:5 plan.tp" or
 * "plan.tp"), what is wrong including the value, what would be allowed, and what to do about it.
 */
class ConfigError : public std::runtime_error
{
  public:
    ConfigError(std::string where, std::string what, std::string allowed, std::string remedy);

    const std::string& Where() const
    {
        return m_where;
    }

    const std::string& Problem() const
    {
        return m_problem;
    }

    const std::string& Allowed() const
    {
        return m_allowed;
    }

    const std::string& Remedy() const
    {
        return m_remedy;
    }

    /// The same error at a more precise place, e.g. with file, line and column in front.
    ConfigError At(const std::string& where) const;

  private:
    std::string m_where;
    std::string m_problem;
    std::string m_allowed;
    std::string m_remedy;
};

/// A run started from good input but could not finish: the reason is a result and is stored as one.
class RunError : public std::runtime_error
{
  public:
    /// Without a name of its own the reason is called "error".
    explicit RunError(const std::string& detail);

    /// @param reason stable short name, e.g. "timeout", "crash"; countable
    RunError(std::string reason, const std::string& detail);

    const std::string& Reason() const
    {
        return m_reason;
    }

  private:
    std::string m_reason;
};

/// A quantity that no type of core/base/units.h holds, such as a time beyond 106 days: the reason
/// "range". what() has the values.
class OutOfRange : public RunError
{
  public:
    explicit OutOfRange(const std::string& detail);
};

/// Why something that is otherwise well-formed cannot run: a named reason and its figures.
struct Infeasible
{
    std::string reason; //!< stable short name, e.g. "memory", "divisibility"; countable
    std::string detail; //!< one sentence with the values
};

} // namespace scaleacross

/**
 * A condition that only a fault in this program can break: prints it with the values and aborts.
 * Active in every build type.
 */
#define SCALEACROSS_INVARIANT(condition, message)                                                  \
    do                                                                                             \
    {                                                                                              \
        if (!(condition))                                                                          \
        {                                                                                          \
            ::scaleacross::InvariantBroken(#condition, __FILE__, __LINE__, (message));             \
        }                                                                                          \
    } while (false)

namespace scaleacross
{
/// Prints the broken condition with its place and values, then aborts.
[[noreturn]] void InvariantBroken(const char* condition,
                                  const char* file,
                                  int line,
                                  const std::string& message);
} // namespace scaleacross

#endif // SCALEACROSS_ERRORS_H
