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

} // namespace scaleacross

#endif // SCALEACROSS_STACK_WORDS_H
