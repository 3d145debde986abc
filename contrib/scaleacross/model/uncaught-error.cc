// SPDX-License-Identifier: GPL-2.0-only

// What a script shows if nothing in it catches an error of this module. Scripts of ns-3 have no
// handlers of their own: a wrong value ends them by NS_FATAL_ERROR, with a message. Our errors are
// exceptions, so that tests and the command line program can catch them; uncaught, C++ would only
// say "terminate called after throwing" and abort. There is nothing to call: a script that uses
// the module in any way has this handler.

#include "core/base/errors.h"

#include "ns3/fatal-impl.h"

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace scaleacross
{

namespace
{

/// As of the command line program.
constexpr int kBadInput = 2;
constexpr int kFailedRun = 1;

std::terminate_handler g_before = nullptr;

[[noreturn]] void
End(const char* kind, const char* text, int status)
{
    ns3::FatalImpl::FlushStreams(); // std::cout among them
    std::fprintf(stderr, "%s%s\n", kind, text);
    std::fflush(stderr);
    // Not exit(): objects that destructors would touch may be halfway through something.
    std::_Exit(status);
}

[[noreturn]] void
Terminate()
{
    if (const std::exception_ptr current = std::current_exception())
    {
        try
        {
            std::rethrow_exception(current);
        }
        catch (const ConfigError& error)
        {
            End("error: ", error.what(), kBadInput);
        }
        catch (const RunError& error)
        {
            End("the run failed: ", error.what(), kFailedRun);
        }
        catch (...)
        {
            // somebody else's
        }
    }
    if (g_before != nullptr)
    {
        g_before();
    }
    std::abort();
}

/// Takes the place of the handler there is, which remains for all other exceptions.
[[maybe_unused]] const bool g_installed = [] {
    g_before = std::set_terminate(Terminate);
    return true;
}();

} // namespace

} // namespace scaleacross
