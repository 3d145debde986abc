// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PRESETS_H
#define SCALEACROSS_PRESETS_H

#include "core/base/text.h"
#include "core/spec/gpu-spec.h"
#include "core/spec/model-spec.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// A named value with the source of its figures.
template <class T>
struct Preset
{
    T value;
    std::string source; //!< where the figures come from, and how sure they are
};

const std::vector<Preset<ModelSpec>>& ModelPresets();
const std::vector<Preset<GpuSpec>>& GpuPresets();

/// Throws ConfigError that lists the known names and suggests the nearest.
const ModelSpec& ModelPreset(const std::string& name);
const GpuSpec& GpuPreset(const std::string& name);

} // namespace scaleacross

#endif // SCALEACROSS_PRESETS_H
