// SPDX-License-Identifier: GPL-2.0-only

#include "cli/engines.h"

#include "cli/models/command-engine.h"
#include "cli/models/correction-file.h"
#include "cli/models/predictions-engine.h"
#include "core/base/errors.h"
#include "core/base/input-files.h"
#include "core/base/one-line.h"
#include "core/base/text.h"
#include "core/engine/analytical-engine.h"
#include "core/engine/corrected-engine.h"
#include "core/engine/flow/flow-engine.h"
#include "core/io/text-file.h"
#include "core/store/key.h"
#include "helper/engine/packet-engine.h"

#include <algorithm>
#include <filesystem>

namespace scaleacross
{

namespace
{

template <class Made>
std::unique_ptr<Engine>
Make(const EngineCall& /* call */)
{
    return std::make_unique<Made>();
}

template <Collisions collisions>
std::unique_ptr<Engine>
MakeFlowOf(const EngineCall& /* call */)
{
    return std::make_unique<FlowEngine>(collisions);
}

std::unique_ptr<Engine>
MakeFastForward(const EngineCall& /* call */)
{
    return std::make_unique<PacketEngine>(PacketEngine::FastForwards::Steady);
}

std::unique_ptr<Engine>
MakePredictions(const EngineCall& call)
{
    return std::make_unique<PredictionsEngine>(call.name, call.argument);
}

std::unique_ptr<Engine>
MakeCommand(const EngineCall& call)
{
    return std::make_unique<CommandEngine>(call.name, call.argument, call.stop);
}

std::unique_ptr<Engine>
MakeCorrected(const EngineCall& call)
{
    const std::string path = call.argument;
    const std::string text = ReadTextFile(path);
    return std::make_unique<CorrectedEngine>(
        call.name,
        path,
        HashOf(ModelsName() + " " + text),
        [path, sets = ReadCorrectionFile(path)](const Scenario& scenario) {
            return CorrectionsFor(scenario, sets, path);
        });
}

/// What may stand in front of a form.
bool
IsOwnName(const std::string& name)
{
    return !name.empty() && name.size() <= 40 &&
           name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                  "-_.") == std::string::npos;
}

/// All that can be asked for, forms with their arguments.
std::vector<std::string>
Offered()
{
    std::vector<std::string> words;
    for (const EngineRow& row : EngineRows())
    {
        words.push_back(row.word + row.argument);
    }
    return words;
}

/// Where the form's word begins in "command:..." or "NAME=command:..."; npos: it does not.
size_t
BeginOf(const EngineRow& form, const std::string& name)
{
    if (name.rfind(form.word, 0) == 0)
    {
        return 0;
    }
    const size_t equals = name.find('=');
    return equals != std::string::npos && name.compare(equals + 1, form.word.size(), form.word) == 0
               ? equals + 1
               : std::string::npos;
}

/// What a form names is not written over by a command that runs other engines either.
void
NoteFilesOf(const std::string& argument)
{
    std::vector<std::string> words = WordsOfCommand(argument);
    words.push_back(argument); // a path may have blanks
    for (const std::string& word : words)
    {
        std::error_code none;
        if (std::filesystem::is_regular_file(word, none))
        {
            NoteInputFile(word);
        }
    }
}

EngineChoice
ChoiceOf(const EngineRow& form, const std::string& name, size_t begin, const std::string& where)
{
    EngineCall call;
    call.where = where;
    call.argument = name.substr(begin + form.word.size());
    call.name = begin == 0 ? name : name.substr(0, begin - 1);
    const std::string example = form.word + form.argument;
    if (call.argument.find_first_not_of(" \t\n") == std::string::npos)
    {
        throw ConfigError(where,
                          Quoted(name) + " has nothing behind the colon",
                          example,
                          "scaleacross list engines says what follows it");
    }
    const auto& rows = EngineRows();
    const bool taken = std::any_of(rows.begin(), rows.end(), [&call](const EngineRow& row) {
        return row.word == call.name;
    });
    if (begin > 0 && (taken || !IsOwnName(call.name)))
    {
        throw ConfigError(where,
                          Quoted(call.name) + (taken ? " is an engine of this program"
                                                     : " is no name for an engine"),
                          "NAME=" + example + ", a NAME of up to 40 letters, digits, - _ .",
                          "");
    }
    if (!IsOneLine(call.name))
    {
        throw ConfigError(where,
                          "a command of several lines has no name that tables can print",
                          "NAME=" + example,
                          "write e.g. mine= in front of it");
    }
    NoteFilesOf(call.argument);
    return {&form, call};
}

} // namespace

const std::vector<EngineRow>&
EngineRows()
{
    // Word, help, maker; of a form its argument; whether it takes processes, has packets, is a
    // variant, ranks though it is a form, starts programs, has a limit of GPUs, takes mean losses.
    static const std::vector<EngineRow> rows = {
        {"analytical",
         "exact order of events, transfers as fluids on shared links: for searches and sweeps",
         Make<AnalyticalEngine>,
         "",
         false,
         false,
         false,
         false,
         false,
         0,
         true},
        {"flow",
         "every rank's messages as max-min fair flows over the real links; queue pairs are where "
         "the hash of the packet engine's switches puts them, of more than 1,024 GPUs as expected",
         Make<FlowEngine>},
        {"flow:sampled",
         "the same, with the packet engine's paths of however many GPUs",
         MakeFlowOf<Collisions::Sampled>,
         "",
         false,
         false,
         true},
        {"flow:expected",
         "the same, with what hashes do in the mean, so that GPUs that do the same are one",
         MakeFlowOf<Collisions::Expected>,
         "",
         false,
         false,
         true},
        {"packet",
         "every packet, ACK and pause frame in ns-3, up to 4,096 GPUs: for what happens inside "
         "switches",
         Make<PacketEngine>,
         "",
         true, // ns-3 has one simulator per process
         true,
         false,
         false,
         false,
         PacketEngine::kMaxRanks},
        {"packet:fast-forward",
         "the same without the times in which nothing changes: for long messages; says how wrong "
         "that is",
         MakeFastForward,
         "",
         true,
         true,
         true,
         false,
         false,
         PacketEngine::kMaxRanks},
        {"command:",
         "a model of yours: a shell command that reads the task list as JSON and answers with a "
         "time",
         MakeCommand,
         "COMMAND",
         false,
         false,
         false,
         false,
         true},
        {"predictions:",
         "times that a model of yours has predicted, in a CSV file by operation and bytes, or by "
         "plan",
         MakePredictions,
         "FILE.csv"},
        {"corrected:",
         "analytical, with what packets take longer in a file that scaleacross calibrate has "
         "written",
         MakeCorrected,
         "FILE.json",
         false,
         false,
         false,
         true},
    };
    return rows;
}

const std::vector<std::string>&
OwnEngines()
{
    static const std::vector<std::string> names = [] {
        std::vector<std::string> all;
        for (const EngineRow& row : EngineRows())
        {
            if (!row.IsForm())
            {
                all.push_back(row.word);
            }
        }
        return all;
    }();
    return names;
}

std::vector<std::string>
ComparedEngines()
{
    std::vector<std::string> names;
    for (const EngineRow& row : EngineRows())
    {
        if (!row.IsForm() && !row.variant)
        {
            names.push_back(row.word);
        }
    }
    return names;
}

EngineChoice
FindEngine(const std::string& name, const std::string& where)
{
    for (const EngineRow& row : EngineRows())
    {
        const size_t begin = row.IsForm() ? BeginOf(row, name) : std::string::npos;
        if (begin != std::string::npos)
        {
            return ChoiceOf(row, name, begin, where);
        }
        if (row.word == name)
        {
            return {&row, {name, "", where, nullptr}};
        }
    }
    const std::string nearest = Nearest(name, OwnEngines());
    throw ConfigError(where,
                      Quoted(name) + " is not known",
                      AnyOf(Offered()),
                      nearest.empty() ? "" : "did you mean " + nearest + "?");
}

bool
IsForeign(const std::string& name)
{
    const auto& own = OwnEngines();
    return std::find(own.begin(), own.end(), name) == own.end();
}

std::unique_ptr<Engine>
MakeEngine(const std::string& name, const std::string& where, const std::atomic<bool>* stop)
{
    EngineChoice choice = FindEngine(name, where);
    choice.call.stop = stop;
    return choice.row->make(choice.call);
}

std::string
EngineHelp()
{
    return AnyOf(Offered());
}

} // namespace scaleacross
