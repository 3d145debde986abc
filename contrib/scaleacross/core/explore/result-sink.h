// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RESULT_SINK_H
#define SCALEACROSS_RESULT_SINK_H

#include "core/explore/leaderboard.h"
#include "core/explore/outcome.h"

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>

namespace scaleacross
{

/// How often a reason occurred, with the first case of it (least plan number).
struct Count
{
    uint64_t count{0};
    std::string example;
};

/// Two reasons in Frontier::rejected say nothing against a plan: it means the same as another one;
/// it cannot be among what is kept, whether it can run or not.
constexpr const char* kDuplicate = "duplicate";
constexpr const char* kRuledOut = "bound";

/**
 * How far a search has come: everything that concerns the plans at its positions below `next`.
 *
 * Plans from `next` on may have been evaluated too (several are at any time); they are found again
 * by ResultSink::Knows().
 */
struct Frontier
{
    uint64_t next{0};                      //!< all positions below have been dealt with
    uint64_t evaluated{0};                 //!< of them, those that ran
    std::map<std::string, Count> rejected; //!< by reason
    std::map<std::string, Count> failed;   //!< by reason
    /// The least admissible bound of the plans that may run; Max() if there is none.
    Duration bound{Duration::Max()};
    /// The least value, by the objective, that a plan can have which was ruled out; infinite if
    /// none was.
    double left{std::numeric_limits<double>::infinity()};
    /// Plans that had run when the best was proven to be that; none where it is not, or where that
    /// was not seen (a search of shards).
    std::optional<uint64_t> provenAfter;

    /// Distinct plans about which is decided: all of them once a search is done. That is less than
    /// `next` without duplicates in a block of plans that was interrupted.
    uint64_t Decided() const
    {
        uint64_t sum = evaluated;
        for (const auto* reasons : {&rejected, &failed})
        {
            for (const auto& [reason, count] : *reasons)
            {
                sum += reason == kDuplicate ? 0 : count.count;
            }
        }
        return sum;
    }

    /// Positions about which is decided, duplicates included.
    uint64_t DecidedPositions() const
    {
        return Decided() + CountOf(kDuplicate);
    }

    /// Plans that need not run, see kRuledOut.
    uint64_t RuledOut() const
    {
        return CountOf(kRuledOut);
    }

    /// A reason of those that stand against plans, with its count.
    struct Refusal
    {
        std::string reason;
        Count count;
    };

    /// Memory, the last check, if any plan came so far; else the reason for which most were refused
    /// or failed. None where nothing is said against any plan.
    std::optional<Refusal> MainRefusal() const;

    /// Of each plan it is known that no other than the kept ones can be better, by more than the
    /// gap that was asked for (Goals): all were run or ruled out. Domain: of a whole space.
    bool IsProof() const
    {
        return evaluated > 0 && failed.empty();
    }

  private:
    uint64_t CountOf(const char* reason) const
    {
        const auto entry = rejected.find(reason);
        return entry == rejected.end() ? 0 : entry->second.count;
    }
};

/**
 * Where a search keeps its results, and finds those of an earlier run of it.
 *
 * All calls come from one thread except Knows().
 */
class ResultSink
{
  public:
    virtual ~ResultSink() = default;

    /// The state last committed for this search; a fresh one if there is none.
    virtual Frontier Resume() = 0;

    /// Calls `visit(position, report)` for every plan below a position whose report is kept; it
    /// says whether there is a plan at the position.
    virtual void Restore(uint64_t below,
                         const std::function<bool(uint64_t, const RunReport&)>& visit) = 0;

    /// Whether an evaluation of this plan is stored. May be called from any thread at any time.
    virtual bool Knows(const Plan& plan) const = 0;

    /// The stored evaluation of a plan; none if somebody else who works on the same results has
    /// removed it. Domain: Knows(plan).
    virtual std::optional<Evaluation> Recall(const Plan& plan) = 0;

    /// A new evaluation, made just now, which others who work on the same results may need. It need
    /// not be durable before Commit().
    virtual void Add(const Plan& plan, const Evaluation& evaluation) = 0;

    /// An evaluation that was added or recalled is one of this search: Restore() has it. What has
    /// run in vain is none.
    virtual void CountIn(uint64_t position, const Plan& plan, const Evaluation& evaluation) = 0;

    /// Makes everything added so far and the frontier durable, in one step.
    virtual void Commit(const Frontier& frontier) = 0;

    /// The search is complete: keeps what the leaderboard keeps, and the rest as counts.
    virtual void Finish(const Frontier& frontier, const Leaderboard& board) = 0;
};

} // namespace scaleacross

#endif // SCALEACROSS_RESULT_SINK_H
