// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_SPEC_H
#define SCALEACROSS_COLLECTIVE_SPEC_H

#include "core/base/field.h"
#include "core/base/units.h"
#include "core/program/collective-op.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// Which ranks do a collective with each other; all groups of a family are of the same size.
enum class CollectiveGroup : uint8_t
{
    All,      //!< one group of all ranks
    Across,   //!< equal positions in every building: data parallelism that crosses buildings
    Building, //!< the ranks of one building
    Rail,     //!< equal positions in every server, of all buildings
    Node      //!< the ranks of one server
};

/// In what tokens travel.
enum class TokenPrecision : uint8_t
{
    Usual, //!< FP8 to the experts, BF16 back
    Fp8,   //!< a byte for each element, and a scale of 4 bytes for each 128 of them
    Bf16
};

/// What members send to experts, with the values of DeepSeek-V3 (arXiv:2412.19437) in training.
struct TokenSpec
{
    uint32_t tokens{4096}; //!< of each member
    uint32_t hidden{7168};
    uint32_t topK{8};      //!< experts of a token
    uint32_t experts{256}; //!< of all members
    /// Servers that a token's experts may be on, those of the best ones; 0: any number.
    uint32_t maxNodes{4};
    TokenPrecision precision{TokenPrecision::Usual};

    /// Of a token on its way there or back, without headers.
    Bytes TokenBytes(bool back) const;
};

/// A job that does one collective over and over, in place of training.
struct CollectiveSpec
{
    CollectiveOp op{CollectiveOp::AllReduce};
    CollectiveGroup group{CollectiveGroup::All};
    /// Groups that take part, counted by their lowest rank, all at the same time; 0: all of them.
    uint32_t groups{0};
    /// S, a group's whole buffer; all-to-all and send-receive: what each member holds.
    Bytes bytes{1};
    TokenSpec tokens; //!< of dispatch and combine, in place of bytes

    /// Whether tokens go to experts or come back.
    bool Routes() const
    {
        return op == CollectiveOp::Dispatch || op == CollectiveOp::Combine;
    }

    static const FieldTable<CollectiveSpec>& Fields();

    /// Throws ConfigError (where = "collective.<field>").
    void Validate() const;
};

std::string ToString(CollectiveOp value);    //!< "all_reduce", ..., "combine"
std::string ToString(CollectiveGroup value); //!< "all", "across", "building", "rail", "node"

std::string ToString(TokenPrecision value); //!< "usual", "fp8", "bf16"

/// The words that ToString() gives, in the order of the values.
const std::vector<std::string>& CollectiveOpWords();
const std::vector<std::string>& CollectiveGroupWords();
const std::vector<std::string>& TokenPrecisionWords();

/**
 * Bus bandwidth over algorithm bandwidth S / time, by the convention of nccl-tests: the factor that
 * makes the figure comparable with the rate of the links whatever the number of members n.
 * 2 (n-1) / n for all-reduce, (n-1) / n for all-gather, reduce-scatter and all-to-all, 1 for
 * send-receive. Domain: n >= 1. Dispatch and combine: 1, S being what DeepEP counts.
 */
double BusFactor(CollectiveOp op, uint32_t n);

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_SPEC_H
