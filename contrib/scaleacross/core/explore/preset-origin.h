// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PRESET_ORIGIN_H
#define SCALEACROSS_PRESET_ORIGIN_H

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/// Returns the keys of a GPU's fields that its machine, network or host decide, or what is kept
/// back of its memory: nothing of a GPU is fitted by them, and published runs differ in them.
inline const std::vector<std::string>&
MachineKeysOfGpus()
{
    static const std::vector<std::string> keys = {"nic_rate",
                                                  "nics_per_gpu",
                                                  "nic_efficiency",
                                                  "scale_up_domain",
                                                  "host_bandwidth",
                                                  "hbm_reserve"};
    return keys;
}

/// The preset that a GPU or stack is, or whose name it has with other values.
struct PresetOrigin
{
    std::string preset;
    bool changed{false};
};

/// Returns which of the presets with these names a value is, whatever it is called: its own name's
/// first, since several may have the same values. Nothing of one that is none of `names` by values
/// and by name. Fields of `ignoredKeys` do not count.
template <class T>
std::optional<PresetOrigin>
OriginOf(const T& value,
         const std::vector<T>& presets,
         const std::vector<std::string>& names,
         const std::vector<std::string>& ignoredKeys)
{
    const auto holds = [](const std::vector<std::string>& list, const std::string& name) {
        return std::find(list.begin(), list.end(), name) != list.end();
    };
    const auto isSame = [&](const T& preset) {
        const auto& fields = T::Fields();
        return std::all_of(fields.begin(), fields.end(), [&](const auto& field) {
            return field.label || holds(ignoredKeys, field.key) || field.equal(preset, value);
        });
    };
    std::optional<PresetOrigin> origin;
    for (const T& preset : presets)
    {
        const bool named = preset.name == value.name;
        if (holds(names, preset.name) && isSame(preset) && (!origin || named))
        {
            origin = {preset.name, false};
        }
    }
    if (!origin && holds(names, value.name))
    {
        origin = {value.name, true};
    }
    return origin;
}

} // namespace scaleacross

#endif // SCALEACROSS_PRESET_ORIGIN_H
