// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/word-registry.h"
#include "core/explore/baselines/baseline.h"

namespace scaleacross
{

/// The baselines there are, each in the file of its name.
const BaselineFacts& ProductionBaseline();
const BaselineFacts& MegatronBaseline();

template <>
const std::vector<const BaselineFacts*>&
Baseline::Rows()
{
    static const std::vector<const BaselineFacts*> rows = {&ProductionBaseline(),
                                                           &MegatronBaseline()};
    return rows;
}

template class Word<BaselineFacts>;

} // namespace scaleacross
