// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/collective-spec.h"

#include "core/base/errors.h"
#include "core/base/field-rows.h"

#include <algorithm>

namespace scaleacross
{

namespace
{

/// A row for one of `words`, which are in the order of the values of the member's enumeration.
template <class Member>
Field<CollectiveSpec>
EnumField(const std::string& key,
          const std::string& help,
          Member member,
          const std::vector<std::string>& words)
{
    using Value = std::decay_t<decltype(std::invoke(member, std::declval<CollectiveSpec&>()))>;
    const auto parse = [words](const std::string& text) {
        const auto found = std::find(words.begin(), words.end(), text);
        if (found == words.end())
        {
            const std::string nearest = Nearest(text, words);
            throw ValueError(Quoted(text) + " is not known",
                             AnyOf(words),
                             nearest.empty() ? "" : "did you mean " + nearest + "?");
        }
        return static_cast<Value>(found - words.begin());
    };
    auto field =
        FieldRows<CollectiveSpec>::Make(key, AnyOf(words), help, member, parse, [](Value value) {
            return ToString(value);
        });
    field.words = words;
    return field;
}

/// A row that means something only where tokens go to experts.
Field<CollectiveSpec>
OfTokens(const Field<CollectiveSpec>& field)
{
    return field.Where([](const CollectiveSpec& spec) { return spec.Routes(); });
}

} // namespace

Bytes
TokenSpec::TokenBytes(bool back) const
{
    const bool fp8 =
        precision == TokenPrecision::Fp8 || (precision == TokenPrecision::Usual && !back);
    const uint64_t elements = hidden;
    return fp8 ? Bytes(elements + (elements + 127) / 128 * 4) : Bytes(2 * elements);
}

const FieldTable<CollectiveSpec>&
CollectiveSpec::Fields()
{
    using Row = FieldRows<CollectiveSpec>;
    using C = CollectiveSpec;
    const auto tokens = [](auto member) {
        return [member](auto& spec) -> auto&
        {
            return spec.tokens.*member;
        };
    };
    static const FieldTable<CollectiveSpec> fields = {
        EnumField("op", "what is done", &C::op, CollectiveOpWords()).Always(),
        EnumField("group", "who does it with whom", &C::group, CollectiveGroupWords()).Always(),
        Row::Whole("groups",
                   0,
                   1U << 22,
                   "groups that take part at the same time; 0: all of them",
                   &C::groups),
        Row::Amount("bytes",
                    Bytes(1),
                    Bytes(1ULL << 60),
                    "a group's whole buffer; all-to-all and send-receive: what each member holds",
                    &C::bytes)
            .Always()
            .Where([](const C& spec) { return !spec.Routes(); }),
        OfTokens(Row::Whole("tokens",
                            1,
                            1U << 24,
                            "dispatch and combine: tokens of each member",
                            tokens(&TokenSpec::tokens))),
        OfTokens(Row::Whole("hidden",
                            1,
                            1U << 24,
                            "dispatch and combine: elements of a token",
                            tokens(&TokenSpec::hidden))),
        OfTokens(Row::Whole("top_k",
                            1,
                            1024,
                            "dispatch and combine: experts of a token",
                            tokens(&TokenSpec::topK))),
        OfTokens(Row::Whole("experts",
                            1,
                            1U << 20,
                            "dispatch and combine: experts of all members",
                            tokens(&TokenSpec::experts))),
        OfTokens(Row::Whole("max_nodes",
                            0,
                            1U << 20,
                            "dispatch and combine: servers that a token's experts may be on; 0: "
                            "any number",
                            tokens(&TokenSpec::maxNodes))),
        OfTokens(EnumField("precision",
                           "dispatch and combine: in what tokens travel; usual: fp8 there, bf16 "
                           "back",
                           tokens(&TokenSpec::precision),
                           TokenPrecisionWords())),
    };
    return fields;
}

void
CollectiveSpec::Validate() const
{
    if (bytes == Bytes())
    {
        throw ConfigError("collective.bytes", "0 bytes are no collective", "1B or more", "");
    }
    if (Routes() && tokens.topK > tokens.experts)
    {
        throw ConfigError("collective.top_k",
                          std::to_string(tokens.topK) + " experts of a token, of " +
                              std::to_string(tokens.experts),
                          "1 to " + std::to_string(tokens.experts),
                          "give a smaller top_k, or more experts");
    }
}

const std::vector<std::string>&
CollectiveOpWords()
{
    static const std::vector<std::string> words = {"all_reduce",
                                                   "all_gather",
                                                   "reduce_scatter",
                                                   "all_to_all",
                                                   "sendrecv",
                                                   "dispatch",
                                                   "combine"};
    return words;
}

const std::vector<std::string>&
CollectiveGroupWords()
{
    static const std::vector<std::string> words = {"all", "across", "building", "rail", "node"};
    return words;
}

const std::vector<std::string>&
TokenPrecisionWords()
{
    static const std::vector<std::string> words = {"usual", "fp8", "bf16"};
    return words;
}

std::string
ToString(TokenPrecision value)
{
    return TokenPrecisionWords().at(static_cast<size_t>(value));
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
    case CollectiveOp::Dispatch:
    case CollectiveOp::Combine:
        break;
    }
    return 1;
}

} // namespace scaleacross
