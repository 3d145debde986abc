// SPDX-License-Identifier: GPL-2.0-only

// Models of other people, beside our engines.

#include "commands.h"
#include "places.h"

#include <chrono>
#include <cmath>
#include <csignal>
#include <fstream>
#include <gmock/gmock.h>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace scaleacross
{

namespace
{

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class YourModel : public Commands
{
  protected:
    /// A model that says this, as an engine.
    std::string Saying(const std::string& answer) const
    {
        Write("mine.sh", "echo '" + answer + "'\n");
        return "--engine 'mine=command:sh mine.sh'";
    }

    /// What a run prints of a model that does not answer, which is to fail for this reason.
    std::string Failing(const std::string& script, const std::string& reason) const
    {
        Write("mine.sh", script);
        const Call call = Run("run study.yaml --no-store --engine 'command:sh mine.sh' --json");
        EXPECT_EQ(call.code, 1) << script << call.out << call.err;
        const auto json = nlohmann::json::parse(call.out, nullptr, false);
        if (json.is_discarded() || !json.contains("failed"))
        {
            return call.out + call.err;
        }
        EXPECT_EQ(json.at("failed").at("reason"), reason) << script;
        return json.at("failed").at("detail");
    }

    /// Whether a process runs that has written its number into a file.
    bool Runs(const std::string& file) const
    {
        // Who is killed and is nobody's child ends when it is its turn on a processor.
        const auto since = std::chrono::steady_clock::now();
        bool runs = true;
        while (runs && std::chrono::steady_clock::now() - since < std::chrono::seconds(10))
        {
            std::ifstream status("/proc/" + std::to_string(std::stol(Read(file))) + "/stat");
            std::string number;
            std::string name;
            std::string state;
            status >> number >> name >> state;
            runs = !state.empty() && state != "Z";
            std::this_thread::sleep_for(std::chrono::milliseconds(runs ? 5 : 0));
        }
        return runs;
    }
};

double
SecondsSince(std::chrono::steady_clock::time_point start)
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

TEST_F(YourModel, ARunTakesTheTimeThatACommandSays)
{
    const auto ours = RunJson("run study.yaml --no-store");
    const auto json = RunJson("run study.yaml --db a.db " + Saying("{\"iteration_time_s\": 0.5}"));
    EXPECT_EQ(json.at("engine"), "mine");
    EXPECT_EQ(json.at("iteration_time_s"), 0.5);
    EXPECT_TRUE(json.at("seed").is_null());
    // What does not depend on the engine is as ours; MFU is FLOPs over time.
    EXPECT_EQ(json.at("plan"), ours.at("plan"));
    EXPECT_EQ(json.at("memory_bytes_max"), ours.at("memory_bytes_max"));
    EXPECT_EQ(json.at("cross_building_bytes"), ours.at("cross_building_bytes"));
    EXPECT_NEAR(json.at("mfu").get<double>() * 0.5,
                ours.at("mfu").get<double>() * ours.at("iteration_time_s").get<double>(),
                1e-12);
    // What it has not said is not known, rather than 0.
    EXPECT_EQ(
        RunJson("run study.yaml --no-store --engine 'mine=command:cat >/dev/null\nsh mine.sh'")
            .at("iteration_time_s"),
        0.5);
    EXPECT_TRUE(json.at("compute_s").is_null());
    EXPECT_TRUE(json.at("bubble_fraction").is_null());
    EXPECT_TRUE(json.at("classes").at("dp").at("busy_s").is_null());
    EXPECT_EQ(json.at("classes").at("dp").at("bytes"), ours.at("classes").at("dp").at("bytes"));
    EXPECT_EQ(Sql("a.db", "SELECT engine, status, iteration_time_s FROM run"), "mine|ok|0.5");
}

TEST_F(YourModel, PartsOfTheTimeAreTakenOver)
{
    const auto json = RunJson("run study.yaml --no-store " +
                              Saying("{\"iteration_time_s\": 1, \"compute_s\": 0.5, \"bubble_s\": "
                                     "0.25, \"exposed\": {\"dp\": 0.125, \"pp\": 0.0625}}"));
    EXPECT_EQ(json.at("compute_s"), 0.5);
    EXPECT_EQ(json.at("bubble_fraction"), 0.25);
    EXPECT_EQ(json.at("exposed_comm_s"), 0.1875);
    EXPECT_EQ(json.at("classes").at("dp").at("exposed_s"), 0.125);
    EXPECT_EQ(json.at("classes").at("tp").at("exposed_s"), 0);
    const Call text = Run("run study.yaml --no-store --engine 'command:sh mine.sh'");
    EXPECT_THAT(text.out, HasSubstr("command:sh mine.sh engine"));
    EXPECT_THAT(text.out, HasSubstr("compute 500 ms"));
    EXPECT_THAT(Run("run study.yaml --no-store " + Saying("{\"iteration_time_s\": 1}")).out,
                Not(HasSubstr("compute")));
}

TEST_F(YourModel, ACommandIsToldTheTaskList)
{
    Write("mine.sh", "cat >question.json; echo '{\"iteration_time_s\": 1}'");
    const auto run = RunJson("run study.yaml --no-store --engine 'command:sh mine.sh'");
    const auto question = nlohmann::json::parse(Read("question.json"));
    EXPECT_EQ(question.at("format"), 1);
    EXPECT_EQ(question.at("kind"), "iteration");
    EXPECT_EQ(question.at("plan").at("tp"), run.at("plan").at("tp"));
    const auto& tasks = question.at("tasks");
    // Every rank is in one class.
    uint64_t ranks = 0;
    for (const auto& each : tasks.at("classes"))
    {
        ranks += each.at("ranks").get<uint64_t>();
    }
    EXPECT_EQ(ranks, question.at("ranks"));
    // What the pipeline sends, all ranks together, is what the report counts.
    uint64_t bytes = 0;
    for (const auto& message : tasks.at("messages"))
    {
        bytes += message.at("bytes").get<uint64_t>() *
                 tasks.at("classes")[message.at("from").get<size_t>()].at("ranks").get<uint64_t>();
    }
    EXPECT_GT(bytes, 0);
    EXPECT_EQ(bytes, run.at("classes").at("pp").at("bytes"));
    // The scenario is a study that runs as the one that was given.
    Write("stored.json", question.at("scenario").dump());
    EXPECT_EQ(RunJson("run stored.json --no-store").at("iteration_time_s"),
              RunJson("run study.yaml --no-store").at("iteration_time_s"));
}

TEST_F(YourModel, ACollectiveIsAskedForItsTime)
{
    Write("mine.sh", "cat >question.json; echo '{\"time_s\": 0.001}'");
    const auto rows = RunJson("collective study.yaml --op all_gather -b 1M -e 1M --set "
                              "network.collective=ring --engine 'mine=command:sh mine.sh'");
    ASSERT_EQ(rows.size(), 1);
    EXPECT_EQ(rows[0].at("engine"), "mine");
    EXPECT_EQ(rows[0].at("time_us"), 1000);
    const auto question = nlohmann::json::parse(Read("question.json"));
    EXPECT_EQ(question.at("kind"), "collective");
    const auto& asked = question.at("collective");
    EXPECT_EQ(asked.at("operation"), "all_gather");
    EXPECT_EQ(asked.at("bytes"), 1 << 20);
    EXPECT_EQ(asked.at("ranks"), question.at("ranks"));
    EXPECT_EQ(asked.at("servers").get<uint64_t>() * question.at("gpus_per_server").get<uint64_t>(),
              question.at("ranks"));
    EXPECT_EQ(asked.at("scope"), "across");
    // Rings along rails, then within servers, by whatever levels: everybody has received all but
    // its own part, n - 1 times the buffer all together.
    const uint64_t n = asked.at("ranks");
    uint64_t sent = 0;
    for (const auto& phase : question.at("tasks").at("collectives")[0].at("phases"))
    {
        const uint64_t size = phase.at("group").at("size");
        EXPECT_EQ(phase.at("pattern"), "ring_all_gather");
        EXPECT_EQ(phase.at("steps"), size - 1);
        sent += n / size * phase.at("sent_bytes").get<uint64_t>();
    }
    EXPECT_EQ(sent, (n - 1) << 20);

    Write("mine.sh", "echo '{\"iteration_time_s\": 0.001}'");
    const Call wrong = Run("collective study.yaml -b 1M -e 1M --engine 'command:sh mine.sh'");
    EXPECT_EQ(wrong.code, 1);
    EXPECT_THAT(wrong.err, HasSubstr("the answer has 'iteration_time_s'"));
    EXPECT_THAT(wrong.err, HasSubstr("{\"time_s\": seconds}"));
}

TEST_F(YourModel, EveryWrongAnswerHasAName)
{
    const std::vector<std::tuple<std::string, std::string, std::string>> wrong = {
        {"", "answer", "the answer is empty"},
        {"echo 12", "answer", "no JSON object: 12"},
        {"echo '{\"iteration_time_s\": 1} done'", "answer", "no JSON object"},
        {"printf '\\377\\001'", "answer", "no JSON object: ?"},
        {"echo '{}'", "answer", "has no iteration_time_s"},
        {"echo '{\"time_s\": 1}'", "answer", "the answer has 'time_s'"},
        {"echo '{\"iteration_time_s\": 1, \"comptue_s\": 1}'", "answer", "has 'comptue_s'"},
        {"echo '{\"iteration_time_s\": \"1\"}'", "answer", "iteration_time_s is \"1\""},
        {"echo '{\"iteration_time_s\": null}'", "answer", "iteration_time_s is null"},
        {"echo '{\"iteration_time_s\": -1}'", "answer", "iteration_time_s is -1"},
        {"echo '{\"iteration_time_s\": NaN}'", "answer", "no JSON object"},
        {"echo '{\"iteration_time_s\": 1e999}'", "answer", "no JSON object"},
        {"echo '{\"iteration_time_s\": 1e300}'", "answer", "iteration_time_s is 1e+300"},
        {"echo '{\"iteration_time_s\": 0}'", "answer", "less than a picosecond"},
        {"echo '{\"iteration_time_s\": 1, \"compute_s\": -1}'", "answer", "compute_s is -1"},
        {"echo '{\"iteration_time_s\": 1, \"bubble_s\": 2}'", "answer", "2 s together"},
        {"echo '{\"iteration_time_s\": 1, \"exposed\": 1}'", "answer", "exposed is 1"},
        {"echo '{\"iteration_time_s\": 1, \"exposed\": {\"zp\": 1}}'", "answer", "has 'zp'"},
        {"echo '{\"infeasible\": \"\"}'", "answer", "infeasible stands alone"},
        {"echo '{\"infeasible\": \"so\", \"iteration_time_s\": 1}'", "answer", "stands alone"},
        {"yes | head -c 2000000", "answer", "more than 1 MiB"},
        {"yes", "answer", "more than 1 MiB"},
        {"echo one >&2; echo two >&2; exit 3", "exit", "exit code 3"},
        {"nosuchcommand", "exit", "exit code 127"},
        {"kill -SEGV $$", "crash", "signal 11 (SIGSEGV)"},
        {"kill -KILL $PPID; sleep 9", "crash", "was killed by signal 9 (SIGKILL)"},
    };
    for (const auto& [script, reason, said] : wrong)
    {
        const std::string detail = Failing(script, reason);
        EXPECT_THAT(detail, HasSubstr(said)) << script;
        EXPECT_THAT(detail, HasSubstr("expected ")) << script;
    }
    EXPECT_THAT(Failing("echo one >&2; echo two >&2; exit 3", "exit"),
                HasSubstr("its standard error ends: one | two"));
}

TEST_F(YourModel, AModelMayRefuse)
{
    const Call call = Run("run study.yaml --db a.db --json " + Saying("{\"infeasible\": \"no\"}"));
    EXPECT_EQ(call.code, 1);
    EXPECT_EQ(nlohmann::json::parse(call.out).at("infeasible"),
              nlohmann::json({{"reason", "refused"}, {"detail", "no"}}));
    EXPECT_EQ(Sql("a.db", "SELECT status, reason FROM run"), "infeasible|refused");
    // What cannot run on any engine is not asked about.
    Write("mine.sh", "touch asked");
    Run("run study.yaml --no-store --engine 'command:sh mine.sh' --set plan.crossing=pp --set "
        "plan.pp=1");
    EXPECT_THAT(Files(), Not(testing::Contains("asked")));
}

/// Nobody reads a question that is larger than a pipe, and whoever is not done in time is killed
/// with all that it has started, and so is what it leaves behind.
TEST_F(YourModel, NothingHangs)
{
    Write("mine.sh", "exec <&-; echo '{\"iteration_time_s\": 1}'");
    const std::string many = "run study.yaml --no-store --set plan.microbatch=1 --set "
                             "workload.global_batch=4096 --engine 'command:sh mine.sh'";
    EXPECT_EQ(RunJson(many).at("iteration_time_s"), 1);
    Write("size.sh", "wc -c >size; echo '{\"iteration_time_s\": 1}'");
    RunJson(many.substr(0, many.rfind("mine.sh")) + "size.sh'");
    EXPECT_GT(std::stol(Read("size")), 2 * 65536) << "more than a pipe holds";

    const auto start = std::chrono::steady_clock::now();
    Write("mine.sh", "sleep 300 & echo $! >sleeper; wait");
    const Call slow =
        Run("run study.yaml --no-store --engine 'command:sh mine.sh' --json --time-limit 1s");
    EXPECT_EQ(slow.code, 1);
    EXPECT_EQ(nlohmann::json::parse(slow.out).at("failed").at("reason"), "timeout");
    EXPECT_FALSE(Runs("sleeper"));

    Write("mine.sh", "sleep 300 & echo $! >sleeper; echo '{\"iteration_time_s\": 1}'");
    RunJson("run study.yaml --no-store --engine 'command:sh mine.sh'");
    EXPECT_FALSE(Runs("sleeper"));

    // Output that is closed is no end.
    Write("mine.sh", "echo '{\"iteration_time_s\": 2}'; exec >&- 2>&-; sleep 0.2");
    EXPECT_EQ(
        RunJson("run study.yaml --no-store --engine 'command:sh mine.sh'").at("iteration_time_s"),
        2);
    EXPECT_LT(SecondsSince(start), 60);
}

/// A signal ends a command with the program, and nothing is stored.
TEST_F(YourModel, ASignalEndsTheCommandToo)
{
    Write("mine.sh", "sleep 300 & echo $! >sleeper; wait");
    for (const std::string command : {"run study.yaml --db a.db", "collective study.yaml"})
    {
        std::filesystem::remove(folder / "sleeper");
        const int status =
            std::system(("cd '" + folder.string() + "' && { '" + ProgramPath() + "' " + command +
                         " --engine 'command:sh mine.sh' </dev/null >/dev/null 2>&1 & i=0; "
                         "until [ -s sleeper ] || [ $i = 300 ]; do sleep 0.1; i=$((i+1)); done; "
                         "kill -TERM $!; wait $!; }")
                            .c_str());
        EXPECT_EQ(WEXITSTATUS(status), 130) << command;
        EXPECT_FALSE(Runs("sleeper")) << command;
    }
    EXPECT_THAT(Files(), ElementsAre("mine.sh", "sleeper", "study.yaml"));
}

TEST_F(YourModel, ComparesBesideOurs)
{
    const double ours = RunJson("run study.yaml --no-store").at("iteration_time_s");
    const std::string compare = "compare study.yaml --set search={} --engines analytical --db a.db "
                                "--engine 'mine=command:sh mine.sh'";
    Write("mine.sh", "echo asked >>asked; echo '{\"iteration_time_s\": 1}'");
    const auto json = RunJson(compare).at("rows");
    ASSERT_EQ(json.size(), 2);
    EXPECT_EQ(json[0].at("engine"), "mine");
    EXPECT_EQ(json[0].at("iteration_time_s"), 1);
    EXPECT_NEAR(json[0].at("relative_error").get<double>(), 1 / ours - 1, 1e-9 / ours);
    EXPECT_TRUE(json[0].at("classes").at("dp").at("busy_s").is_null());
    EXPECT_TRUE(json[0].at("reason").is_null());
    EXPECT_EQ(json[1].at("relative_error"), 0);
    EXPECT_EQ(Read("asked"), "asked\n");
    const Call text = Run(compare);
    EXPECT_THAT(text.out, HasSubstr("mine"));
    EXPECT_THAT(text.out, Not(HasSubstr("Differences")));

    // A model that stands last is still held against ours.
    const auto last = RunJson("compare study.yaml --set search={} --db a.db --engines "
                              "'analytical,mine=command:sh mine.sh'")
                          .at("rows");
    EXPECT_EQ(last[0].at("relative_error"), 0);
    EXPECT_EQ(last[1].at("relative_error"), json[0].at("relative_error"));
    EXPECT_EQ(Read("asked"), "asked\n") << "what is stored is not asked again";

    // Another model by the same name is another model.
    Write("mine.sh", "echo asked >>asked; echo '{\"iteration_time_s\": 2}'");
    EXPECT_EQ(RunJson(compare).at("rows")[0].at("iteration_time_s"), 2);
    EXPECT_EQ(Read("asked"), "asked\nasked\n");
    EXPECT_EQ(Sql("a.db",
                  "SELECT count(*), count(DISTINCT fingerprint) FROM run WHERE engine = "
                  "'mine'"),
              "2|2");
    // So is another text, though the file is the same.
    RunJson("compare study.yaml --set search={} --engines analytical --db a.db --engine "
            "'mine=command:sh  mine.sh'");
    EXPECT_EQ(Read("asked"), "asked\nasked\nasked\n");
}

TEST_F(YourModel, ComparesAgainstPackets)
{
    Saying("{\"iteration_time_s\": 1}");
    const auto json =
        RunJson("compare study.yaml --set search={} --engine 'command:sh mine.sh' --db a.db "
                "--engines analytical,packet")
            .at("rows");
    ASSERT_EQ(json.size(), 3);
    EXPECT_EQ(json[0].at("engine"), "command:sh mine.sh");
    EXPECT_EQ(json[2].at("engine"), "packet");
    const double packet = json[2].at("iteration_time_s");
    EXPECT_NEAR(json[0].at("relative_error").get<double>(), 1 / packet - 1, 1e-9 / packet);
}

/// One that fails is a row like any other, and does not end the comparison.
TEST_F(YourModel, FailuresStandInTheComparison)
{
    Write("mine.sh", "echo 'no licence' >&2; exit 1");
    const auto json = RunJson("compare study.yaml --set search={} --engines analytical --db a.db "
                              "--engine 'mine=command:sh mine.sh'")
                          .at("rows");
    EXPECT_EQ(json[0].at("failed").at("reason"), "exit");
    EXPECT_THAT(json[0].at("failed").at("detail"), HasSubstr("no licence"));
    EXPECT_EQ(json[1].at("relative_error"), 0);
    EXPECT_EQ(Sql("a.db", "SELECT status, reason FROM run WHERE engine = 'mine'"), "failed|exit");
}

TEST_F(YourModel, ExploreChecksItsBestPlans)
{
    Saying("{\"iteration_time_s\": 1}");
    const auto json = RunJson("explore study.yaml --db a.db --set "
                              "'engines=[analytical,\"mine=command:sh mine.sh\"]'");
    ASSERT_GE(json.at("checks").size(), 2);
    EXPECT_EQ(json.at("checks")[1].at("engine"), "mine");
    EXPECT_EQ(json.at("checks")[1].at("iteration_time_s"), 1);
    EXPECT_EQ(json.at("checks")[0].at("relative_error"), 0);
    const auto shown = RunJson("show a.db");
    EXPECT_EQ(shown.at("searches")[0].at("checks")[0].at("engine"), "mine");
    // It is not what a search ranks by.
    const Call first = Run("explore study.yaml --set 'engines=[command:sh mine.sh]' --db b.db");
    EXPECT_EQ(first.code, 2);
    EXPECT_THAT(first.err, HasSubstr("engines.0"));
    EXPECT_THAT(first.err, HasSubstr("write it behind another one"));
    EXPECT_THAT(Files(), Not(testing::Contains("b.db")));
}

TEST_F(YourModel, WrongNamesAreBadInput)
{
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"run study.yaml --engine command:", "nothing behind the colon"},
        {"run study.yaml --engine 'command:  '", "nothing behind the colon"},
        {"run study.yaml --engine commando:x", "command:COMMAND"},
        {"run study.yaml --engine 'packet=command:true'", "is an engine of this program"},
        {"run study.yaml --engine 'a b=command:true'", "is no name for an engine"},
        {"run study.yaml --engine '=command:true'", "is no name for an engine"},
        {"run study.yaml --engine 'command:true\ntrue'", "mine= in front"},
        {"run study.yaml --engine predictions:none.csv", "none.csv"},
        {"collective study.yaml --engine flows", "did you mean flow?"},
        {"compare study.yaml --engine a=command:true --engine a=command:false", "given twice"},
        {"compare study.yaml --engine flow", "--engine: 'flow' is compared in any case"},
        {"compare study.yaml --engines flow,flow", "--engines: 'flow' is given twice"},
        {"explore study.yaml --set 'engines=[analytical,command:]'", "engines.1"},
        {"explore study.yaml --set engines=[flows]", "did you mean flow?"},
        {"explore study.yaml --set engines=[analyticl]", "did you mean analytical?"},
    };
    for (const auto& [command, said] : wrong)
    {
        const Call call = Run(command);
        EXPECT_EQ(call.code, 2) << command;
        EXPECT_THAT(call.err, HasSubstr(said)) << command;
    }
    EXPECT_THAT(Files(), ElementsAre("study.yaml"));
}

TEST_F(YourModel, PredictionsOfCollectives)
{
    Write("a.csv",
          "# made elsewhere\n"
          "operation,bytes,ranks,time_s\n"
          "all_reduce,1MiB,,0.002\n"
          "all_reduce,2097152,3,5\n"
          "all_gather,,,0.004\n");
    const std::string call = "collective study.yaml --engine predictions:a.csv ";
    EXPECT_EQ(RunJson(call + "-b 1M -e 1M")[0].at("time_us"), 2000);
    EXPECT_EQ(RunJson(call + "--op all_gather -b 8M -e 8M")[0].at("time_us"), 4000);
    const Call missing = Run(call + "-b 2M -e 2M");
    EXPECT_EQ(missing.code, 1);
    EXPECT_THAT(missing.err,
                HasSubstr("a.csv has no prediction for this case; needed is a row with "
                          "operation=all_reduce, bytes=2097152, ranks="));
    const Call plan = Run("run study.yaml --no-store --engine predictions:a.csv");
    EXPECT_EQ(plan.code, 1);
    EXPECT_THAT(plan.out, HasSubstr("needed is a row with label=TP4 "));
}

TEST_F(YourModel, PredictionsOfPlans)
{
    const std::string label =
        RunJson("run study.yaml --no-store").at("plan").at("label").get<std::string>();
    Write("labels.csv", "label,time_s\n\"" + label + "\",0.25\n");
    EXPECT_EQ(
        RunJson("run study.yaml --no-store --engine predictions:labels.csv").at("iteration_time_s"),
        0.25);
    Write("fields.csv", "tp,plan.pp,network.qps,time_s\n4,2,16,0.5\n4,2,,0.75\n2,,,1\n");
    const std::string run = "run study.yaml --db a.db --engine mine=predictions:fields.csv ";
    const Call twice = Run(run);
    EXPECT_EQ(twice.code, 1);
    EXPECT_THAT(twice.out, HasSubstr("fields.csv:2 and fields.csv:3 are both predictions"));
    EXPECT_EQ(RunJson(run + "--set network.qps=8").at("iteration_time_s"), 0.75);
    const Call missing = Run(run + "--set plan.tp=1");
    EXPECT_EQ(missing.code, 1);
    EXPECT_THAT(missing.out, HasSubstr("needed is a row with tp=1, plan.pp=2, network.qps=16, "));
    // A failure answers no more once the table has the row.
    Write("fields.csv", "tp,time_s\n1,2\n");
    EXPECT_EQ(RunJson(run + "--set plan.tp=1").at("iteration_time_s"), 2);
    EXPECT_EQ(Sql("a.db", "SELECT count(DISTINCT fingerprint) FROM run"), "2");
}

TEST_F(YourModel, WrongTablesAreBadInput)
{
    const std::vector<std::pair<std::string, std::string>> wrong = {
        {"operation,bytes\nall_reduce,1\n", "there is no column time_s"},
        {"operation,time_s\nall_reduce,1\n", "named by operation and bytes"},
        {"time_s\n1\n", "no column names what a row is the time of"},
        {"operation,bytes,tp,time_s\nall_reduce,1,2,1\n", "others plans"},
        {"operation,bytes,color,time_s\nall_reduce,1,2,1\n", "there is no column 'color'"},
        {"operation,bytes,time_s\nall_reduc,1,1\n", "a.csv:2 operation"},
        {"operation,bytes,time_s\nall_reduce,much,1\n", "a.csv:2 bytes"},
        {"operation,bytes,time_s\nall_reduce,1,-1\n", "a.csv:2 time_s"},
        {"operation,bytes,time_s\nall_reduce,1,nan\n", "a.csv:2 time_s"},
        {"operation,bytes,time_s\nall_reduce,1\n", "the line has 2 cells"},
        {"tp,time_s\n0,1\n", "a.csv:2 tp"},
        {"label,time_s\n\"TP4,1\n", "does not end with its quotation mark"},
        {"label,time_s\n", "there are no rows"},
    };
    for (const auto& [text, said] : wrong)
    {
        Write("a.csv", text);
        const Call call = Run("run study.yaml --engine predictions:a.csv --no-store");
        EXPECT_EQ(call.code, 2) << text << call.out;
        EXPECT_THAT(call.err, HasSubstr(said)) << text;
    }
}

TEST_F(YourModel, EnginesAreListed)
{
    const auto json = RunJson("list engines");
    std::vector<std::string> words;
    for (const auto& row : json)
    {
        words.push_back(row.at("engine"));
        EXPECT_GT(row.at("meaning").get<std::string>().size(), 10);
    }
    EXPECT_THAT(words, testing::IsSupersetOf({"analytical", "packet", "command:", "predictions:"}));
}

} // namespace

} // namespace scaleacross
