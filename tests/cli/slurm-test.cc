// SPDX-License-Identifier: GPL-2.0-only

#include "places.h"
#include "program.h"

#include <algorithm>
#include <filesystem>
#include <gmock/gmock.h>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace scaleacross
{

namespace
{

namespace fs = std::filesystem;
using testing::HasSubstr;

/// Scripts in a folder whose name has all that a shell would take apart.
class SlurmTest : public ProgramTest
{
  protected:
    SlurmTest()
        : m_place(folder / "it's $HOME \"x\"; `a`\\ *")
    {
        fs::create_directory(m_place);
        std::ofstream(m_place / "-my study.yaml") << g_smallStudy;
        // Notes what it is asked for, an argument a line.
        Write("sbatch", "#!/bin/sh\nprintf '%s\\n' \"$@\" >>\"$LOG\"\necho '17;cluster'\n");
        fs::permissions(folder / "sbatch", fs::perms::owner_all);
    }

    /// Runs a line of shell in that place, with a false sbatch.
    Call Shell(const std::string& line) const
    {
        std::ofstream(m_place / "line.sh")
            << "program='" + ProgramPath() + "'\nexport PATH=" + folder.string() +
                   ":$PATH LOG=" + folder.string() + "/log\n" + line + "\n";
        const auto before = fs::current_path();
        fs::current_path(m_place);
        const int status = std::system("bash line.sh >../out 2>../err </dev/null");
        fs::current_path(before);
        return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, Read("out"), Read("err")};
    }

    fs::path m_place;
};

TEST_F(SlurmTest, TheScriptRunsShardsAndMergesThem)
{
    EXPECT_EQ(Shell("$program slurm ./-my*.yaml --shards 3 --time UNLIMITED").code, 0);
    const std::string set = "--keep 3 --set cluster.cross.distance=20km";
    const Call made = Shell("$program slurm ./-my*.yaml --shards 3 --cpus 2 --time 1-02:00:00 "
                            "--partition long,short " +
                            set + " -o \"a job's.sh\"");
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.out, HasSubstr("bash 'a job'\\''s.sh' submit\n"));
    // The same without -o.
    EXPECT_EQ(Shell("$program slurm ./-my*.yaml --shards 3 --cpus 2 --time 1-02:00:00 "
                    "--partition long,short " +
                    set + " | cmp - a*.sh")
                  .code,
              0);
    EXPECT_EQ(Shell("grep '^#SBATCH' a*.sh").out,
              "#SBATCH --job-name=scaleacross-small\n"
              "#SBATCH --array=1-3\n"
              "#SBATCH --cpus-per-task=2\n"
              "#SBATCH --time=1-02:00:00\n"
              "#SBATCH --partition=long,short\n");
    // As Slurm runs it: from a copy, elsewhere.
    for (const char* task : {"1", "2", "3"})
    {
        const Call call = Shell("cp a*.sh ../spooled && cd / && SLURM_CPUS_PER_TASK=2 "
                                "SLURM_ARRAY_TASK_ID=" +
                                std::string(task) + " bash \"$OLDPWD/../spooled\"");
        EXPECT_EQ(call.code, 0) << call.err;
        EXPECT_THAT(call.out, HasSubstr("shard " + std::string(task) + "/3, "));
    }
    const Call merged = Shell("cd / && bash \"$OLDPWD\"/a*.sh merge");
    EXPECT_EQ(merged.code, 0) << merged.err;
    EXPECT_THAT(merged.out, HasSubstr("small, 3 shards: whole, search 1\n"));
    const Call whole = Shell("$program explore ./-my*.yaml " + set + " --db whole.db");
    const auto answerOf = [](const std::string& out) {
        const auto table = out.find("\n\n");
        return out.substr(table, out.find("Optimal for") - table);
    };
    EXPECT_THAT(answerOf(merged.out), HasSubstr(answerOf(whole.out)));
}

/// Options by their names, as the help has them.
std::set<std::string>
OptionsOf(const std::string& help)
{
    const std::regex line("  (?:-[a-z],)?(--[a-z0-9-]+)\\b.*");
    std::set<std::string> options;
    std::istringstream lines(help);
    std::smatch found;
    for (std::string text; std::getline(lines, text);)
    {
        if (std::regex_match(text, found, line))
        {
            options.insert(found[1]);
        }
    }
    return options;
}

/// Every option of explore is one of slurm as well, but for those that slurm is there to give, that
/// no shard has, or that say how the answer is printed.
TEST_F(SlurmTest, TakesWhatExploreTakes)
{
    Write("study.yaml", g_smallStudy);
    auto expected = OptionsOf(Run("explore --help").out);
    for (const char* own : {"--jobs", "--shard", "--sweep", "--stop-after", "--json", "--csv"})
    {
        EXPECT_EQ(expected.erase(own), 1U) << own;
    }
    const auto options = OptionsOf(Run("slurm --help").out);
    for (const std::string& option : expected)
    {
        EXPECT_EQ(options.count(option), 1U) << option;
    }
}

/// And passes it on: what says what is searched to all, what says what is answered to the last.
TEST_F(SlurmTest, PassesOnWhatIsSearched)
{
    Write("study.yaml", g_smallStudy);
    const std::string searched = "--seed=3 '--set=network.qps=8' '--set=prices.gpu_hour=2' "
                                 "--time-limit=5s --memory-limit=1GiB --retry-failed --keep=7 "
                                 "--objective=cost --gap=1% --pareto=cost,memory --progress=10s";
    const std::string answered = "--top=4 --verify=0";
    const Call call = Run("slurm study.yaml --shards 2 " + searched + " " + answered);
    ASSERT_EQ(call.code, 0) << call.err;
    EXPECT_THAT(call.out, HasSubstr("\nanswered=(" + answered + ")\n"));
    std::string arguments = "\narguments=(" + searched + ")\n";
    arguments.erase(std::remove(arguments.begin(), arguments.end(), '\''), arguments.end());
    EXPECT_THAT(call.out, HasSubstr(arguments));
    // All that is passed on to an explore is what one takes.
    EXPECT_EQ(Run("explore study.yaml --shard 1/2 " + searched).code, 0);
    EXPECT_THAT(Run("slurm study.yaml --shards 2 --exhaustive").out,
                HasSubstr("\narguments=(--exhaustive)\nanswered=()\n"));
}

TEST_F(SlurmTest, SubmitsBothParts)
{
    EXPECT_EQ(Shell("$program slurm ./-my*.yaml --shards 2 -o ./-a.sh").code, 0);
    const Call call = Shell("bash ./-a.sh submit");
    EXPECT_EQ(call.code, 0) << call.err;
    const std::string log = Read("log");
    const std::string script = (m_place / "-a.sh").string();
    EXPECT_THAT(log, HasSubstr("--parsable\n" + script + "\n"));
    EXPECT_THAT(log,
                HasSubstr("--cpus-per-task=1\n--job-name=scaleacross-small-merge\n"
                          "--dependency=afterok:17\n--wrap\n"));
    // What it wraps is read by sh.
    const Call wrapped = Shell("sh -c \"$(tail -n 1 ../log)\"");
    EXPECT_EQ(wrapped.code, 2);
    EXPECT_THAT(wrapped.err, HasSubstr("small.shard-1-of-2.db: there is no such file"));
    EXPECT_EQ(Shell("bash ./-a.sh").code, 2);
    EXPECT_EQ(Shell("bash ./-a.sh join").code, 2);
}

TEST_F(SlurmTest, RefusesWhatNoClusterTakes)
{
    Write("study.yaml", g_smallStudy);
    for (const auto& [arguments, problem] : std::vector<std::pair<std::string, std::string>>{
             {"study.yaml", "--shards is required"},
             {"study.yaml --shards 0", "--shards"},
             {"study.yaml --shards 10001 --max-array-size 20000", "--shards"},
             // Indices are 1 to the number of shards, and Slurm's are below MaxArraySize, 1001
             // unless slurm.conf says another.
             {"study.yaml --shards 1001",
              "--shards: 1001 shards are an array with the largest index 1001, and Slurm takes "
              "indices below MaxArraySize, here 1001\n  allowed: 1 to 1000\n"},
             {"study.yaml --shards 1001", "--max-array-size"},
             {"study.yaml --shards 16 --max-array-size 16", "allowed: 1 to 15\n"},
             {"study.yaml --shards 2 --max-array-size 4000002", "--max-array-size"},
             {"study.yaml --shards 2 --cpus 0", "--cpus"},
             {"study.yaml --shards 2 --time soon", "--time: 'soon' is none"},
             {"study.yaml --shards 2 --time '1\n#SBATCH -x'", "--time: "},
             {"study.yaml --shards 2 --time 99:99:99", "--time: '99:99:99' has more than 59"},
             {"study.yaml --shards 2 --time 1:60", "--time: '1:60' has more than 59"},
             {"study.yaml --shards 2 --time 1-24", "or 23 hours, behind a larger unit"},
             {"study.yaml --shards 2 --time 1-23:60:00", "--time: "},
             {"study.yaml --shards 2 --objective cost", "--objective cost: study small has no"},
             {"study.yaml --shards 2 --pareto time", "--pareto: "},
             {"study.yaml --shards 2 --gap 1% --exhaustive", "--exhaustive"},
             {"study.yaml --shards 2 --time-limit soon", "--time-limit: "},
             {"study.yaml --shards 2 --partition 'a b'", "--partition: 'a b' is none"},
             {"study.yaml --shards 2 --set plan.tp=no", "plan.tp"},
             {"none.yaml --shards 2", "none.yaml"},
             {"- --shards 2", "STUDY: a study from standard input"}})
    {
        const Call call = Run("slurm " + arguments);
        EXPECT_EQ(call.code, 2) << arguments;
        EXPECT_EQ(call.out, "");
        EXPECT_THAT(call.err, HasSubstr(problem)) << arguments;
    }
    EXPECT_THAT(Run("slurm study.yaml --shards 1000").out, HasSubstr("#SBATCH --array=1-1000\n"));
    EXPECT_THAT(Run("slurm study.yaml --shards 10000 --max-array-size 10001").out,
                HasSubstr("#SBATCH --array=1-10000\n"));
    for (const char* time : {"0", "90", "90:59", "99:59:59", "1-23", "1-23:59", "400-00:00:00"})
    {
        const Call call = Run("slurm study.yaml --shards 2 --time " + std::string(time));
        EXPECT_EQ(call.code, 0) << call.err;
        EXPECT_THAT(call.out, HasSubstr("#SBATCH --time=" + std::string(time) + "\n"));
    }
}

} // namespace

} // namespace scaleacross
