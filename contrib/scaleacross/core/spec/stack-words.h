// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STACK_WORDS_H
#define SCALEACROSS_STACK_WORDS_H

#include "core/base/word.h"

#include <vector>

/// What a study can say in a word of training software.
namespace scaleacross
{

/// When ranks post the receives of pipeline messages. A message leaves when it is posted and its
/// sender knows that its receive is.
struct ReceivesFacts : WordFacts
{
    /// Each where it stands in the order of a plan (PlannedReceives()). Else all are there before
    /// any message comes.
    bool planned{false};
};

/// When ranks post the receives of pipeline messages.
using Receives = Word<ReceivesFacts>;

template <>
const std::vector<const ReceivesFacts*>& Receives::Rows();
extern template class Word<ReceivesFacts>;

/// What of an iteration is replayed from recorded graphs (CUDA graphs), so that the host issues it
/// in no time.
struct GraphScopeFacts : WordFacts
{
    /// What has the same shapes in every pass: all of a dense layer, and of a MoE layer all but
    /// what comes to its experts.
    bool sameShapes{false};
    bool experts{false}; //!< and these: nobody asks how many tokens come
};

/// What of an iteration is replayed from recorded graphs.
using GraphScope = Word<GraphScopeFacts>;

template <>
const std::vector<const GraphScopeFacts*>& GraphScope::Rows();
extern template class Word<GraphScopeFacts>;

} // namespace scaleacross

#endif // SCALEACROSS_STACK_WORDS_H
