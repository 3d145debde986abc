// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ENGINES_H
#define SCALEACROSS_ENGINES_H

#include "core/engine/engine.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace scaleacross
{

/// An engine as somebody has asked for it.
struct EngineCall
{
    std::string name;     //!< what tables and the database call it: "packet", "mine"
    std::string argument; //!< of a form, what follows its word
    std::string where;    //!< for messages: "--engine"
    const std::atomic<bool>* stop{nullptr}; //!< once set, running processes of it end; if given
};

/// All that is known of an engine by its name. There is a row of each in engines.cc; a new engine
/// is its own file and a row.
struct EngineRow
{
    std::string word; //!< "packet"; of a form, which takes an argument, "command:"
    std::string help; //!< one line for `scaleacross list engines`
    std::unique_ptr<Engine> (*make)(const EngineCall& call);
    std::string argument{}; //!< of a form what is to follow, in capitals: "COMMAND"
    bool ownProcess{false}; //!< many runs, or several at once, take a worker process each
    bool packets{false};    //!< it simulates packets, and so has buffers that can be too small
    bool variant{false};    //!< another way to run the one before; compared only where asked for
    bool ranks{false};      //!< of a form: a search may rank by it, without bounds
    bool starts{false};     //!< it starts other programs, which shall end with this one
    uint32_t mostGpus{0};   //!< it refuses scenarios of more; 0: of no number
    bool meanLosses{false}; //!< it takes losses as an expected value, without all timeouts

    /// A form stands for models that come from outside, each by an argument.
    bool IsForm() const
    {
        return !argument.empty();
    }
};

/// All of them, in the order in which they are listed.
const std::vector<EngineRow>& EngineRows();

/// The engines that are called by their word alone, from the fastest to the most exact one.
const std::vector<std::string>& OwnEngines();

/// Those of them that are compared unless somebody says which: no variants.
std::vector<std::string> ComparedEngines();

/// What a name stands for.
struct EngineChoice
{
    const EngineRow* row;
    EngineCall call;
};

/// The row and the call that a name stands for: a word, or WORD:ARGUMENT of a form, with "NAME=" in
/// front if it is to have a name of its own. Throws ConfigError (where = `where`) for a name that
/// is not known, and for a form without an argument.
EngineChoice FindEngine(const std::string& name, const std::string& where = "--engine");

/// Whether the name, as given or as the database has it, is that of a model from outside, of which
/// nothing is known beforehand.
bool IsForeign(const std::string& name);

/// The engine of this name, in this process. Throws ConfigError as FindEngine() and where a model
/// of somebody else's cannot be read.
std::unique_ptr<Engine> MakeEngine(const std::string& name,
                                   const std::string& where = "--engine",
                                   const std::atomic<bool>* stop = nullptr);

/// What `--engine` is said to take, for help.
std::string EngineHelp();

} // namespace scaleacross

#endif // SCALEACROSS_ENGINES_H
