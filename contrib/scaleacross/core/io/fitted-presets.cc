// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/fitted-presets.h"

#include "core/io/presets.h"

namespace scaleacross
{

FittedPresets
BuiltInPresets()
{
    FittedPresets presets;
    for (const auto& preset : Presets<GpuSpec>())
    {
        presets.gpus.push_back(preset.value);
    }
    for (const auto& preset : Presets<SoftwareStack>())
    {
        presets.stacks.push_back(preset.value);
    }
    GpuSpec older = GpuPreset("h100");
    older.name = "h100-flash2";
    older.Take(PresetNamed<GpuCurve>(older.name));
    presets.gpus.push_back(older);
    return presets;
}

MeasuredPresets
BuiltInMachines()
{
    MeasuredPresets presets;
    for (const auto& preset : Presets<GpuSpec>())
    {
        presets.gpus.push_back(preset.value);
    }
    for (const auto& preset : Presets<MachineSpec>())
    {
        presets.networks.push_back(preset.value.network);
    }
    return presets;
}

} // namespace scaleacross
