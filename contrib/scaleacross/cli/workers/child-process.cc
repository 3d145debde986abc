// SPDX-License-Identifier: GPL-2.0-only

#include "cli/workers/child-process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
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

/// The same of a child that has closed its output, as most do when they end.
constexpr int g_endMilliseconds = 1;

constexpr size_t g_readBytes = 65536;

/// More than a pipe holds: what those that have left the group still write is not waited for.
constexpr int g_lastReads = 16;

class Pipe
{
  public:
    Pipe()
    {
        if (pipe2(m_ends.data(), O_CLOEXEC) != 0)
        {
            throw std::system_error(errno, std::generic_category(), "pipe");
        }
        fcntl(m_ends[0], F_SETFL, O_NONBLOCK);
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
            throw std::system_error(error, std::generic_category(), "message to a process");
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

/// In the child, between fork and exec: only calls that are safe there.
[[noreturn]] void
Become(const char* file,
       char* const* arguments,
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
    execve(file, arguments, environment);
    _exit(127);
}

enum class Got
{
    Some,
    Nothing,
    End
};

/// Appends what can be read.
Got
ReadSome(int descriptor, std::string& text)
{
    std::array<char, g_readBytes> buffer{};
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got > 0)
    {
        text.append(buffer.data(), static_cast<size_t>(got));
        return Got::Some;
    }
    return got < 0 && (errno == EINTR || errno == EAGAIN) ? Got::Nothing : Got::End;
}

/// A child whose group can be killed until it has been waited for.
class Child
{
  public:
    explicit Child(pid_t id)
        : m_id(id)
    {
        setpgid(id, id); // the child does so too; whoever is later finds it done
    }

    bool HasEnded() const
    {
        siginfo_t info{};
        return waitid(P_PID, static_cast<id_t>(m_id), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
               info.si_pid == m_id;
    }

    void KillGroup() const
    {
        kill(-m_id, SIGKILL);
    }

    int Wait() const
    {
        int status = 0;
        while (waitpid(m_id, &status, 0) < 0 && errno == EINTR)
        {
        }
        return status;
    }

  private:
    pid_t m_id;
};

/// What a child prints, as far as it is kept.
class Collected
{
  public:
    Collected(const ChildProgram& program, const Pipe& out, const Pipe& err, ChildEnd& end)
        : m_program(program),
          m_ends{{{out.ReadEnd(), POLLIN, 0}, {err.ReadEnd(), POLLIN, 0}}},
          m_end(end)
    {
    }

    /// Waits a little for something to read, and reads it.
    void Read()
    {
        const bool open = m_ends[0].fd >= 0 || m_ends[1].fd >= 0;
        poll(m_ends.data(), m_ends.size(), open ? g_pollMilliseconds : g_endMilliseconds);
        for (size_t i = 0; i < m_ends.size(); i++)
        {
            if (m_ends[i].fd >= 0 && m_ends[i].revents != 0)
            {
                ReadFrom(i);
            }
        }
    }

    /// Reads what is left in the pipes.
    void ReadRest()
    {
        for (size_t i = 0; i < m_ends.size(); i++)
        {
            for (int n = 0; n < g_lastReads && m_ends[i].fd >= 0; n++)
            {
                if (ReadFrom(i) == Got::Nothing)
                {
                    break;
                }
            }
        }
    }

    bool IsTooLong() const
    {
        return m_end.out.size() > m_program.mostOutput;
    }

  private:
    Got ReadFrom(size_t i)
    {
        const Got got = ReadSome(m_ends[i].fd, i == 0 ? m_end.out : m_end.err);
        if (got == Got::End)
        {
            m_ends[i].fd = -1;
        }
        if (m_end.err.size() > m_program.keptError)
        {
            m_end.err.erase(0, m_end.err.size() - m_program.keptError);
        }
        return got;
    }

    const ChildProgram& m_program;
    std::array<pollfd, 2> m_ends;
    ChildEnd& m_end;
};

/// Reads until the child has ended, or until it is time to kill it.
void
Collect(const Child& child,
        Collected& collected,
        const RunLimits& limits,
        const std::atomic<bool>* stop,
        ChildEnd& end)
{
    const auto start = Clock::now();
    const auto killBecause = [&](ChildEnd::How how) {
        if (end.how == ChildEnd::How::Exited)
        {
            end.how = how;
            child.KillGroup();
        }
    };
    while (!child.HasEnded())
    {
        collected.Read();
        const double elapsed = std::chrono::duration<double>(Clock::now() - start).count();
        if (stop != nullptr && stop->load())
        {
            killBecause(ChildEnd::How::Stopped);
        }
        else if (elapsed > limits.wallTime.S())
        {
            killBecause(ChildEnd::How::TimedOut);
        }
        else if (collected.IsTooLong())
        {
            killBecause(ChildEnd::How::TooLong);
        }
    }
    child.KillGroup();
    collected.ReadRest();
    if (end.how == ChildEnd::How::Exited && collected.IsTooLong())
    {
        end.how = ChildEnd::How::TooLong;
    }
}

std::vector<char*>
PointersTo(std::vector<std::string>& texts)
{
    std::vector<char*> pointers;
    for (auto& text : texts)
    {
        pointers.push_back(text.data());
    }
    pointers.push_back(nullptr);
    return pointers;
}

} // namespace

ChildEnd
RunChild(const ChildProgram& program,
         const std::string& input,
         const RunLimits& limits,
         const std::atomic<bool>* stop)
{
    std::vector<std::string> arguments = program.arguments;
    std::vector<std::string> variables = program.variables;
    for (char** variable = environ; *variable != nullptr; variable++)
    {
        variables.emplace_back(*variable);
    }
    const auto pointers = PointersTo(arguments);
    const auto environment = PointersTo(variables);

    const Message in(input);
    Pipe out;
    Pipe err;
    const pid_t id = fork();
    if (id < 0)
    {
        throw std::system_error(errno, std::generic_category(), "fork");
    }
    if (id == 0)
    {
        Become(program.file.c_str(), pointers.data(), environment.data(), limits, in, out, err);
    }
    out.CloseWriteEnd();
    err.CloseWriteEnd();
    const Child child(id);
    ChildEnd end;
    Collected collected(program, out, err, end);
    Collect(child, collected, limits, stop, end);
    const int status = child.Wait();
    if (end.how == ChildEnd::How::Exited && WIFSIGNALED(status))
    {
        end.how = ChildEnd::How::Signalled;
    }
    end.code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    return end;
}

} // namespace scaleacross
