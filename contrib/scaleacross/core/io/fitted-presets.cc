// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/fitted-presets.h"

#include "core/io/presets.h"

#include <vector>

namespace scaleacross
{

namespace
{

/// All that are built in.
template <class T>
std::vector<T>
ValuesOfPresets()
{
    std::vector<T> values;
    for (const auto& preset : Presets<T>())
    {
        values.push_back(preset.value);
    }
    return values;
}

} // namespace

FittedPresets
BuiltInPresets()
{
    FittedPresets presets{ValuesOfPresets<GpuSpec>(), ValuesOfPresets<SoftwareStack>()};
    GpuSpec older = GpuPreset("h100");
    older.name = "h100-flash2";
    older.Take(PresetNamed<GpuCurve>(older.name));
    presets.gpus.push_back(older);
    return presets;
}

MeasuredPresets
BuiltInMachines()
{
    MeasuredPresets presets{ValuesOfPresets<GpuSpec>(), {}};
    for (const MachineSpec& machine : ValuesOfPresets<MachineSpec>())
    {
        presets.networks.push_back(machine.network);
    }
    return presets;
}

} // namespace scaleacross
