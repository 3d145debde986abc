// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CALIBRATOR_H
#define SCALEACROSS_CALIBRATOR_H

#include "cli/models/correction-file.h"
#include "cli/show/progress-line.h"
#include "core/engine/engine.h"
#include "core/explore/calibration.h"
#include "core/explore/slice-sizes.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/// An operation, what the analytical engine says of it, and how it is measured by packets.
struct Subject
{
    Operation operation;
    uint32_t number{0};        //!< of OperationsOf()
    double model{0};           //!< s, of the whole operation of one stage, without its launch
    double byParts{0};         //!< s, as it is measured, by WholeTime(), without launch
    double aloneByParts{0};    //!< the same of Alone()
    double launch{0};          //!< s
    SliceSubject costs;        //!< of its slices
    SliceSize size;            //!< of the slice that is measured
    std::string refusal;       //!< why it cannot be measured in the budget; "": it can
    std::vector<double> apart; //!< of each measurement, half the logarithm between both factors

    /// "dp all_gather ring, cross".
    std::string Name() const;

    /// The same part of one stage by itself.
    Subject Alone() const;

    /// What is measured, or a part of it.
    SliceSpec Slice(double part) const;

    /// Of its class's bytes across buildings, by all that one measurement sends.
    double Share() const
    {
        return costs.Share(size);
    }

    /// Seconds of wall clock that one measurement is expected to take, before any was.
    double ExpectedSeconds() const;
};

/**
 * What a plan does between servers, each with the best of SizesOf() that a measurement can send in
 * a tenth of the time, or in twice what a process takes to start where that is more. Of a
 * collective with chunks windows are as WindowOf() has them. Where the model's own WholeTime() of a
 * window is more than 5 % off, packets' would say nothing: the best one of one stage is taken, and
 * if that is off, too, the least larger one of one stage that is not. What does not fit into nine
 * tenths of the time is refused. Throws RunError if the plan cannot run.
 */
std::vector<Subject> SubjectsOf(const Scenario& scenario, const MeasuringTime& time);

/// How much of what a class of communication sends across buildings has been measured.
struct ClassCoverage
{
    CommClass comm{CommClass::Data};
    double share{0}; //!< of its bytes there in an iteration, each measured slice once
    uint32_t operations{0};
    uint32_t measured{0};
    /// As fast as packets went, for 5 %; none: not even all operations at their best are that, or
    /// it is reached.
    std::optional<Duration> budget;
    double most{0}; //!< the share with all the time there is
};

constexpr double kCoverageGoal = 0.05;

/**
 * Measures operations by packets, as Calibration says, several at a time, until the budget is spent
 * or everything is known. What is left of it then goes into larger slices: those of EvenSeconds(),
 * as fast as packets went, where they are at least twice as large.
 *
 * A factor is WholeTime() by packets over that by the model, of the same slice. Stages that share
 * links do an operation partly together and partly not, and what the model misses then is not the
 * same: of a slice of all stages it is the geometric mean of that and of the same part of one stage
 * by itself, and the interval is wider by as much as these are from it.
 */
class Calibrator
{
  public:
    struct Setting
    {
        const Scenario& scenario;
        uint64_t seed{1}; //!< the first one
        MeasuringTime time;
    };

    /// @param stop once set, it returns early with what it has
    Calibrator(const Setting& setting,
               std::vector<Subject> subjects,
               const std::atomic<bool>& stop);

    void Run();

    /// By number, of the largest slices that were measured.
    std::vector<MeasuredOperation> Found() const;

    /// What is not measured and why, each once: "dp all_gather ring, leaf, 2 MiB of 4: timeout
    /// ...".
    std::vector<std::string> Failures() const;

    /// Of the classes that send something across buildings.
    std::vector<ClassCoverage> Coverage() const;

    /// That the shortest measurement that says something fits into. Domain: there are subjects.
    Duration LeastBudget() const;

    /// The whole plan by packets in what is left of the budget. Throws RunError if it fails.
    Duration RunWhole() const;

  private:
    void MeasureAll();
    void Work();
    void Measure(const Calibration::Trial& trial);
    void Fail(size_t subject, const std::string& why);
    void Keep();
    bool Grow();
    Duration Left() const;

    Setting m_setting;
    std::vector<Subject> m_all;      //!< that the plan has
    std::vector<Subject> m_subjects; //!< that are being measured
    const std::atomic<bool>& m_stop;
    std::unique_ptr<Engine> m_engine;
    Calibration m_design;
    PacketSpeed m_speed;                                      //!< that is expected
    std::map<uint32_t, MeasuredOperation> m_found;            //!< by number
    std::vector<std::pair<uint32_t, std::string>> m_failures; //!< with numbers
    std::set<uint32_t> m_failed; //!< numbers of what was tried and failed
    std::mutex m_mutex;
    std::exception_ptr m_error;
    uint32_t m_done{0};
    ProgressLine m_line{"calibrate"};
    std::chrono::steady_clock::time_point m_start{std::chrono::steady_clock::now()};
};

} // namespace scaleacross

#endif // SCALEACROSS_CALIBRATOR_H
