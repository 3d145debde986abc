// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CORRECTION_FILE_H
#define SCALEACROSS_CORRECTION_FILE_H

#include "core/engine/corrections.h"
#include "core/spec/scenario.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// An operation that was measured, packets against the model.
struct MeasuredOperation
{
    CorrectionRow row;
    uint32_t seeds{1};
    std::string slice;  //!< of the plan that it was measured in, as `run --slice` has it
    uint32_t stages{1}; //!< that did it together
    uint32_t times{1};  //!< that they did it one after the other
    double part{1};  //!< of its bytes that were sent at once; below 1: it was sent in two windows
    double share{0}; //!< of its class's bytes across buildings that were sent
    double modelSeconds{0}; //!< of the whole operation, without its launch
};

/// "dp all_gather ring, leaf, 2 MiB of 4".
std::string ToString(const MeasuredOperation& operation);

/// What was measured on one network.
struct CorrectionSet
{
    std::string network; //!< NetworkNameOf()
    std::string study;   //!< that it was measured for
    std::string models;  //!< ModelsName()
    // For people, who look for the network that they mean:
    double distanceKm{0}; //!< of the longest span
    double loss{0};       //!< of the worst
    std::string transport;
    std::string multipath;
    std::string control;
    std::vector<MeasuredOperation> operations;
};

/// A name of all that a scenario's times between servers depend on but the job: cluster, network
/// and events.
std::string NetworkNameOf(const Scenario& scenario);

/// A name of both models that factors stand between: other ones ask for other factors.
std::string ModelsName();

/// A set for a scenario's network, without operations.
CorrectionSet EmptySetOf(const Scenario& scenario, const std::string& study);

/**
 * Files of corrections: JSON, {"corrections": 2, "sets": [...]}, one set for each network.
 *
 * Throws ConfigError (where = the path, and the place in it) for what is no such file.
 */
std::vector<CorrectionSet> ReadCorrectionFile(const std::string& path);
std::string CorrectionFileText(const std::vector<CorrectionSet>& sets);

/**
 * Adds a set to those of a file: in place of the one of the same network, or besides those of
 * others. What the same models have measured of that network before stays where there is nothing
 * newer, and where it is better: more of an operation (its part, stages and times), or as much of
 * it with more seeds. Returns what has stayed though it was measured again.
 */
std::vector<MeasuredOperation> Merge(std::vector<CorrectionSet>& sets, CorrectionSet added);

/// The corrections for a scenario. Throws ConfigError (where = the path) where the file has none
/// for its network, or only of other models.
Corrections CorrectionsFor(const Scenario& scenario,
                           const std::vector<CorrectionSet>& sets,
                           const std::string& path);

} // namespace scaleacross

#endif // SCALEACROSS_CORRECTION_FILE_H
