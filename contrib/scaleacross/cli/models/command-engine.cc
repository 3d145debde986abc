// SPDX-License-Identifier: GPL-2.0-only

#include "cli/models/command-engine.h"

#include "cli/workers/child-process.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/base/version.h"
#include "core/explore/outcome.h"
#include "core/store/key.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <utility>

namespace scaleacross
{

namespace
{

/// More than any answer takes; who prints this much prints something else.
constexpr size_t g_mostAnswer = 1U << 20;

/// Of what the command says on standard error, the end that is shown.
constexpr size_t g_shownError = 500;

/// Text that adds up to one key without a way to shift bytes from one part to the next.
void
AddPart(std::string& key, const std::string& part)
{
    key += std::to_string(part.size()) + ":" + part;
}

std::string
FingerprintOf(const std::string& command)
{
    std::string key;
    AddPart(key, std::to_string(kModelFormat));
    AddPart(key, SourceHash(Sources::Core));
    AddPart(key, command);
    for (const std::string& word : WordsOfCommand(command))
    {
        std::error_code none;
        if (!std::filesystem::is_regular_file(word, none))
        {
            continue;
        }
        std::ifstream file(word, std::ios::binary);
        if (file)
        {
            AddPart(key, word);
            AddPart(key, std::string(std::istreambuf_iterator<char>(file), {}));
        }
    }
    return HashOf(key);
}

/// What the command has said of itself, behind what is wrong.
std::string
SaidOn(const std::string& err)
{
    const std::string end = Excerpt(err, g_shownError, true);
    return end.empty() ? "; it said nothing on standard error"
                       : "; its standard error ends: " + end;
}

std::string
SignalText(int signal)
{
    const char* name = sigabbrev_np(signal);
    return "signal " + std::to_string(signal) +
           (name == nullptr ? "" : " (SIG" + std::string(name) + ")");
}

} // namespace

std::vector<std::string>
WordsOfCommand(const std::string& command)
{
    std::vector<std::string> words;
    std::string word;
    bool inWord = false;
    const auto end = [&] {
        if (inWord)
        {
            words.push_back(word);
        }
        word.clear();
        inWord = false;
    };
    char quote = 0;
    for (size_t i = 0; i < command.size(); i++)
    {
        const char c = command[i];
        if (quote != 0 && c == quote)
        {
            quote = 0;
        }
        else if (quote == 0 && (c == '\'' || c == '"'))
        {
            quote = c;
            inWord = true;
        }
        else if (c == '\\' && quote != '\'' && i + 1 < command.size())
        {
            word += command[++i];
            inWord = true;
        }
        else if (quote == 0 && std::strchr(" \t\n;&|<>()", c) != nullptr)
        {
            end();
        }
        else
        {
            word += c;
            inWord = true;
        }
    }
    end();
    return words;
}

CommandEngine::CommandEngine(const std::string& name,
                             std::string command,
                             const std::atomic<bool>* stop)
    : ForeignEngine(name),
      m_command(std::move(command)),
      m_fingerprint(FingerprintOf(m_command)),
      m_stop(stop)
{
}

std::string
CommandEngine::Fingerprint() const
{
    return m_fingerprint;
}

ModelAnswer
CommandEngine::Ask(const Scenario& scenario,
                   const PreparedRun& run,
                   const RunOptions& options,
                   Duration left) const
{
    ChildProgram program;
    program.file = "/bin/sh";
    program.arguments = {"sh", "-c", m_command};
    program.mostOutput = g_mostAnswer;
    program.keptError = 2 * g_shownError; // cut to size, with a mark, by Excerpt()
    RunLimits limits = options.limits;
    limits.wallTime = left;
    const ChildEnd end = RunChild(program, ModelDocument(scenario, run), limits, m_stop);
    const auto fail = [&](const std::string& reason, const std::string& detail) {
        return RunError(reason,
                        "the command " + Quoted(m_command) + " " + detail + SaidOn(end.err));
    };
    switch (end.how)
    {
    case ChildEnd::How::Stopped:
        throw Interrupted();
    case ChildEnd::How::TimedOut:
        throw fail("timeout",
                   "is not done after " + ToString(options.limits.wallTime) +
                       " of wall clock (--time-limit)");
    case ChildEnd::How::Signalled:
        throw fail("crash",
                   "was killed by " + SignalText(end.code) +
                       "; expected an answer and exit code 0");
    case ChildEnd::How::TooLong:
        throw fail("answer",
                   "has printed more than 1 MiB; expected one JSON object on standard output");
    case ChildEnd::How::Exited:
        break;
    }
    // A shell that has run the command as a process of its own says so of one that was killed.
    const int signal = end.code - 128;
    if (signal > 0 && sigabbrev_np(signal) != nullptr)
    {
        throw fail("crash",
                   "ended with exit code " + std::to_string(end.code) +
                       ", as the shell says of one that was killed by " + SignalText(signal) +
                       "; expected an answer and exit code 0");
    }
    if (end.code != 0)
    {
        throw fail("exit",
                   "ended with exit code " + std::to_string(end.code) +
                       "; expected an answer and exit code 0");
    }
    try
    {
        return ParseModelAnswer(end.out, scenario.Job().collective.has_value());
    }
    catch (const ValueError& error)
    {
        throw fail("answer",
                   "does not answer: " + error.Problem() + "; expected " + error.Allowed());
    }
}

} // namespace scaleacross
