// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/stack-words.h"

#include "core/base/word-registry.h"

namespace scaleacross
{

template <>
const std::vector<const ReceivesFacts*>&
Receives::Rows()
{
    static const auto rows = PointersTo<ReceivesFacts>(
        {{{"early", "before any message comes: none waits for its receive", true}},
         {{"planned",
           "where they stand in a plan of the order without delays; a message waits for its own"},
          true}});
    return rows;
}

template class Word<ReceivesFacts>;

template <>
const std::vector<const GraphScopeFacts*>&
GraphScope::Rows()
{
    static const auto rows = PointersTo<GraphScopeFacts>(
        {{{"none", "nothing: the host issues every kernel", true}},
         {{"layers", "layers, but for what experts do with the tokens that come"}, true},
         {{"iteration", "all of it: nothing waits for the host"}, true, true}});
    return rows;
}

template class Word<GraphScopeFacts>;

} // namespace scaleacross
