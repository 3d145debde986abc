// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/read-study.h"

#include "core/base/one-line.h"
#include "core/base/text.h"
#include "core/explore/baselines/baseline.h"
#include "core/explore/robust.h"
#include "core/io/chakra/read-traces.h"
#include "core/io/cluster-reader.h"
#include "core/io/map-reader.h"
#include "core/io/model-reader.h"
#include "core/io/named-files.h"
#include "core/io/plan-reader.h"
#include "core/io/stack-reader.h"
#include "core/io/text-file.h"
#include "core/io/wildcard-path.h"
#include "core/spec/cluster-part.h"
#include "core/spec/complete-search.h"
#include "core/spec/plan-fields.h"
#include "core/topology/event-target.h"
#include "core/work/graph/trace-graph.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <set>
#include <sstream>

namespace scaleacross
{

namespace
{

WorkloadSpec
ReadWorkload(const YamlNode& node, const std::string& path, const std::string& folder)
{
    std::vector<std::string> keys = KeysOf(WorkloadSpec::Fields());
    keys.emplace_back("stack");
    const MapReader map(node, path, keys);
    WorkloadSpec workload;
    ReadFields(map, WorkloadSpec::Fields(), workload);
    if (const YamlNode* stack = map.Find("stack"); stack != nullptr)
    {
        workload.stack = ReadStack(*stack, map.PathOf("stack"), folder);
    }
    return workload;
}

/// Reads model, workload and plan of one job, which stand at the top or in an element of `jobs`.
JobSpec
ReadJob(const MapReader& map, const std::string& folder, bool& dpGiven)
{
    JobSpec job;
    job.model = ReadModel(map.Require("model", "model: llama3-8b"), map.PathOf("model"), folder);
    job.workload =
        ReadWorkload(map.Require("workload", "workload: {sequence: 8192, global_batch: 2048}"),
                     map.PathOf("workload"),
                     folder);
    if (const YamlNode* node = map.Find("plan"); node != nullptr)
    {
        Plan plan;
        ReadPlanFields(plan, *node, "plan", map.PathOf("plan"));
        job.plan = plan.parallel;
        dpGiven = node->Find("dp") != nullptr;
    }
    return job;
}

/// A collective that takes the place of training.
CollectiveSpec
ReadCollective(const YamlNode& node, const std::string& path)
{
    CollectiveSpec collective;
    const MapReader map(node, path, KeysOf(CollectiveSpec::Fields()));
    ReadFields(map, CollectiveSpec::Fields(), collective);
    return collective;
}

/// Traces that take the place of training; their files alone, or a map.
JobSpec
ReadTraceJob(const YamlNode& node, const std::string& path, const std::string& folder)
{
    JobSpec job;
    TraceSpec& trace = job.trace.emplace();
    std::string at = path;
    if (node.kind == YamlNode::Kind::Scalar)
    {
        trace.files = node.text;
    }
    else
    {
        const MapReader map(node, path, KeysOf(TraceSpec::Fields()));
        ReadFields(map, TraceSpec::Fields(), trace);
        at = map.PathOf("files");
    }
    if (trace.files.empty())
    {
        FailAt(node, at, "the text is empty", "what the names of the traces begin with", "");
    }
    std::error_code ignored;
    trace.files = std::filesystem::absolute(std::filesystem::path(folder) / trace.files, ignored)
                      .lexically_normal()
                      .string();
    try
    {
        ReadTraces(trace);
    }
    catch (const ConfigError& error)
    {
        throw error.At(node.Place() + " " + at + ": " + error.Where());
    }
    job.plan = trace.work->plan;
    return job;
}

std::vector<JobSpec>
ReadJobs(const MapReader& map, const std::string& folder, StudyScope scope, bool& dpGiven)
{
    const YamlNode* list = map.Find("jobs");
    const YamlNode* trace = map.Find("trace");
    if (list == nullptr && trace != nullptr)
    {
        if (scope == StudyScope::Training)
        {
            FailAt(*trace,
                   "trace",
                   "the study replays traces, which leaves nothing to choose",
                   "'scaleacross run' and 'scaleacross export --format chakra'",
                   "leave the key out to ask about the plans of a model");
        }
        return {ReadTraceJob(*trace, "trace", folder)};
    }
    if (list == nullptr)
    {
        return {ReadJob(map, folder, dpGiven)};
    }
    for (const auto* key : {"model", "workload", "plan", "trace"})
    {
        if (const YamlNode* node = map.Find(key); node != nullptr)
        {
            FailAt(*node,
                   key,
                   "the study has jobs as well",
                   "either jobs, or model, workload and plan of the one job",
                   "move it into the job");
        }
    }
    if (list->kind != YamlNode::Kind::List || list->children.empty())
    {
        FailAt(*list, "jobs", "this is " + list->KindName(), "a list of jobs", "");
    }
    std::vector<JobSpec> jobs;
    for (size_t i = 0; i < list->children.size(); i++)
    {
        std::vector<std::string> keys{"name", "model", "workload", "plan"};
        if (scope == StudyScope::Scenario)
        {
            keys.insert(keys.end(), {"collective", "trace"});
        }
        const MapReader job(list->children[i], "jobs." + std::to_string(i), keys);
        if (const YamlNode* collective = job.Find("collective"); collective != nullptr)
        {
            jobs.emplace_back();
            jobs.back().collective = ReadCollective(*collective, job.PathOf("collective"));
        }
        else if (const YamlNode* replayed = job.Find("trace"); replayed != nullptr)
        {
            jobs.push_back(ReadTraceJob(*replayed, job.PathOf("trace"), folder));
        }
        else
        {
            jobs.push_back(ReadJob(job, folder, dpGiven));
        }
        job.Get("name", jobs.back().name, [](const std::string& text) { return text; });
    }
    return jobs;
}

EventSpec
ReadEvent(const YamlNode& node, const std::string& path)
{
    const auto& fields = EventSpec::Fields();
    const MapReader map(node, path, KeysOf(fields));
    // Which keys there may be follows from the kind, so that is read first.
    EventSpec event;
    const Field<EventSpec>& kind = fields.front();
    SetField(kind, event, map.Require(kind.key, kind.example), map.PathOf(kind.key));
    std::string allowed;
    for (const auto& field : fields)
    {
        allowed += field.applies(event) ? (allowed.empty() ? "" : ", ") + field.key : "";
    }
    for (const auto& field : fields)
    {
        if (const YamlNode* value = map.Find(field.key); value != nullptr && !field.applies(event))
        {
            FailAt(*value,
                   map.PathOf(field.key),
                   "a " + ToString(event.kind) + " has no '" + field.key + "'",
                   allowed,
                   "");
        }
    }
    ReadFields(map, fields, event);
    if (const YamlNode* until = map.Find("until"); until != nullptr && event.until == Duration())
    {
        FailAt(*until,
               map.PathOf("until"),
               "an event that ends at 0s never happens",
               "a time after its beginning, " + ToString(event.at),
               "leave 'until' out if it does not end");
    }
    return event;
}

/// With their places in a study that a user has written.
std::vector<EventSpec>
ReadEvents(const YamlNode& node, StudyScope scope)
{
    std::vector<EventSpec> events;
    const auto list = ListOf(node, "events");
    for (size_t i = 0; i < list.size(); i++)
    {
        const std::string path = "events." + std::to_string(i);
        events.push_back(ReadEvent(*list[i], path));
        const std::string at = list[i]->Place();
        if (scope != StudyScope::Scenario && !at.empty())
        {
            events.back().place = at + " " + path;
        }
    }
    return events;
}

/// None of an empty map, as of none at all.
std::optional<PriceSpec>
ReadPrices(const YamlNode& node)
{
    const MapReader map(node, "prices", KeysOf(PriceSpec::Fields()));
    if (node.children.empty())
    {
        return std::nullopt;
    }
    PriceSpec prices;
    ReadFields(map, PriceSpec::Fields(), prices);
    if (prices.gpuHour == 0 && prices.spanTbpsKmHour == 0)
    {
        FailAt(node,
               "prices",
               "nothing has a price",
               "a price of GPUs, of spans or of both",
               "write prices: {gpu_hour: 2.5}, or leave the key out");
    }
    return prices;
}

/// Texts of a list or of one value, joined by commas.
std::string
JoinedText(const YamlNode& node, const std::string& path)
{
    if (node.kind == YamlNode::Kind::Scalar)
    {
        return node.text;
    }
    std::string text;
    const auto list = ListOf(node, path);
    for (size_t i = 0; i < list.size(); i++)
    {
        text += (i == 0 ? "" : ",") + ScalarText(*list[i], path + "." + std::to_string(i));
    }
    return text;
}

SpreadSpec
ReadSpread(const YamlNode& node, const std::string& path)
{
    const MapReader map(node, path, KeysOf(SpreadSpec::Fields()));
    SpreadSpec spread;
    for (const Field<SpreadSpec>& field : SpreadSpec::Fields())
    {
        if (const YamlNode* value = map.Find(field.key); value != nullptr)
        {
            const std::string at = map.PathOf(field.key);
            SetField(field, spread, JoinedText(*value, at), *value, at);
        }
    }
    return spread;
}

/// None of an empty map, as of none at all.
std::optional<UncertainSpec>
ReadUncertain(const YamlNode& node, const ClusterSpec& cluster)
{
    const auto keys = UncertainSpec::FigureKeys();
    const MapReader map(node, "uncertain", WithKeys(keys, UncertainSpec::Fields()));
    if (node.children.empty())
    {
        return std::nullopt;
    }
    UncertainSpec uncertain;
    ReadFields(map, UncertainSpec::Fields(), uncertain);
    for (const std::string& key : keys)
    {
        if (const YamlNode* spread = map.Find(key); spread != nullptr)
        {
            uncertain.figures.push_back({key, ReadSpread(*spread, map.PathOf(key))});
        }
    }
    if (uncertain.figures.empty() || cluster.crossLinks.empty())
    {
        FailAt(node,
               "uncertain",
               cluster.crossLinks.empty() ? "the study has one building, hence no spans"
                                          : "no figure is uncertain",
               AnyOf(keys) + " of spans, with values or a range",
               "write uncertain: {distance: {values: [30km, 60km], shares: [0.9, 0.1]}}, or leave "
               "the key out");
    }
    return uncertain;
}

/// A list of different words, each of which `parse` takes.
template <class Parse>
std::vector<std::string>
ReadWords(const YamlNode& node, const std::string& path, Parse parse)
{
    std::vector<std::string> words;
    const auto list = ListOf(node, path);
    for (size_t i = 0; i < list.size(); i++)
    {
        const std::string at = path + "." + std::to_string(i);
        words.push_back(ParseScalar(*list[i], at, parse));
        if (std::find(words.begin(), words.end() - 1, words.back()) != words.end() - 1)
        {
            FailAt(*list[i], at, Quoted(words.back()) + " is given twice", "every word once", "");
        }
    }
    return words;
}

/// The deepest node on the way that a message's key path describes, and the whole path in the file.
/// List indices are passed over where the study describes all elements by one map.
const YamlNode&
NodeAt(const YamlNode& root, const std::string& path)
{
    const YamlNode* at = &root;
    std::istringstream stream(path);
    for (std::string segment; std::getline(stream, segment, '.');)
    {
        if (at->kind == YamlNode::Kind::List && IsDigits(segment) && segment.size() < 9 &&
            std::stoul(segment) < at->children.size())
        {
            at = &at->children[std::stoul(segment)];
        }
        else if (const YamlNode* child = at->Find(segment); child != nullptr)
        {
            at = child;
        }
        else if (!IsDigits(segment))
        {
            break;
        }
    }
    return *at;
}

/// An error of Validate(), which knows key paths only, or of events where these are, with the place
/// in the file.
ConfigError
Located(const ConfigError& error, const YamlNode& root)
{
    std::string path = error.Where();
    if (const size_t events = path.rfind(" events"); events != std::string::npos)
    {
        path.erase(0, events + 1);
    }
    const std::string first = path.substr(0, path.find('.'));
    const bool ofJob = first == "model" || first == "workload" || first == "plan";
    if (ofJob && root.Find("jobs") != nullptr)
    {
        path = "jobs.0." + path;
    }
    return error.At(NodeAt(root, path).Place() + " " + path);
}

/// Lets dp follow from the GPUs, or checks it. Where the search varies a degree, whether that one
/// fits is for the search to judge, and in a scenario that is written down for the engine.
void
FitDegrees(Study& study, const YamlNode& root, StudyScope scope)
{
    ParallelPlan& plan = study.scenario.Job().plan;
    const auto varies = [&study](const std::string& key) {
        return std::any_of(study.search.begin(), study.search.end(), [&key](const auto& axis) {
            return axis.key == key;
        });
    };
    const uint64_t gpus = study.scenario.cluster.Gpus();
    // The product of the degrees may exceed 64 bits, so divide instead.
    uint64_t rest = gpus;   // of the plan
    uint64_t common = gpus; // of all plans of the search
    bool varied = scope == StudyScope::Scenario || varies("plan.dp");
    std::string product;
    std::string kept;
    const auto divide = [](uint64_t& by, uint64_t degree) {
        by = by % degree == 0 ? by / degree : 0;
    };
    for (const auto& [name, degree] :
         {std::pair("tp", plan.tp), std::pair("cp", plan.cp), std::pair("pp", plan.pp)})
    {
        const std::string text = std::string(name) + " " + std::to_string(degree);
        divide(rest, degree);
        product += (product.empty() ? "" : " x ") + text;
        if (varies(std::string("plan.") + name))
        {
            varied = true;
            continue;
        }
        divide(common, degree);
        kept += (kept.empty() ? "" : " x ") + text;
    }
    const std::string cluster = "the " + std::to_string(gpus) + " GPUs of the cluster";
    if (common == 0 && scope != StudyScope::Scenario)
    {
        throw Located(ConfigError("plan",
                                  kept + " does not divide " + cluster,
                                  "tp x cp x pp x dp = " + std::to_string(gpus),
                                  "change a degree or the number of GPUs"),
                      root);
    }
    if (varied)
    {
        plan.dp = study.dpGiven || rest == 0 ? plan.dp : static_cast<uint32_t>(rest);
        return;
    }
    if (!study.dpGiven)
    {
        plan.dp = static_cast<uint32_t>(rest);
    }
    else if (plan.dp != rest)
    {
        throw Located(
            ConfigError("plan.dp",
                        product + " x dp " + std::to_string(plan.dp) + " is not " + cluster,
                        "tp x cp x pp x dp = " + std::to_string(gpus),
                        "set dp to " + std::to_string(rest) +
                            ", or leave it out so that it follows"),
            root);
    }
}

/// The folder of a study file, which names studies that do not name themselves.
std::string
FolderName(const std::filesystem::path& file)
{
    std::error_code ignored;
    const auto folder = std::filesystem::absolute(file, ignored).lexically_normal().parent_path();
    return folder.has_filename() ? folder.filename().string() : "study";
}

/// A study's name, from which files are named.
std::string
StudyName(const std::string& text)
{
    const bool blank = text.find_first_not_of(' ') == std::string::npos;
    const bool control = !IsOneLine(text);
    if (blank || control || text.size() > kLongestName)
    {
        throw ValueError(blank     ? "the name is empty"
                         : control ? "the name has a control character"
                                   : "the name has " + std::to_string(text.size()) + " bytes",
                         "a name of 1 to " + std::to_string(kLongestName) + " bytes in one line",
                         "leave the key out to take the name of the study's folder");
    }
    return text;
}

/// The plan of the one job.
const YamlNode*
PlanOf(const MapReader& map)
{
    const YamlNode* jobs = map.Find("jobs");
    return jobs == nullptr ? map.Find("plan") : jobs->children.front().Find("plan");
}

/// The fields of plan and network that the study gives, by key.
std::vector<std::string>
GivenPlanFields(const MapReader& map)
{
    std::vector<std::string> all;
    for (const auto& [part, prefix] :
         {std::pair(PlanOf(map), "plan"), std::pair(map.Find("network"), "network")})
    {
        if (part != nullptr)
        {
            const auto given = GivenFields(*part, prefix);
            all.insert(all.end(), given.begin(), given.end());
        }
    }
    return all;
}

/// Whether a building, or the fabric that it names, says if there are rails.
bool
SaysRails(const YamlNode& building)
{
    const YamlNode* fabric = building.Find("fabric");
    return fabric != nullptr &&
           (fabric->kind == YamlNode::Kind::Scalar || fabric->Find("preset") != nullptr ||
            fabric->Find("rails") != nullptr);
}

/// Whether all buildings do. They are a list, or a map for equal ones.
bool
AllSayRails(const YamlNode& cluster)
{
    const YamlNode* buildings = cluster.Find("buildings");
    if (buildings == nullptr || buildings->kind != YamlNode::Kind::List)
    {
        return buildings != nullptr && SaysRails(*buildings);
    }
    return std::all_of(buildings->children.begin(), buildings->children.end(), SaysRails);
}

/// Axes of all that neither the study nor one of these fixes.
std::vector<SearchAxis>
RestOf(const Study& study, const std::vector<SearchAxis>& axes)
{
    std::vector<std::string> fixed = study.given;
    for (const SearchAxis& axis : axes)
    {
        fixed.push_back(axis.key);
    }
    return CompleteSearch(study, fixed);
}

void
TakeSearch(Study& study, const SearchWords& search)
{
    study.search = search.axes;
    study.searchesRest = search.complete;
    if (search.complete)
    {
        const auto rest = RestOf(study, search.axes);
        study.search.insert(study.search.end(), rest.begin(), rest.end());
    }
}

Study
ReadRoot(const YamlNode& root, const std::string& name, StudyScope scope)
{
    const MapReader map(root,
                        "",
                        {"study",
                         "jobs",
                         "model",
                         "workload",
                         "cluster",
                         "network",
                         "plan",
                         "trace",
                         "search",
                         "events",
                         "baselines",
                         "engines",
                         "prices",
                         "uncertain",
                         "seed"});
    const std::filesystem::path file(name);
    Study study;
    study.path = name;
    study.name = FolderName(file);
    map.Get("study", study.name, StudyName);
    Scenario& scenario = study.scenario;
    const bool training = scope != StudyScope::Network && scope != StudyScope::NetworkAndModel;
    if (training)
    {
        scenario.jobs = ReadJobs(map, file.parent_path().string(), scope, study.dpGiven);
    }
    else
    {
        scenario.jobs.resize(1);
        scenario.Job().collective.emplace();
        const YamlNode* model = map.Find("model");
        if (model != nullptr && scope == StudyScope::NetworkAndModel)
        {
            scenario.Job().model = ReadModel(*model, "model", file.parent_path().string());
        }
    }
    study.given = GivenPlanFields(map);
    const YamlNode& cluster =
        map.Require("cluster", "cluster: {buildings: {count: 1, gpus: 8, gpu: h100}}");
    if (AllSayRails(cluster))
    {
        study.given.emplace_back(kRailsKey);
    }
    scenario.cluster = ReadCluster(cluster, file.parent_path().string());
    const ClusterSpec whole = scenario.cluster;
    const std::vector<uint32_t> used = ReadUsedBuildings(cluster, whole);
    if (!used.empty())
    {
        scenario.cluster = OnlyBuildings(whole, used);
    }
    if (const YamlNode* node = map.Find("network"); node != nullptr)
    {
        Plan plan;
        ReadPlanFields(plan, *node, "network", "network");
        scenario.network = plan.network;
    }
    const bool chooses = training && (map.Find("trace") == nullptr || map.Find("jobs") != nullptr);
    const YamlNode* search = map.Find("search");
    const bool searches = search != nullptr && search->kind != YamlNode::Kind::Null;
    if (searches && chooses)
    {
        TakeSearch(study, ReadSearch(*search));
    }
    else if (searches && !training)
    {
        study.search = ReadSearch(*search).axes; // what is said of the network may be for it
    }
    if (const YamlNode* node = map.Find("events"); node != nullptr)
    {
        scenario.events = ReadEvents(*node, scope);
    }
    if (const YamlNode* node = map.Find("baselines"); node != nullptr && chooses)
    {
        study.baselines = ReadWords(*node, "baselines", OneOf(Baseline::Names()));
    }
    study.engines = {"analytical"};
    study.enginesAt = {"engines.0"};
    if (const YamlNode* node = map.Find("engines"); node != nullptr)
    {
        const auto any = [](const std::string& word) { return word; };
        study.engines = ReadWords(*node, "engines", any);
        study.enginesGiven = true;
        if (study.engines.empty())
        {
            FailAt(*node,
                   "engines",
                   "the list is empty",
                   "one engine or more",
                   "'scaleacross list engines' has them");
        }
        study.enginesAt.clear();
        for (size_t i = 0; i < study.engines.size(); i++)
        {
            const std::string at = "engines." + std::to_string(i);
            study.enginesAt.push_back(ListOf(*node, "engines")[i]->Place() + " " + at);
        }
    }
    if (const YamlNode* node = map.Find("prices"); node != nullptr)
    {
        study.prices = ReadPrices(*node);
    }
    if (const YamlNode* node = map.Find("uncertain"); node != nullptr && chooses)
    {
        study.uncertain = ReadUncertain(*node, whole);
        if (scenario.cluster.crossLinks.empty())
        {
            study.uncertain.reset(); // a part without spans
        }
    }
    // ns-3 takes a seed of 32 bits and refuses 0.
    map.Get("seed", study.seed, Whole(1, UINT32_MAX));
    try
    {
        whole.Validate();
        scenario.Validate();
        if (used.empty())
        {
            CheckEventTargets(scenario);
        }
        else
        {
            KeepEventsOfPart(whole, scenario);
        }
        if (study.uncertain)
        {
            CasesOf(study);
        }
    }
    catch (const ConfigError& error)
    {
        throw Located(error, root);
    }
    if (training && scenario.Job().Trains())
    {
        FitDegrees(study, root, scope);
        if (!searches) // its plan has to fit by itself
        {
            TakeSearch(study, {{}, true});
        }
    }
    return study;
}

/// Throws ConfigError for what Hugging Face has of a model, which people give in place of a study.
void
RefuseModelConfig(const YamlNode& root, const std::string& name)
{
    if (root.kind == YamlNode::Kind::Map &&
        (root.Find("model_type") != nullptr || root.Find("architectures") != nullptr))
    {
        throw ConfigError(name,
                          "this is the config.json of a model, and no study",
                          "a study file, which may name it",
                          "write one with model: " + name + ", workload and cluster");
    }
}

} // namespace

namespace
{

/// The nodes of a study, overrides among them.
YamlNode
RootOf(const std::string& text, const std::string& name, const Overrides& overrides)
{
    YamlNode root = ParseYaml(text, name);
    RefuseModelConfig(root, name);
    NoteNamedFiles(root, std::filesystem::path(name).parent_path().string());
    for (const auto& [path, value] : overrides)
    {
        for (const auto& [single, own] : WithoutWildcards(root, path, value))
        {
            SetYaml(root, single, own);
        }
    }
    return root;
}

} // namespace

Study
ParseStudy(const std::string& text,
           const std::string& name,
           const Overrides& overrides,
           StudyScope scope)
{
    const YamlNode root = RootOf(text, name, overrides);
    return ReadRoot(root, name, scope);
}

ConfigError
PlacedInStudy(const ConfigError& error, const Study& study)
{
    static const std::set<std::string> parts =
        {"model", "workload", "cluster", "network", "plan", "events"};
    const std::string& key = error.Where();
    return study.file == nullptr || parts.count(key.substr(0, key.find('.'))) == 0
               ? error
               : Located(error, *study.file);
}

Study
ReadStudy(const std::string& path, const Overrides& overrides, StudyScope scope)
{
    const std::string name = path == "-" ? kStandardInput : path;
    const auto root = std::make_shared<const YamlNode>(
        RootOf(path == "-" ? ReadStandardInput() : ReadTextFile(path), name, overrides));
    Study study = ReadRoot(*root, name, scope);
    if (scope != StudyScope::Scenario) // which another process has written, and nobody reads
    {
        study.file = root;
    }
    return study;
}

} // namespace scaleacross
