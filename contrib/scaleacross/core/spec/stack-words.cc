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

} // namespace scaleacross
