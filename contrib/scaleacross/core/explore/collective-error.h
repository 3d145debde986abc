// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_ERROR_H
#define SCALEACROSS_COLLECTIVE_ERROR_H

#include "core/spec/scenario.h"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace scaleacross
{

/// How far the analytical engine's times of one operation, at sizes of one class, are from
/// published ones: the size of modelled / measured - 1, of each figure the largest of all lines as
/// shipped, all lines with what is fitted taken from other setups, and the lines of the job's GPUs
/// (doc/collectives.md, "Setup by setup").
struct CollectiveError
{
    double median{0};
    double nineInTen{0};   //!< what nine lines in ten do not exceed
    uint32_t lines{0};     //!< sizes with a published time
    uint32_t setups{0};    //!< clusters that they were measured on
    uint32_t gpuLines{0};  //!< of these, on GPUs like the job's; of several kinds the fewest
    uint32_t gpuSetups{0}; //!< likewise

    /// As many as say something of a setup that is none of them.
    static constexpr uint32_t kEnough{3};
};

/// From this size on a collective is large.
constexpr Bytes kLargeCollective{16U << 20};

/// What published times were compared with, by its name.
struct MeasuredPresets
{
    std::vector<GpuSpec> gpus;
    std::vector<NetworkPlan> networks; //!< of machines
};

/**
 * Returns the error of collectives like the scenario's job, of these bytes; or why no published
 * time says anything of it, a clause.
 *
 * Published times are those of NCCL and RCCL, or of DeepEP's kernels, in one building without
 * oversubscription, of groups that share no link with others, with what a machine's network makes
 * of messages. A GPU is the preset whose values it has, whatever it is called, but for its NICs and
 * its scale-up domain, which are the machine's.
 *
 * @param bytes the size that a row of the command's table has: of tokens those that DeepEP counts
 * Domain: the job is a collective.
 */
std::variant<CollectiveError, std::string> FindCollectiveError(const Scenario& scenario,
                                                               Bytes bytes,
                                                               const MeasuredPresets& presets);

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_ERROR_H
