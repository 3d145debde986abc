// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/collective-spec.h"

#include "core/base/errors.h"

namespace scaleacross
{

void
CollectiveSpec::Validate() const
{
    if (bytes == Bytes())
    {
        throw ConfigError("collective.bytes", "0 bytes are no collective", "1B or more", "");
    }
}

const std::vector<std::string>&
CollectiveOpWords()
{
    static const std::vector<std::string> words = {"all_reduce",
                                                   "all_gather",
                                                   "reduce_scatter",
                                                   "all_to_all",
                                                   "sendrecv"};
    return words;
}

const std::vector<std::string>&
CollectiveGroupWords()
{
    static const std::vector<std::string> words = {"all", "across", "building", "rail", "node"};
    return words;
}

std::string
ToString(CollectiveOp value)
{
    return CollectiveOpWords().at(static_cast<size_t>(value));
}

std::string
ToString(CollectiveGroup value)
{
    return CollectiveGroupWords().at(static_cast<size_t>(value));
}

double
BusFactor(CollectiveOp op, uint32_t n)
{
    const double others = (n - 1.0) / n;
    switch (op)
    {
    case CollectiveOp::AllReduce:
        return 2 * others;
    case CollectiveOp::AllGather:
    case CollectiveOp::ReduceScatter:
    case CollectiveOp::AllToAll:
        return others;
    case CollectiveOp::SendReceive:
        break;
    }
    return 1;
}

} // namespace scaleacross
