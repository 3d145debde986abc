// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COMMAND_LINE_H
#define SCALEACROSS_COMMAND_LINE_H

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace CLI
{
class App;
class Option;
} // namespace CLI

namespace scaleacross
{

/// Exit codes of the program.
enum class Exit : int
{
    Done = 0,
    Failed = 1,       //!< what was asked for could not be done: no plan can run, a run failed
    BadInput = 2,     //!< study, arguments or database cannot be used
    Interrupted = 130 //!< by SIGINT or SIGTERM; what was finished is stored
};

// What commands say of their options. CLI11 stands behind it; its headers take many times longer to
// compile than a command does, and only command-line.cc includes them.

/// An option, or an argument that stands by itself. Each call says more of it, and returns it.
class Option
{
  public:
    explicit Option(CLI::Option* option);

    Option& Required();
    /// The help shows the value that it has now.
    Option& ShowDefault();
    /// A whole number in this range, both included.
    Option& Between(uint64_t least, uint64_t most);
    Option& OneOf(const std::vector<std::string>& words);
    /// What the help calls its value: "KEY=VALUE".
    Option& Named(const std::string& type);
    /// One value each time that it is given, which may be often.
    Option& Repeatable();
    /// A list with commas, and blanks around them if need be. An empty part is refused.
    Option& SeparatedByCommas();
    /// Not together with the option of that name, nor without it. It has to be there already.
    Option& Excludes(const std::string& name);
    Option& Needs(const std::string& name);

  private:
    CLI::Option* m_option;
};

/// A subcommand.
class Command
{
  public:
    Command(CLI::App* command, std::function<Exit()>& chosen);

    /// `names` is "--name", "-n,--name", or "NAME" for an argument without. Value: std::string, a
    /// vector of them, a whole number, which is decimal, or std::optional of one. An empty value is
    /// refused, so that an empty text means that none is given.
    template <class Value>
    Option Add(const std::string& names, Value& value, const std::string& help);

    /// An option without a value, which sets or does something.
    Option Flag(const std::string& names, bool& value, const std::string& help);
    Option Flag(const std::string& names,
                const std::function<void()>& action,
                const std::string& help);

    /// What it does once its options are read.
    void Does(const std::function<Exit()>& action);

    /// Whether an option has been given. For the action.
    bool IsGiven(const std::string& name) const;

    /// All options so far, as "--name"; not the arguments that stand by themselves, nor --help.
    std::vector<std::string> OptionNames() const;

    /// Those of the options `names` that have been given, as arguments that say the same:
    /// "--set=plan.tp=8" or "--exhaustive". A value is joined to its option, so that one that
    /// begins with a dash is no option itself. For the action.
    std::vector<std::string> Given(const std::vector<std::string>& names) const;

  private:
    CLI::App* m_command;
    std::function<Exit()>* m_chosen;
};

/// The program's command line.
class CommandLine
{
  public:
    /// @param version what --version prints
    CommandLine(const std::string& about, const std::string& name, const std::string& version);
    ~CommandLine();

    Command Add(const std::string& name, const std::string& help);

    /// Commands that something else has, and where: a sentence.
    void AddElsewhere(std::vector<std::string> names, std::string where);

    /// Reads the arguments and does what the command does. Says on stderr what is wrong.
    Exit Run(int argc, char** argv);

  private:
    std::string Unknown(const std::string& word) const;

    std::unique_ptr<CLI::App> m_app;
    std::function<Exit()> m_chosen;
    std::vector<std::string> m_elsewhere;
    std::string m_where;
};

/// Says on stderr why the program ends, after what has been printed so far.
void PrintError(const std::string& message);

} // namespace scaleacross

#endif // SCALEACROSS_COMMAND_LINE_H
