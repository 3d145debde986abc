// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/graph-scope.h"

#include "core/base/word-registry.h"

namespace scaleacross
{

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
