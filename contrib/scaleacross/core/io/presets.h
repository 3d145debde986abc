// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PRESETS_H
#define SCALEACROSS_PRESETS_H

#include "core/io/file-chain.h"
#include "core/io/yaml-node.h"
#include "core/spec/cluster-spec.h"
#include "core/spec/gpu-curve.h"
#include "core/spec/gpu-spec.h"
#include "core/spec/machine-spec.h"
#include "core/spec/model-spec.h"
#include "core/spec/software-stack.h"

#include <string>
#include <vector>

/**
 * Named models, GPUs, curves, software stacks, fabrics and machines.
 *
 * Each is a file data/KIND/NAME.yaml, which is part of the program. It has the keys that a study
 * has for such a value, and so may stand on another preset; and besides these
 *
 *     source: where the figures come from, each with a grade: (P) read in a primary source, (S)
 *             from a secondary reading of one, (I) inferred or computed here
 *     date:   when the source was published, year and month
 *     help:   one line for lists; of a stack, fabric or machine, which a name and figures do not
 *             tell
 *     known_as: what others call it, such as repositories of models, separated by commas; whoever
 *             gives one of these in the place of the name is told the name (IsNameOf())
 *
 * A user's own file is named by its path in the place of the name, and read the same way.
 */
namespace scaleacross
{

/// A named value with the source of its figures.
template <class T>
struct Preset
{
    std::string name;
    T value;
    std::string source;
    std::string date;
    std::string help;
};

/// All that are built in. T is ModelSpec, GpuSpec, GpuCurve, SoftwareStack, FabricSpec or
/// MachineSpec.
template <class T>
const std::vector<Preset<T>>& Presets();

/// Throws ConfigError that lists the known names and suggests the one that is meant, or the
/// nearest.
template <class T>
const T& PresetNamed(const std::string& name);

/// What a file's text makes; `file` stands in messages. Throws ConfigError with the place.
template <class T>
Preset<T> ParsePreset(const std::string& text, const std::string& file, const FileChain& from);

/// What the single value `node` of a study or file names: a preset, or a file by its path, which
/// has a / or ends with .yaml, .yml or .json. Throws ConfigError with the place.
template <class T>
T ReadNamed(const YamlNode& node, const std::string& path, const FileChain& from);

inline const ModelSpec&
ModelPreset(const std::string& name)
{
    return PresetNamed<ModelSpec>(name);
}

inline const GpuSpec&
GpuPreset(const std::string& name)
{
    return PresetNamed<GpuSpec>(name);
}

} // namespace scaleacross

#endif // SCALEACROSS_PRESETS_H
