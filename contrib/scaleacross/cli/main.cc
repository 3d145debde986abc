// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command.h"
#include "core/base/errors.h"
#include "core/base/version.h"

#include <exception>
#include <iostream>

namespace
{

int
Fail(scaleacross::Exit code, const std::string& message)
{
    std::cout.flush();
    std::cerr << "scaleacross: error: " << message << "\n";
    return static_cast<int>(code);
}

} // namespace

int
main(int argc, char** argv)
{
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
    try
    {
        app.parse(argc, argv);
    }
    catch (const CLI::Success& help)
    {
        return app.exit(help);
    }
    catch (const CLI::ParseError& error)
    {
        return Fail(Exit::BadInput, std::string(error.what()) + "; see scaleacross --help");
    }
    try
    {
        return static_cast<int>(chosen());
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
