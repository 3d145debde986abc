// SPDX-License-Identifier: GPL-2.0-only

#include "cli/collective-refusal.h"
#include "cli/command.h"
#include "cli/engines.h"
#include "cli/measured-log.h"
#include "cli/message-sizes.h"
#include "cli/output-file.h"
#include "cli/placed-error.h"
#include "cli/question.h"
#include "cli/rows-file.h"
#include "cli/show/published-times.h"
#include "cli/show/report-json.h"
#include "cli/show/report-text.h"
#include "cli/token-options.h"
#include "cli/warnings.h"
#include "cli/workers/interrupt.h"
#include "cli/workers/time-limit.h"
#include "core/base/errors.h"
#include "core/base/parse-at.h"
#include "core/base/text.h"
#include "core/io/machine-reader.h"
#include "core/io/nccl-log.h"
#include "core/io/nccl-tests-words.h"
#include "core/spec/without-effect.h"
#include "core/store/collective-store.h"
#include "core/work/graph/collective-graph.h"

#include <algorithm>
#include <filesystem>
#include <fmt/core.h>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace scaleacross
{

namespace
{

/// Elements are of this size, nccl-tests' default type: float.
constexpr uint64_t g_elementBytes = 4;

struct CollectiveCommand
{
    CollectiveCommand()
    {
        // Two collectives in a row may share the NIC and end together, so that one period of every
        // two is next to nothing.
        run.iterations = 8;
    }

    CommonOptions common;
    std::string machine; //!< in place of a study
    uint32_t nodes{1};
    uint32_t gpusPerNode{0}; //!< 0: all of a server
    std::string engine{"analytical"};
    std::string op{"all_reduce"};
    bool opGiven{false};
    std::string like; //!< a log to stand beside
    std::string group{"all"};
    uint32_t groups{0};
    TokenOptions tokens;
    SizeOptions sizes;
    std::vector<std::string> sizesGiven; //!< options of them
    RunOptions run;
    std::string timeLimit;
    RowsFile csv;
};

/// Where rows go that are asked for with --db. As with `run`, a database that is there is opened
/// before anything is timed, and a new one is created with the first row.
class Shelf
{
  public:
    explicit Shelf(const std::string& path)
        : m_path(path)
    {
        std::error_code unreadable; // which ExpectCreatable tells of
        if (!m_path.empty() && std::filesystem::exists(m_path, unreadable))
        {
            Open();
        }
        else if (!m_path.empty())
        {
            Database::ExpectCreatable(m_path);
        }
    }

    /// Calls `work` in a transaction; nothing without a path.
    void Put(const std::function<void(Database&)>& work)
    {
        if (m_path.empty())
        {
            return;
        }
        if (!m_database)
        {
            Open();
        }
        m_database->Explained([&] { m_database->Transact([&] { work(*m_database); }); });
    }

  private:
    void Open()
    {
        m_database.emplace(m_path, Database::Access::Write);
    }

    std::string m_path;
    std::optional<Database> m_database;
};

/// A measured size.
struct Row
{
    Bytes bytes;
    uint64_t count{0}; //!< elements, by nccl-tests' convention
    std::string algorithm;
    std::string protocol; //!< of a library that has several
    uint32_t channels{0}; //!< of the library; 0: it has none
    RunReport report;
    std::string type;
    std::optional<double> measuredUs; //!< by the log that it stands beside

    double Us() const
    {
        return report.iterationTime.Us();
    }

    /// GB/s.
    double Algbw() const
    {
        return static_cast<double>(bytes.Count()) / 1e9 / report.iterationTime.S();
    }

    /// Domain: measured.
    double Error() const
    {
        return Us() / *measuredUs - 1;
    }
};

/// The value of an enumeration that a word stands for.
template <class E>
E
WordAt(const std::string& option, const std::string& word, const std::vector<std::string>& words)
{
    const auto found = std::find(words.begin(), words.end(), word);
    if (found == words.end())
    {
        const std::string nearest = Nearest(word, words);
        throw ConfigError(option,
                          Quoted(word) + " is not known",
                          AnyOf(words),
                          nearest.empty() ? "" : "did you mean " + nearest + "?");
    }
    return static_cast<E>(found - words.begin());
}

bool
Reduces(CollectiveOp op)
{
    return op == CollectiveOp::AllReduce || op == CollectiveOp::ReduceScatter ||
           op == CollectiveOp::Combine;
}

/// Whether `size` is divided among the members, so that each has whole elements of it.
bool
Divides(CollectiveOp op)
{
    return op == CollectiveOp::AllGather || op == CollectiveOp::ReduceScatter ||
           op == CollectiveOp::AllToAll;
}

/// Cluster and network, from a study or a machine.
Study
NetworkOf(const CollectiveCommand& options)
{
    if (options.common.study.empty() == options.machine.empty())
    {
        throw ConfigError(options.machine.empty() ? "STUDY" : "--machine " + options.machine,
                          options.machine.empty()
                              ? "neither a study nor a machine is given"
                              : "the study " + Quoted(options.common.study) + " is given as well",
                          "exactly one of STUDY and --machine NAME",
                          options.machine.empty() ? "'scaleacross list machines' has the names"
                                                  : "leave one of them out");
    }
    if (options.machine.empty())
    {
        CollectiveSpec spec;
        spec.op = ParseCollectiveOp("--op", options.op);
        return StudyOf(options.common,
                       spec.Routes() ? StudyScope::NetworkAndModel : StudyScope::Network);
    }
    return Checked(ReadMachineStudy(options.machine,
                                    options.nodes,
                                    options.gpusPerNode,
                                    OverridesOf(options.common)));
}

/// Who takes part on these ranks; nothing: they form no such groups, or fewer.
std::optional<LogCounterpart>
CounterpartOf(const CollectiveCommand& options,
              const RankLayout& layout,
              CollectiveGroup group,
              const NcclLog& log)
{
    const auto found = GroupOf(group, layout);
    if (!std::holds_alternative<RankGroup>(found))
    {
        return std::nullopt;
    }
    LogCounterpart part;
    part.members = std::get<RankGroup>(found).Size();
    const uint32_t groups = layout.ranks / part.members;
    if (options.groups > groups)
    {
        return std::nullopt;
    }
    part.groups = options.groups == 0 ? groups : options.groups;
    part.perServer = layout.gpusPerNode;
    part.ofMachine = !options.machine.empty();
    part.group = group;
    // A machine's servers are hosts, of which some may share a scale-up network. Of some groups it
    // takes more than their number to know on how many they are.
    const uint32_t servers = part.ofMachine ? options.nodes : layout.ranks / layout.gpusPerNode;
    part.servers = part.groups == groups ? servers : log.servers;
    return part;
}

/// The same on other servers of the machine, if there are such.
std::optional<LogCounterpart>
CounterpartOn(CollectiveCommand options,
              uint32_t nodes,
              uint32_t gpusPerNode,
              CollectiveGroup group,
              const NcclLog& log)
{
    options.nodes = nodes;
    options.gpusPerNode = gpusPerNode;
    try
    {
        const RankLayout layout = CollectiveLayout(NetworkOf(options).scenario.cluster);
        return CounterpartOf(options, layout, group, log);
    }
    catch (const ConfigError&)
    {
        return std::nullopt;
    }
}

std::string
UsText(double us)
{
    return us < 1e5 ? fmt::format("{:.2f}", us) : fmt::format("{:.0f}", us);
}

/// One collective on one engine, at every size.
class Measurement
{
  public:
    explicit Measurement(const CollectiveCommand& options);

    const Study& Of() const
    {
        return m_study;
    }

    const std::vector<Bytes>& Sizes() const
    {
        return m_sizes;
    }

    /// Nothing if it is not done within the time limit; a thread then goes on with this.
    std::optional<Row> At(Bytes bytes) const;

    Duration TimeLimit() const
    {
        return m_run.limits.wallTime;
    }

    std::string Head() const;
    /// A row of the table, and what was skipped on the way to it.
    std::string Line(const Row& row) const;
    Json ToJson(const Row& row) const;

    /// Keeps a row. Call inside a transaction.
    void Store(Database& database, const Row& row) const;

    double Busbw(const Row& row) const
    {
        return row.Algbw() * BusFactor(m_spec.op, m_members);
    }

  private:
    Row Measure(Bytes bytes) const;
    std::string Algorithm() const;
    std::string Chosen(const std::string& text) const;
    /// Two columns of a log that this stands beside.
    std::string Beside(const std::string& measured, const std::string& error) const;
    std::vector<Bytes> WholeSizes(const SizeOptions& sizes) const;
    std::vector<Bytes> SizesOfLog(const CollectiveCommand& options) const;

    Study m_study;
    std::optional<NcclLog> m_log;
    std::unique_ptr<Engine> m_engine;
    RunOptions m_run;
    CollectiveSpec m_spec;
    RankLayout m_layout;
    std::vector<Bytes> m_sizes; //!< whole elements
    uint32_t m_members{0};      //!< of a group
    uint32_t m_groups{0};       //!< that take part
};

Measurement::Measurement(const CollectiveCommand& options)
    : m_study(NetworkOf(options)),
      m_engine(MakeEngine(options.engine, "--engine", StopFor(options.engine))),
      m_run(options.run)
{
    m_run.seed = m_study.seed;
    m_run.limits.wallTime = TimeLimitOf(options.timeLimit);
    m_spec.op = ParseCollectiveOp("--op", options.op);
    if (!options.like.empty())
    {
        m_log = ReadNcclLog(options.like);
        m_spec.op = OperationOf(*m_log,
                                options.like,
                                options.opGiven ? std::optional(m_spec.op) : std::nullopt);
    }
    m_spec.group = WordAt<CollectiveGroup>("--group", options.group, CollectiveGroupWords());
    m_spec.groups = options.groups;

    Scenario& scenario = m_study.scenario;
    CheckTokenOptions(m_spec, options.tokens, options.sizesGiven);
    if (m_spec.Routes())
    {
        SetTokens(options.tokens, scenario, m_spec);
    }
    scenario.Job().collective = m_spec;
    m_layout = CollectiveLayout(scenario.cluster);
    const auto prepared = PrepareRun(scenario);
    if (const auto* no = std::get_if<Infeasible>(&prepared))
    {
        throw RefusalOf(*no, m_spec, m_layout);
    }
    const RankGroup group = std::get<RankGroup>(GroupOf(m_spec.group, m_layout));
    m_members = group.Size();
    m_groups = options.groups == 0 ? m_layout.ranks / m_members : options.groups;
    if (m_spec.Routes())
    {
        const LoweringRules rules(scenario);
        const auto tokens = RoutedTokensOf(m_spec, group, m_layout, rules);
        m_sizes = {CountedBytes(std::get<RoutedTokens>(tokens), group, m_layout, rules)};
        return;
    }

    m_sizes = m_log ? SizesOfLog(options) : WholeSizes(options.sizes);
}

std::vector<Bytes>
Measurement::WholeSizes(const SizeOptions& options) const
{
    std::vector<Bytes> sizes;
    const uint64_t unit = g_elementBytes * (Divides(m_spec.op) ? m_members : 1);
    for (const Bytes size : SizesOf(options))
    {
        const Bytes whole(size.Count() / unit * unit);
        if (whole > Bytes() && (sizes.empty() || sizes.back() < whole))
        {
            sizes.push_back(whole);
        }
    }
    if (sizes.empty())
    {
        throw ConfigError("-e",
                          Quoted(options.most) + " does not give every one of " +
                              std::to_string(m_members) + " ranks an element",
                          std::to_string(unit) + " bytes or more",
                          "");
    }
    return sizes;
}

std::vector<Bytes>
Measurement::SizesOfLog(const CollectiveCommand& options) const
{
    const LogCounterpart here = *CounterpartOf(options, m_layout, m_spec.group, *m_log);
    CheckBandwidths(*m_log, m_spec.op, here);
    CheckRanks(*m_log, here, [&](uint32_t nodes, uint32_t gpusPerNode, CollectiveGroup group) {
        return CounterpartOn(options, nodes, gpusPerNode, group, *m_log);
    });
    std::vector<Bytes> sizes;
    for (const MeasuredSize& size : m_log->sizes)
    {
        sizes.push_back(size.bytes);
    }
    return sizes;
}

std::optional<Row>
Measurement::At(Bytes bytes) const
{
    return Within(m_run.limits.wallTime, [this, bytes] { return Measure(bytes); });
}

Row
Measurement::Measure(Bytes bytes) const
{
    Scenario scenario = m_study.scenario;
    scenario.Job().collective->bytes = bytes;
    const RunResult result = m_engine->Run(scenario, m_run);
    if (const auto* no = std::get_if<Infeasible>(&result))
    {
        throw RefusalOf(*no, m_spec, m_layout);
    }
    const uint64_t elements = bytes.Count() / g_elementBytes;
    const PreparedRun prepared = std::get<PreparedRun>(PrepareRun(scenario));
    const Collective& collective = prepared.graph.collectives.front();
    Row row{bytes,
            m_spec.Routes()      ? m_spec.tokens.tokens
            : Divides(m_spec.op) ? elements / m_members
                                 : elements,
            collective.algorithm,
            collective.protocol,
            collective.libraryChannels,
            std::get<RunReport>(result),
            m_spec.Routes() ? "token" : "float",
            std::nullopt};
    if (m_log)
    {
        const MeasuredSize& measured = MeasuredAt(*m_log, bytes);
        row.count = measured.count;
        row.type = measured.type;
        row.measuredUs = measured.us;
    }
    return row;
}

std::string
Measurement::Algorithm() const
{
    return ToString(m_study.scenario.network.collective);
}

std::string
Measurement::Head() const
{
    std::string text = fmt::format("# {} of {} ({} engine, collective: {})\n"
                                   "# {} ranks in a group '{}', {} at the same time\n"
                                   "# {} measured after {} warm-up, back to back; time on the "
                                   "slowest rank\n#\n",
                                   ToString(m_spec.op),
                                   m_study.name,
                                   m_engine->Name(),
                                   Algorithm(),
                                   m_members,
                                   ToString(m_spec.group),
                                   m_groups == 1 ? "one group" : fmt::format("{} groups", m_groups),
                                   m_run.iterations,
                                   m_run.warmup);
    for (const auto& warnings : {WarningsOfNetworkWords(m_study.scenario, m_study.search),
                                 NetworkWarnings(m_study.scenario, m_engine->Name())})
    {
        for (const std::string& warning : warnings)
        {
            text += "# Warning: " + warning + ".\n";
        }
    }
    for (const std::string& told : PublishedTimesLines(m_study.scenario, m_engine->Name(), m_sizes))
    {
        text += "# " + told + ".\n";
    }
    text += "#\n";
    const auto line = [&text](const auto&... cells) {
        text += fmt::format("# {:>12}  {:>12}  {:>8}  {:>6}  {:>6}  {:>12}  {:>8}  {:>8}{}{}\n",
                            cells...);
    };
    line("size",
         "count",
         "type",
         "redop",
         "root",
         "time",
         "algbw",
         "busbw",
         Beside("measured", "error"),
         Chosen("how"));
    line("(B)",
         m_spec.Routes() ? "(tokens)" : "(elements)",
         "",
         "",
         "",
         "(us)",
         "(GB/s)",
         "(GB/s)",
         Beside("(us)", "(%)"),
         "");
    return text;
}

std::string
Measurement::Line(const Row& row) const
{
    const std::string beside =
        m_log ? Beside(UsText(*row.measuredUs), fmt::format("{:+.1f}", 100 * row.Error())) : "";
    std::string how = row.algorithm + " " + row.protocol;
    how += row.channels > 0 ? fmt::format(" x{}", row.channels) : "";
    std::string line =
        fmt::format("  {:>12}  {:>12}  {:>8}  {:>6}  {:>6}  {:>12}  {:>8.2f}  {:>8.2f}{}{}\n",
                    row.bytes.Count(),
                    row.count,
                    row.type,
                    Reduces(m_spec.op) ? "sum" : "none",
                    -1,
                    UsText(row.Us()),
                    row.Algbw(),
                    Busbw(row),
                    beside,
                    Chosen(how));
    if (row.report.fastForward)
    {
        line += "# " + FastForwardText(*row.report.fastForward) + "\n";
    }
    return line;
}

/// A column of what was chosen, where a library does.
std::string
Measurement::Chosen(const std::string& text) const
{
    return m_study.scenario.network.collective->library ? "  " + text : "";
}

std::string
Measurement::Beside(const std::string& measured, const std::string& error) const
{
    return m_log ? fmt::format("  {:>12}  {:>8}", measured, error) : "";
}

Json
Measurement::ToJson(const Row& row) const
{
    Plan plan;
    plan.network = m_study.scenario.network;
    const Json fields = scaleacross::ToJson(plan).at("network");
    const Json report = scaleacross::ToJson(row.report);
    Json json{{"bytes", row.bytes.Count()},
              {"time_us", row.Us()},
              {"algbw_GBps", row.Algbw()},
              {"busbw_GBps", Busbw(row)},
              {"count", row.count},
              {"type", row.type},
              {"redop", Reduces(m_spec.op) ? "sum" : "none"},
              {"root", -1},
              {"algorithm", row.algorithm},
              {"protocol", row.protocol.empty() ? Json() : Json(row.protocol)},
              {"channels", row.channels == 0 ? Json() : Json(row.channels)},
              {"op", ToString(m_spec.op)},
              {"group", ToString(m_spec.group)},
              {"groups", m_groups},
              {"ranks", m_members},
              {"study", m_study.name},
              {"engine", report.at("engine")},
              {"seed", report.at("seed")},
              {"version", report.at("version")},
              {"warmup", report.at("warmup")},
              {"iterations", report.at("iterations")},
              {"cross_building_bytes", report.at("cross_building_bytes")},
              {"published", PublishedTimesJson(m_study.scenario, m_engine->Name(), row.bytes)},
              {"network_plan", fields},
              {"network", report.at("network")}};
    if (row.measuredUs)
    {
        json["measured_us"] = *row.measuredUs;
        json["error"] = row.Error();
    }
    if (row.report.fastForward)
    {
        json["fast_forward"] = report.at("fast_forward");
    }
    return json;
}

void
Measurement::Store(Database& database, const Row& row) const
{
    TimedCollective timed;
    timed.spec = m_spec;
    timed.spec.groups = m_groups;
    timed.spec.bytes = row.bytes;
    timed.members = m_members;
    timed.algorithm = row.algorithm;
    timed.protocol = row.protocol;
    timed.channels = row.channels;
    timed.algbw = row.Algbw() * 1e9;
    timed.busbw = Busbw(row) * 1e9;
    timed.report = row.report;
    CollectiveStore(database, m_study.scenario, m_study.name, *m_engine, m_run).Put(timed);
}

Exit
MeasureSizes(const CollectiveCommand& options)
{
    const Measurement measurement(options);
    ExpectDatabase(options.common.db);
    options.csv.Expect();
    Shelf shelf(options.common.db);
    Json rows = Json::array();
    std::string uncorrected;
    double sum = 0;
    std::vector<std::pair<Bytes, double>> errors;
    // Not before there is something below it: an engine may refuse what it is asked to run.
    bool headed = options.common.json;
    const auto head = [&] {
        if (!std::exchange(headed, true))
        {
            std::cout << measurement.Head();
        }
    };
    const auto finish = [&] {
        head();
        options.csv.Write([&rows] { return rows; });
        if (options.common.json)
        {
            std::cout << rows.dump(2) << "\n";
        }
    };
    try
    {
        for (const Bytes size : measurement.Sizes())
        {
            const std::optional<Row> row =
                WithPlaces(measurement.Of(), [&] { return measurement.At(size); });
            if (!row)
            {
                EndAbandoned([&] {
                    finish(); // what was measured before it is good
                    PrintError(NotDoneAfter(measurement.TimeLimit()));
                });
            }
            sum += measurement.Busbw(*row);
            if (row->measuredUs)
            {
                errors.emplace_back(size, row->Error());
            }
            if (row->report.correction && !row->report.correction->missing.empty())
            {
                uncorrected += " " + std::to_string(row->bytes.Count());
            }
            rows.push_back(measurement.ToJson(*row));
            if (!options.common.json)
            {
                head();
                std::cout << measurement.Line(*row) << std::flush;
            }
            shelf.Put([&](Database& database) { measurement.Store(database, *row); });
        }
    }
    catch (const RunError&)
    {
        finish(); // what was measured before it is good
        throw;
    }
    finish();
    if (!options.common.json)
    {
        std::cout << fmt::format("# Avg bus bandwidth: {:.4g} GB/s\n",
                                 sum / static_cast<double>(measurement.Sizes().size()))
                  << ErrorSummary(errors);
        if (!uncorrected.empty())
        {
            std::cout << "# Without a correction, as the analytical engine has them:" << uncorrected
                      << "\n";
        }
    }
    return Exit::Done;
}

} // namespace

void
AddCollective(CommandLine& program)
{
    auto options = std::make_shared<CollectiveCommand>();
    Command command =
        program.Add("collective",
                    "time a collective on the cluster of a study, or on servers of a machine, "
                    "at growing sizes, in nccl-tests' table; model, workload and plan play no "
                    "part");
    command.Add("STUDY",
                options->common.study,
                "study file (YAML or JSON), - for standard input; or give --machine");
    command.Add("--machine",
                options->machine,
                "in place of a study: servers of this name ('list machines'), or of a YAML file");
    command.Add("--nodes", options->nodes, "servers of the machine")
        .Between(1, 1U << 20)
        .Needs("--machine")
        .ShowDefault();
    command
        .Add("--gpus-per-node",
             options->gpusPerNode,
             "GPUs of each of its servers that are used; default: all")
        .Between(1, 1024)
        .Needs("--machine");
    AddSeed(command, options->common);
    AddSetAndJson(command, options->common);
    command.Add("--engine", options->engine, EngineHelp()).ShowDefault();
    command.Add("--op", options->op, AnyOf(CollectiveOpWords()) + "; or nccl-tests' names of these")
        .ShowDefault();
    command
        .Add("--group",
             options->group,
             "who does it with whom: all; across: equal positions in every building; "
             "building; rail: equal positions in every server; node")
        .ShowDefault();
    command
        .Add("--groups",
             options->groups,
             "groups that take part at the same time, from the lowest rank on; default: "
             "all of them")
        .Between(1, 1U << 22);
    AddTokenOptions(command, options->tokens);
    AddSizeOptions(command, options->sizes);
    AddRunOptions(command, options->run);
    command.Add("--time-limit",
                options->timeLimit,
                "wall clock time of one size, preparation included, such as 60s; beyond "
                "it the command fails after the sizes before; default: no limit");
    command.Add("--db", options->common.db, "database in which every row is stored; default: none");
    options->csv.AddTo(command, "size");
    command.Add("--like",
                options->like,
                "a log of nccl-tests or rccl-tests to stand beside: its sizes and operation are "
                "run, and its times and the error are two columns more");
    command.Does([options, command] {
        options->sizesGiven = GivenSizes(command);
        if (!options->like.empty() && !options->sizesGiven.empty())
        {
            const std::string& size = options->sizesGiven.front();
            throw ConfigError(size,
                              "sizes are those of the log " + Quoted(options->like),
                              "--like or " + size,
                              "leave one of them out");
        }
        options->opGiven = command.IsGiven("--op");
        return Uninterrupted([options] { return MeasureSizes(*options); });
    });
}

} // namespace scaleacross
