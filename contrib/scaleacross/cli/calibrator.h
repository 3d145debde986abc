// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CALIBRATOR_H
#define SCALEACROSS_CALIBRATOR_H

#include "cli/models/correction-file.h"
#include "cli/show/progress-line.h"
#include "core/engine/engine.h"
#include "core/explore/calibration.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace scaleacross
{

/// An operation, what the analytical engine says of it, and how it is measured by packets.
struct Subject
{
    Operation operation;
    uint32_t number{0};  //!< of OperationsOf()
    double model{0};     //!< s, of the whole operation, without its launch
    double byParts{0};   //!< the same by WholeTime() of its part
    double launch{0};    //!< s
    double part{1};      //!< of its bytes that are sent at once; below 1 half of that is sent, too
    std::string refusal; //!< why it cannot be measured in the budget; "": it can
    double share{0};   //!< of its class's bytes across buildings, by all that one measurement sends
    double packets{0}; //!< of the whole operation, in all the cluster

    /// "dp all_gather ring, cross".
    std::string Name() const;

    /// Packets that one measurement sends.
    double PacketsSent() const;

    /// Seconds of wall clock that one measurement is expected to take.
    double ExpectedSeconds() const;
};

/**
 * What a plan does between servers, each with the largest part that a measurement can send in a
 * tenth of the budget, or in twice what a process takes to start where that is more: all of it, or
 * the WindowOf() up to 1 / 2^k of it. Where the model's own WholeTime() of that part is more than
 * 5 % off, packets' would say nothing: then it is the least part of which that is not so, and that
 * can be sent in nine tenths of the budget. If there is none it is refused. Throws RunError if the
 * plan cannot run.
 */
std::vector<Subject> SubjectsOf(const Scenario& scenario, Duration budget);

/**
 * Measures operations by packets, as Calibration says, several at a time, until the budget is spent
 * or everything is known.
 *
 * A factor is WholeTime() by packets over that by the model, of the same part.
 */
class Calibrator
{
  public:
    struct Setting
    {
        const Scenario& scenario;
        uint64_t seed{1};  //!< the first one
        uint32_t seeds{3}; //!< measurements of each operation, at most
        Duration budget;
        unsigned jobs{1};
    };

    /// @param stop once set, it returns early with what it has
    Calibrator(const Setting& setting,
               std::vector<Subject> subjects,
               const std::atomic<bool>& stop);

    void Run();

    std::vector<MeasuredOperation> Found() const;

    /// What went wrong, each once: "dp all_gather ring, leaf, 2 MiB of 4: timeout ...".
    const std::vector<std::string>& Failures() const
    {
        return m_failures;
    }

    /// That the shortest measurement that says something fits into. Domain: there are subjects.
    Duration LeastBudget() const;

    /// The whole plan by packets in what is left of the budget. Throws RunError if it fails.
    Duration RunWhole() const;

  private:
    void Work();
    void Measure(const Calibration::Trial& trial);
    void Fail(size_t subject, const std::string& why);
    Duration Left() const;

    Setting m_setting;
    std::vector<Subject> m_subjects;
    const std::atomic<bool>& m_stop;
    std::unique_ptr<Engine> m_engine;
    Calibration m_design;
    std::vector<std::string> m_failures;
    std::mutex m_mutex;
    std::exception_ptr m_error;
    uint32_t m_done{0};
    ProgressLine m_line{"calibrate"};
    std::chrono::steady_clock::time_point m_start{std::chrono::steady_clock::now()};
};

} // namespace scaleacross

#endif // SCALEACROSS_CALIBRATOR_H
