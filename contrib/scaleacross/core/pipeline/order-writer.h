// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ORDER_WRITER_H
#define SCALEACROSS_ORDER_WRITER_H

#include "core/pipeline/pipeline-shape.h"

#include <cstdint>
#include <utility>
#include <vector>

namespace scaleacross
{

/**
 * Writes the order of a rank whose chunks each take the microbatches in turn: the n-th forward of a
 * chunk is of microbatch n, likewise its backwards and weight gradients. What would be beyond the
 * last microbatch is left out, so that a schedule may be written for more than there are;
 * overlapped actions have to be of microbatches that there are.
 */
class OrderWriter
{
  public:
    explicit OrderWriter(const PipelineShape& shape)
        : m_microbatches(shape.microbatches),
          m_counts(shape.chunks)
    {
        m_order.reserve(3 * size_t{shape.microbatches} * shape.chunks);
    }

    void Forward(uint32_t chunk)
    {
        Add(Action::Forward, chunk, m_counts[chunk].forward++);
    }

    /// Input and weight gradients together.
    void Backward(uint32_t chunk)
    {
        Add(Action::Backward, chunk, m_counts[chunk].input++);
        m_counts[chunk].weight++;
    }

    void InputGradient(uint32_t chunk)
    {
        Add(Action::InputGradient, chunk, m_counts[chunk].input++);
    }

    void WeightGradient(uint32_t chunk)
    {
        Add(Action::WeightGradient, chunk, m_counts[chunk].weight++);
    }

    /// A forward of one chunk and a backward of another, overlapped.
    void ForwardBackward(uint32_t forward, uint32_t backward)
    {
        PipelineAction action;
        action.action = Action::ForwardBackward;
        action.chunk = static_cast<uint16_t>(forward);
        action.microbatch = static_cast<uint16_t>(m_counts[forward].forward++);
        action.backChunk = static_cast<uint16_t>(backward);
        action.backMicrobatch = static_cast<uint16_t>(m_counts[backward].input++);
        m_counts[backward].weight++;
        m_order.push_back(action);
    }

    uint32_t Forwards(uint32_t chunk) const
    {
        return m_counts[chunk].forward;
    }

    /// Input gradients whose weight gradient is still to come.
    uint32_t Owed(uint32_t chunk) const
    {
        return m_counts[chunk].input - m_counts[chunk].weight;
    }

    std::vector<PipelineAction> Take()
    {
        return std::move(m_order);
    }

  private:
    struct Counts
    {
        uint32_t forward{0};
        uint32_t input{0};
        uint32_t weight{0};
    };

    void Add(Action action, uint32_t chunk, uint32_t microbatch)
    {
        if (microbatch < m_microbatches)
        {
            m_order.push_back(
                {action, static_cast<uint16_t>(chunk), static_cast<uint16_t>(microbatch)});
        }
    }

    uint32_t m_microbatches;
    std::vector<Counts> m_counts;
    std::vector<PipelineAction> m_order;
};

} // namespace scaleacross

#endif // SCALEACROSS_ORDER_WRITER_H
