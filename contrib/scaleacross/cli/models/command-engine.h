// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COMMAND_ENGINE_H
#define SCALEACROSS_COMMAND_ENGINE_H

#include "cli/models/foreign-engine.h"

#include <atomic>
#include <string>
#include <vector>

namespace scaleacross
{

/// The words of a shell command, quotes taken off: a reader of names of files, not a shell. What
/// separates commands separates words, too, and nothing is expanded.
std::vector<std::string> WordsOfCommand(const std::string& command);

/**
 * A model that is a command of the shell: each run starts it, writes ModelDocument() to its
 * standard input and reads ParseModelAnswer() from its standard output.
 *
 * The fingerprint covers the command's text, the contents of all of its words that are readable
 * regular files (from the folder that the program runs in), and what the document is made by. What
 * the command reads besides it does not know of.
 *
 * Failures: "answer" (what it has printed is none, or is more than 1 MiB), "exit" (another exit
 * code than 0), "crash" (a signal), "timeout". The detail has what was expected and the last lines
 * of the command's standard error. Run() may be called from several threads.
 */
class CommandEngine : public ForeignEngine
{
  public:
    /// @param stop once set, running commands are killed and Run() throws Interrupted; or nullptr
    CommandEngine(const std::string& name, std::string command, const std::atomic<bool>* stop);

    std::string Fingerprint() const override;

  protected:
    ModelAnswer Ask(const Scenario& scenario,
                    const PreparedRun& run,
                    const RunOptions& options,
                    Duration left) const override;

  private:
    std::string m_command;
    std::string m_fingerprint; //!< of the files as they were when this was made
    const std::atomic<bool>* m_stop;
};

} // namespace scaleacross

#endif // SCALEACROSS_COMMAND_ENGINE_H
