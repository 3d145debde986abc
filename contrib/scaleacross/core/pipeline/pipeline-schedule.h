// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PIPELINE_SCHEDULE_H
#define SCALEACROSS_PIPELINE_SCHEDULE_H

#include "core/base/errors.h"
#include "core/pipeline/pipeline-shape.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// Which rank holds which part of a model of p v virtual stages.
enum class Placement : uint8_t
{
    Loop, //!< chunk c of rank r is position c p + r: every chunk begins at rank 0
    Vee   //!< odd chunks run back, chunk c of rank r is position c p + p-1-r: no transfer at a turn
};

/// How many chunks per rank a schedule takes.
struct ChunkRule
{
    uint32_t least{1};
    uint32_t most{1};
    uint32_t step{1};
};

/// Chunks without an upper limit.
constexpr uint32_t kAnyChunks = UINT32_MAX;

/// What is known of a schedule whatever the shape.
struct ScheduleFacts
{
    std::string name;   //!< as a study writes it
    std::string help;   //!< one line for `scaleacross list schedules`
    std::string source; //!< paper or program that defines the order
    ChunkRule chunks;
    Placement placement{Placement::Loop};
    bool splitsBackward{false}; //!< in any shape some input and weight gradients are actions
    bool inRounds{false};       //!< PipelineShape::round counts
    bool limitsHeld{false};     //!< PipelineShape::inFlight counts, with several ranks
    bool usesTimes{false};      //!< PipelineShape::times counts, with several ranks
    bool overlapsPasses{false}; //!< some forwards run together with backwards (ForwardBackward)
    bool usual{false};          //!< what a plan has that says nothing
};

/// Actions of every rank, in order.
using PipelineOrders = std::vector<std::vector<PipelineAction>>;

/**
 * A pipeline schedule: the order in which the ranks of a pipeline run their passes.
 *
 * To add one, write a class with its facts and DoOrder(), in a file of its own, and name it in
 * schedule-registry.cc: study files, `list`, the search, memory,
 * all engines and the tests on random shapes then know it. What has to
 * hold of an order: every chunk of the rank runs each microbatch forward once and then backward
 * once, backward being one Backward, an InputGradient with a later WeightGradient (where the facts
 * say that it may be split), or part of a ForwardBackward; and ranks that run their orders,
 * awaiting activations and gradients from the neighbouring positions, never wait in a circle.
 *
 * Bubbles and waits are no part of a schedule: they come out of running it.
 */
class PipelineSchedule
{
  public:
    explicit PipelineSchedule(ScheduleFacts facts);
    virtual ~PipelineSchedule();
    PipelineSchedule(const PipelineSchedule&) = delete;
    PipelineSchedule& operator=(const PipelineSchedule&) = delete;

    const ScheduleFacts& Facts() const
    {
        return m_facts;
    }

    const std::string& Name() const
    {
        return m_facts.name;
    }

    const std::string& Help() const
    {
        return m_facts.help;
    }

    bool IsUsual() const
    {
        return m_facts.usual;
    }

    /// "1", "2 or more", "2, 4, 6 ...".
    std::string ChunksText() const;

    /// Why this schedule has no order for a shape, with reason "schedule", or nothing.
    std::optional<Infeasible> Check(const PipelineShape& shape) const;

    /// The actions of rank r. Domain: Check(shape) has nothing to say, r < shape.ranks.
    std::vector<PipelineAction> Order(const PipelineShape& shape, uint32_t r) const;

    /// Those of all ranks.
    PipelineOrders Orders(const PipelineShape& shape) const;

    /// Idle time of a rank in one iteration between its own first and last action, where all ranks
    /// are alike and transfers free; `times` are of one microbatch on a rank, all chunks together.
    /// At least 0. By closed form where there is one, else by walking the orders.
    Duration Bubble(const PipelineShape& shape, const PassTimes& times) const;

  private:
    /// Beyond what the facts rule out.
    virtual std::optional<Infeasible> DoCheck(const PipelineShape& shape) const;
    virtual std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t r) const = 0;
    /// For schedules that are made for all ranks at once.
    virtual PipelineOrders DoOrders(const PipelineShape& shape) const;
    virtual Duration DoBubble(const PipelineShape& shape, const PassTimes& times) const;

    ScheduleFacts m_facts;
};

} // namespace scaleacross

#endif // SCALEACROSS_PIPELINE_SCHEDULE_H
