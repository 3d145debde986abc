// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "cli/output-file.h"
#include "cli/workers/worker-process.h"
#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/base/version.h"

#include <algorithm>
#include <exception>

namespace
{

int
Fail(scaleacross::Exit code, const std::string& message)
{
    scaleacross::PrintError(message);
    return static_cast<int>(code);
}

/// What to say of a first argument that is no command; "" if it is one, or an option.
std::string
UnknownCommand(const CLI::App& app, const std::string& word)
{
    std::vector<std::string> names;
    for (const auto* command : app.get_subcommands({}))
    {
        names.push_back(command->get_name());
    }
    if (word.rfind('-', 0) == 0 || std::find(names.begin(), names.end(), word) != names.end())
    {
        return "";
    }
    const std::string nearest = scaleacross::Nearest(word, names);
    return "there is no command " + scaleacross::Quoted(word) +
           (nearest.empty() ? "" : "; did you mean " + nearest + "?") +
           "\n  allowed: " + scaleacross::AnyOf(names);
}

/// Whole numbers are decimal: the library takes 010 for 8 and 0x10 for 16.
void
RefuseOctal(CLI::App& app)
{
    for (CLI::App* command : app.get_subcommands({}))
    {
        for (CLI::Option* option : command->get_options())
        {
            if (option->get_type_name().rfind("UINT", 0) == 0 ||
                option->get_type_name().rfind("INT", 0) == 0)
            {
                option->check([](const std::string& text) {
                    const bool isDecimal = text.size() < 2 || text[0] != '0';
                    return isDecimal ? "" : scaleacross::Quoted(text) + " is no decimal number";
                });
            }
        }
    }
}

} // namespace

int
main(int argc, char** argv)
{
    scaleacross::SayStarted();
    using namespace scaleacross;

    CLI::App app("How should this model be trained over these buildings, and why?", "scaleacross");
    app.set_version_flag("--version",
                         std::string("scaleacross ") + Version() + " (" + GitCommit() + ")");
    app.require_subcommand(1);
    CommandAction chosen;
    AddExplore(app, chosen);
    AddRun(app, chosen);
    AddCompare(app, chosen);
    AddShow(app, chosen);
    AddList(app, chosen);
    AddCollective(app, chosen);
    AddSchedule(app, chosen);
    AddBench(app, chosen);
    AddFairness(app, chosen);
    AddIterations(app, chosen);
    RefuseOctal(app);
    if (const std::string unknown = argc > 1 ? UnknownCommand(app, argv[1]) : ""; !unknown.empty())
    {
        return Fail(Exit::BadInput, unknown);
    }
    try
    {
        app.parse(argc, argv);
    }
    catch (const CLI::Success& help)
    {
        return app.exit(help);
    }
    catch (const CLI::ExtrasError& error)
    {
        const std::string what = error.what();
        const bool isValue = what.find('=') != std::string::npos;
        return Fail(Exit::BadInput,
                    what + (isValue ? "; every value has a --set of its own" : "") +
                        "; see scaleacross --help");
    }
    catch (const CLI::ConversionError& error)
    {
        return Fail(Exit::BadInput,
                    std::string(error.what()) +
                        "; a whole number is expected; see scaleacross --help");
    }
    catch (const CLI::ParseError& error)
    {
        return Fail(Exit::BadInput, std::string(error.what()) + "; see scaleacross --help");
    }
    try
    {
        const Exit end = chosen();
        FlushOutput();
        return static_cast<int>(end);
    }
    catch (const ConfigError& error)
    {
        return Fail(Exit::BadInput, error.what());
    }
    catch (const std::exception& error)
    {
        return Fail(Exit::Failed, error.what());
    }
}
