// SPDX-License-Identifier: GPL-2.0-only

#include "cli/workers/worker-process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <iostream>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace scaleacross
{

namespace
{

// Of Debian's Boost.Process a child has neither limits of its own nor dies with its parent, but by
// hooks that are as long as what follows.

using Clock = std::chrono::steady_clock;

/// How often the deadline and the stop flag are looked at.
constexpr int g_pollMilliseconds = 50;

class Pipe
{
  public:
    Pipe()
    {
        if (pipe2(m_ends.data(), O_CLOEXEC) != 0)
        {
            throw std::system_error(errno, std::generic_category(), "pipe");
        }
    }

    Pipe(const Pipe&) = delete;
    Pipe& operator=(const Pipe&) = delete;

    ~Pipe()
    {
        close(m_ends[0]);
        CloseWriteEnd();
    }

    int ReadEnd() const
    {
        return m_ends[0];
    }

    int WriteEnd() const
    {
        return m_ends[1];
    }

    void CloseWriteEnd()
    {
        if (m_ends[1] >= 0)
        {
            close(m_ends[1]);
            m_ends[1] = -1;
        }
    }

  private:
    std::array<int, 2> m_ends{-1, -1};
};

/// A file in memory with a text, to be read from its beginning. Other than a pipe it holds a text
/// of any length while nobody reads.
class Message
{
  public:
    explicit Message(const std::string& text)
        : m_file(memfd_create("message", MFD_CLOEXEC))
    {
        size_t written = 0;
        while (m_file >= 0 && written < text.size())
        {
            const ssize_t part = write(m_file, text.data() + written, text.size() - written);
            if (part < 0 && errno != EINTR)
            {
                break;
            }
            written += part > 0 ? static_cast<size_t>(part) : 0;
        }
        if (m_file < 0 || written < text.size() || lseek(m_file, 0, SEEK_SET) != 0)
        {
            const int error = errno;
            close(m_file);
            throw std::system_error(error, std::generic_category(), "message to a worker");
        }
    }

    Message(const Message&) = delete;
    Message& operator=(const Message&) = delete;

    ~Message()
    {
        close(m_file);
    }

    int File() const
    {
        return m_file;
    }

  private:
    int m_file;
};

/// What a worker has in its environment, and what it says on standard error for it.
const char* const g_workerVariable = "SCALEACROSS_WORKER";
const char g_started = '\n';

bool g_isWorker = false;

/// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void
Become(char* const* arguments,
       char* const* environment,
       const RunLimits& limits,
       const Message& in,
       const Pipe& out,
       const Pipe& err)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    if (limits.memory.Count() > 0)
    {
        const struct rlimit memory = {limits.memory.Count(), limits.memory.Count()};
        setrlimit(RLIMIT_AS, &memory);
    }
    const struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    dup2(in.File(), STDIN_FILENO);
    dup2(out.WriteEnd(), STDOUT_FILENO);
    dup2(err.WriteEnd(), STDERR_FILENO);
    execve("/proc/self/exe", arguments, environment);
    _exit(127);
}

/// Appends what can be read; false at the end.
bool
ReadSome(int descriptor, std::string& text)
{
    std::array<char, 65536> buffer{};
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got > 0)
    {
        text.append(buffer.data(), static_cast<size_t>(got));
    }
    return got > 0 || (got < 0 && errno == EINTR);
}

/// Reads both pipes to their ends, or until it is time to kill.
WorkerEnd::How
Collect(pid_t child,
        const Pipe& out,
        const Pipe& err,
        const RunLimits& limits,
        const std::atomic<bool>* stop,
        WorkerEnd& end)
{
    const auto start = Clock::now();
    WorkerEnd::How how = WorkerEnd::How::Exited;
    std::array<pollfd, 2> ends = {{{out.ReadEnd(), POLLIN, 0}, {err.ReadEnd(), POLLIN, 0}}};
    const std::array<std::string*, 2> texts = {&end.out, &end.err};
    while (ends[0].fd >= 0 || ends[1].fd >= 0)
    {
        poll(ends.data(), ends.size(), g_pollMilliseconds);
        for (size_t i = 0; i < ends.size(); i++)
        {
            if (ends[i].fd >= 0 && ends[i].revents != 0 && !ReadSome(ends[i].fd, *texts[i]))
            {
                ends[i].fd = -1;
            }
        }
        const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
        if (how == WorkerEnd::How::Exited && stop != nullptr && stop->load())
        {
            how = WorkerEnd::How::Stopped;
            kill(child, SIGKILL);
        }
        else if (how == WorkerEnd::How::Exited && elapsed > limits.wallTime.S())
        {
            how = WorkerEnd::How::TimedOut;
            kill(child, SIGKILL);
        }
    }
    return how;
}

} // namespace

WorkerEnd
RunWorker(const std::vector<std::string>& arguments,
          const std::string& input,
          const RunLimits& limits,
          const std::atomic<bool>* stop)
{
    std::vector<std::string> own = {"scaleacross"};
    own.insert(own.end(), arguments.begin(), arguments.end());
    const auto pointersTo = [](std::vector<std::string>& texts) {
        std::vector<char*> pointers;
        for (auto& text : texts)
        {
            pointers.push_back(text.data());
        }
        pointers.push_back(nullptr);
        return pointers;
    };
    std::vector<std::string> variables = {std::string(g_workerVariable) + "=1"};
    for (char** variable = environ; *variable != nullptr; variable++)
    {
        variables.emplace_back(*variable);
    }
    const auto pointers = pointersTo(own);
    const auto environment = pointersTo(variables);

    const Message in(input);
    Pipe out;
    Pipe err;
    const pid_t child = fork();
    if (child < 0)
    {
        throw std::system_error(errno, std::generic_category(), "fork");
    }
    if (child == 0)
    {
        Become(pointers.data(), environment.data(), limits, in, out, err);
    }
    out.CloseWriteEnd();
    err.CloseWriteEnd();
    WorkerEnd end;
    end.how = Collect(child, out, err, limits, stop, end);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    {
    }
    if (end.how == WorkerEnd::How::Exited && WIFSIGNALED(status))
    {
        end.how = WorkerEnd::How::Signalled;
    }
    end.started = !end.err.empty() && end.err.front() == g_started;
    end.err.erase(0, end.started ? 1 : 0);
    end.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return end;
}

void
SayStarted()
{
    if (std::getenv(g_workerVariable) != nullptr)
    {
        g_isWorker = true;
        unsetenv(g_workerVariable);
        std::cerr << g_started << std::flush;
    }
}

bool
IsWorker()
{
    return g_isWorker;
}

} // namespace scaleacross
