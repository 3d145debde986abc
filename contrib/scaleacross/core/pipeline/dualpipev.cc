// SPDX-License-Identifier: GPL-2.0-only

#include "core/pipeline/order-writer.h"
#include "core/pipeline/pipeline-schedule.h"

#include <deque>
#include <string>

namespace scaleacross
{

namespace
{

ScheduleFacts
KnownFacts()
{
    ScheduleFacts facts;
    facts.name = "dualpipev";
    facts.help = "DualPipe on a V: forwards and backwards of two chunks overlapped with each other";
    facts.source = "DeepSeek-V3, arXiv:2412.19437; order as torch.distributed.pipelining";
    facts.chunks = {2, 2, 1};
    facts.placement = Placement::Vee;
    facts.overlapsPasses = true;
    facts.splitsBackward = true;
    return facts;
}

/// The writer with the one queue of weight gradients that DualPipeV keeps for both chunks.
class DualWriter
{
  public:
    explicit DualWriter(const PipelineShape& shape)
        : m_writer(shape)
    {
    }

    void Forward(uint32_t chunk)
    {
        m_writer.Forward(chunk);
    }

    void Backward(uint32_t chunk, bool split)
    {
        if (split)
        {
            m_writer.InputGradient(chunk);
            m_owed.push_back(chunk);
        }
        else
        {
            m_writer.Backward(chunk);
        }
    }

    void WeightGradient()
    {
        m_writer.WeightGradient(m_owed.front());
        m_owed.pop_front();
    }

    void ForwardBackward(uint32_t forward, uint32_t backward)
    {
        m_writer.ForwardBackward(forward, backward);
    }

    std::vector<PipelineAction> Take()
    {
        return m_writer.Take();
    }

  private:
    OrderWriter m_writer;
    std::deque<uint32_t> m_owed;
};

/// Chunk 0 goes down the ranks and chunk 1 back up. In the steady state each rank runs a forward of
/// one together with a backward of the other, so that what one sends the other hides. Every rank
/// holds p + 1/2 microbatches at its peak: 2p + 1 of one chunk each.
class DualPipeV : public PipelineSchedule
{
  public:
    DualPipeV()
        : PipelineSchedule(KnownFacts())
    {
    }

  private:
    std::optional<Infeasible> DoCheck(const PipelineShape& shape) const override
    {
        if (shape.microbatches < 2 * shape.ranks)
        {
            return Infeasible{"schedule",
                              "dualpipev needs 2 pp = " + std::to_string(2 * shape.ranks) +
                                  " microbatches or more, there are " +
                                  std::to_string(shape.microbatches) +
                                  ": take a smaller plan.microbatch, plan.pp or plan.dp"};
        }
        return std::nullopt;
    }

    std::vector<PipelineAction> DoOrder(const PipelineShape& shape, uint32_t r) const override
    {
        DualWriter writer(shape);
        const uint32_t p = shape.ranks;
        const uint32_t after = p - 1 - r;
        for (uint32_t i = 0; i < 2 * after; i++)
        {
            writer.Forward(0);
        }
        for (uint32_t i = 0; i < r + 1; i++)
        {
            writer.Forward(0);
            writer.Forward(1);
        }
        for (uint32_t i = 0; i < after; i++)
        {
            writer.Backward(1, true);
            writer.WeightGradient();
            writer.Forward(1);
        }
        for (uint32_t i = 0; i < shape.microbatches - 2 * p + r + 1; i++)
        {
            if (i == 0 && after == 0)
            {
                // The turn has nothing to hide yet, and the rank before waits for the gradient.
                writer.Forward(0);
                writer.Backward(1, false);
            }
            else
            {
                writer.ForwardBackward(0, 1);
            }
            writer.ForwardBackward(1, 0);
        }
        for (uint32_t i = 0; i < after; i++)
        {
            writer.Backward(1, false);
            writer.ForwardBackward(1, 0);
        }
        // The second half of the last backwards is split; their weight gradients fill the drain.
        for (uint32_t k = 0; k < 2 * (r + 1); k++)
        {
            writer.Backward(k % 2 == 0 ? 1 : 0, k >= r + 1);
        }
        for (uint32_t i = 0; i < after; i++)
        {
            writer.WeightGradient();
            writer.Backward(0, true);
        }
        for (uint32_t i = 0; i < r + 1; i++)
        {
            writer.WeightGradient();
        }
        return writer.Take();
    }
};

} // namespace

const PipelineSchedule&
DualPipeVSchedule()
{
    static const DualPipeV schedule;
    return schedule;
}

} // namespace scaleacross
