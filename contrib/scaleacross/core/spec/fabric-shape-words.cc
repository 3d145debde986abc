// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/fabric-shape-words.h"

#include "core/base/word-registry.h"

namespace scaleacross
{

template <>
const std::vector<const ShapeFacts*>&
Shape::Rows()
{
    static const auto rows = PointersTo<ShapeFacts>(
        {{{"clos",
           "leaves below spines, in zones below aggregation switches if there are any",
           true},
          true,
          false,
          UINT32_MAX},
         {{"full-mesh",
           "a link between every two leaves, and detours over a third one (Valiant); spines lead "
           "to other buildings"},
          false,
          true,
          1024}});
    return rows;
}

template class Word<ShapeFacts>;

} // namespace scaleacross
