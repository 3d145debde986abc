// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_GRAPH_SCOPE_H
#define SCALEACROSS_GRAPH_SCOPE_H

#include "core/base/word.h"

#include <vector>

namespace scaleacross
{

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

#endif // SCALEACROSS_GRAPH_SCOPE_H
