// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NO_SINK_H
#define SCALEACROSS_NO_SINK_H

#include "core/explore/result-sink.h"

namespace scaleacross
{

/// Keeps nothing: the board of the search is the answer.
class NoSink : public ResultSink
{
  public:
    Frontier Resume() override
    {
        return {};
    }

    void Restore(uint64_t /* below */,
                 const std::function<bool(uint64_t, const RunReport&)>& /* visit */) override
    {
    }

    bool Knows(const Plan& /* plan */) const override
    {
        return false;
    }

    std::optional<Evaluation> Recall(const Plan& plan) override
    {
        SCALEACROSS_INVARIANT(false, "nothing is known: " + CanonicalText(plan));
        return std::nullopt;
    }

    void Add(const Plan& /* plan */, const Evaluation& /* evaluation */) override
    {
    }

    void CountIn(uint64_t /* position */,
                 const Plan& /* plan */,
                 const Evaluation& /* evaluation */) override
    {
    }

    void Commit(const Frontier& /* frontier */) override
    {
    }

    void Finish(const Frontier& /* frontier */, const Leaderboard& /* board */) override
    {
    }
};

} // namespace scaleacross

#endif // SCALEACROSS_NO_SINK_H
