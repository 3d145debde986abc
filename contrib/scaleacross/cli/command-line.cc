// SPDX-License-Identifier: GPL-2.0-only

#include "cli/command-line.h"

#include "cli/output-file.h"
#include "core/base/errors.h"
#include "core/base/text.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <iostream>
#include <optional>
#include <type_traits>
#include <utility>

namespace scaleacross
{

namespace
{

template <class Value>
struct IsWhole : std::is_integral<Value>
{
};

template <class Value>
struct IsWhole<std::optional<Value>> : std::is_integral<Value>
{
};

/// The library takes 010 for 8 and 0x10 for 16.
std::string
NotDecimal(const std::string& text)
{
    const bool isDecimal = text.size() < 2 || text[0] != '0';
    return isDecimal ? "" : Quoted(text) + " is no decimal number";
}

/// As messages call it: by its short name, if it has one.
std::string
NameOf(const CLI::Option& option)
{
    const auto& letters = option.get_snames();
    return letters.empty() ? option.get_name() : "-" + letters.front();
}

[[noreturn]] void
RefuseEmpty(const CLI::App& command, const CLI::Option& option)
{
    const std::string name = NameOf(option);
    throw ConfigError(name,
                      "the value is empty",
                      "a value, of which 'scaleacross " + command.get_name() + " --help' says more",
                      option.get_required() ? "give one" : "give one, or leave " + name + " out");
}

/// Throws ConfigError for an option or argument whose value is empty: to commands, an empty text is
/// what has not been given.
void
RefuseEmptyValues(const CLI::App& command)
{
    for (const CLI::Option* option : command.get_options())
    {
        const auto& values = option->results();
        if (std::find(values.begin(), values.end(), "") != values.end())
        {
            RefuseEmpty(command, *option);
        }
    }
}

/// The same for "--name=", behind which the library takes the next argument for the value, another
/// option even.
void
RefuseEmptyValue(const CLI::App& command, const std::string& argument)
{
    const bool empty = argument.rfind("--", 0) == 0 && argument.find('=') + 1 == argument.size();
    const CLI::Option* option =
        empty ? command.get_option_no_throw(argument.substr(0, argument.size() - 1)) : nullptr;
    if (option != nullptr && option->get_items_expected_max() > 0)
    {
        RefuseEmpty(command, *option);
    }
}

/// The same for a part between the commas of a list, which the library leaves out: argument `at`
/// and those behind it.
void
RefuseEmptyParts(const CLI::App& command, const std::vector<std::string>& arguments, size_t at)
{
    const std::string& first = arguments[at];
    const size_t equals = first.find('=');
    const CLI::Option* option =
        first.rfind("--", 0) == 0 ? command.get_option_no_throw(first.substr(0, equals)) : nullptr;
    if (option == nullptr || option->get_delimiter() == '\0')
    {
        return;
    }
    std::vector<std::string> lists;
    if (equals != std::string::npos)
    {
        lists.push_back(first.substr(equals + 1));
    }
    for (size_t i = at + 1; i < arguments.size() && arguments[i].rfind('-', 0) != 0; i++)
    {
        lists.push_back(arguments[i]);
    }
    for (const std::string& list : lists)
    {
        const std::vector<std::string> parts = ListParts(list);
        if (std::find(parts.begin(), parts.end(), "") != parts.end())
        {
            throw ConfigError(NameOf(*option),
                              "a value in " + Quoted(list) + " is empty",
                              "one value or more, with a comma between two",
                              "leave the comma out, or say what is missing");
        }
    }
}

Exit
Fail(Exit code, const std::string& message)
{
    PrintError(message);
    return code;
}

} // namespace

// --- Option --------------------------------------------------------------------------------------

Option::Option(CLI::Option* option)
    : m_option(option)
{
}

Option&
Option::Required()
{
    m_option->required();
    return *this;
}

Option&
Option::ShowDefault()
{
    m_option->capture_default_str();
    return *this;
}

Option&
Option::Between(uint64_t least, uint64_t most)
{
    const auto problemOf = [range = CLI::Range(least, most), least, most](std::string& text) {
        return range(text).empty() ? std::string()
                                   : Quoted(text) + " is not in range\n  allowed: a whole number " +
                                         std::to_string(least) + " to " + std::to_string(most);
    };
    m_option->check(CLI::Validator(problemOf, ""));
    return *this;
}

Option&
Option::OneOf(const std::vector<std::string>& words)
{
    m_option->check(CLI::IsMember(words));
    return *this;
}

Option&
Option::Named(const std::string& type)
{
    m_option->type_name(type);
    return *this;
}

Option&
Option::Repeatable()
{
    m_option->expected(1)->take_all()->allow_extra_args(false);
    return *this;
}

Option&
Option::SeparatedByCommas()
{
    m_option->delimiter(',')->transform(Trimmed);
    return *this;
}

Option&
Option::Excludes(const std::string& name)
{
    m_option->excludes(name);
    return *this;
}

Option&
Option::Needs(const std::string& name)
{
    m_option->needs(name);
    return *this;
}

// --- Command -------------------------------------------------------------------------------------

Command::Command(CLI::App* command, std::function<Exit()>& chosen)
    : m_command(command),
      m_chosen(&chosen)
{
}

template <class Value>
Option
Command::Add(const std::string& names, Value& value, const std::string& help)
{
    CLI::Option* option = m_command->add_option(names, value, help);
    if constexpr (IsWhole<Value>::value)
    {
        option->check(NotDecimal);
    }
    return Option(option);
}

template Option Command::Add(const std::string&, std::string&, const std::string&);
template Option Command::Add(const std::string&, std::vector<std::string>&, const std::string&);
template Option Command::Add(const std::string&, uint32_t&, const std::string&);
template Option Command::Add(const std::string&, uint64_t&, const std::string&);
template Option Command::Add(const std::string&, int64_t&, const std::string&);
template Option Command::Add(const std::string&, std::optional<uint32_t>&, const std::string&);

Option
Command::Flag(const std::string& names, bool& value, const std::string& help)
{
    return Option(m_command->add_flag(names, value, help));
}

Option
Command::Flag(const std::string& names,
              const std::function<void()>& action,
              const std::string& help)
{
    return Option(m_command->add_flag_callback(names, action, help));
}

void
Command::Does(const std::function<Exit()>& action)
{
    m_command->callback([action, chosen = m_chosen] { *chosen = action; });
}

bool
Command::IsGiven(const std::string& name) const
{
    return m_command->count(name) > 0;
}

std::vector<std::string>
Command::OptionNames() const
{
    std::vector<std::string> names;
    for (const CLI::Option* option : std::as_const(*m_command).get_options())
    {
        if (!option->get_lnames().empty() && option != m_command->get_help_ptr())
        {
            names.push_back("--" + option->get_lnames().front());
        }
    }
    return names;
}

std::vector<std::string>
Command::Given(const std::vector<std::string>& names) const
{
    std::vector<std::string> given;
    for (const std::string& name : names)
    {
        const CLI::Option* option = m_command->get_option(name);
        const bool isFlag = option->get_items_expected_max() == 0;
        for (const std::string& value : option->results())
        {
            given.push_back(isFlag ? name : name + "=" + value);
        }
    }
    return given;
}

// --- CommandLine ---------------------------------------------------------------------------------

CommandLine::CommandLine(const std::string& about,
                         const std::string& name,
                         const std::string& version)
    : m_app(std::make_unique<CLI::App>(about, name))
{
    m_app->set_version_flag("--version", version);
    m_app->require_subcommand(1);
}

CommandLine::~CommandLine() = default;

Command
CommandLine::Add(const std::string& name, const std::string& help)
{
    return Command(m_app->add_subcommand(name, help), m_chosen);
}

void
CommandLine::AddElsewhere(std::vector<std::string> names, std::string where)
{
    m_elsewhere = std::move(names);
    m_where = std::move(where);
}

/// What to say of a first argument that is no command; "" if it is one, or an option.
std::string
CommandLine::Unknown(const std::string& word) const
{
    std::vector<std::string> names;
    for (const auto* command : m_app->get_subcommands({}))
    {
        names.push_back(command->get_name());
    }
    if (word.rfind('-', 0) == 0 || std::find(names.begin(), names.end(), word) != names.end())
    {
        return "";
    }
    if (std::find(m_elsewhere.begin(), m_elsewhere.end(), word) != m_elsewhere.end())
    {
        return "the program has no command " + Quoted(word) + "; " + m_where +
               "\n  allowed: " + AnyOf(names);
    }
    const std::string nearest = Nearest(word, names);
    return "there is no command " + Quoted(word) +
           (nearest.empty() ? "" : "; did you mean " + nearest + "?") +
           "\n  allowed: " + AnyOf(names);
}

Exit
CommandLine::Run(int argc, char** argv)
{
    if (const std::string unknown = argc > 1 ? Unknown(argv[1]) : ""; !unknown.empty())
    {
        return Fail(Exit::BadInput, unknown);
    }
    try
    {
        const std::vector<std::string> arguments(argv, argv + argc);
        for (const CLI::App* command : m_app->get_subcommands({}))
        {
            for (size_t i = 2; i < arguments.size() && command->check_name(arguments[1]); i++)
            {
                RefuseEmptyValue(*command, arguments[i]);
                RefuseEmptyParts(*command, arguments, i);
            }
        }
        m_app->parse(argc, argv);
    }
    catch (const ConfigError& error)
    {
        return Fail(Exit::BadInput, error.what());
    }
    catch (const CLI::Success& help)
    {
        m_app->exit(help);
        return Exit::Done;
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
    catch (const CLI::ValidationError& error)
    {
        return Fail(Exit::BadInput, error.what()); // which says what is allowed
    }
    catch (const CLI::ParseError& error)
    {
        return Fail(Exit::BadInput, std::string(error.what()) + "; see scaleacross --help");
    }
    try
    {
        for (const CLI::App* command : m_app->get_subcommands())
        {
            RefuseEmptyValues(*command);
        }
        const Exit end = m_chosen();
        FlushOutput();
        return end;
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

void
PrintError(const std::string& message)
{
    std::cout.flush();
    std::cerr << "scaleacross: error: " << message << "\n";
}

} // namespace scaleacross
