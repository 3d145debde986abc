// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/presets.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/data-files.h"
#include "core/io/fabric-reader.h"
#include "core/io/gpu-reader.h"
#include "core/io/hugging-face/model-config.h"
#include "core/io/known-names.h"
#include "core/io/machine-reader.h"
#include "core/io/map-reader.h"
#include "core/io/model-reader.h"
#include "core/io/stack-reader.h"
#include "core/io/text-file.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

namespace scaleacross
{

namespace
{

/// Where the files of a type of value are, what a message calls it, who reads its map, and which
/// files may be its own.
template <class T>
struct Kind;

struct YamlKind
{
    static constexpr const char* kOrFile = ", or a path to a YAML file";
    static constexpr const char* kNoFile = "";
};

template <>
struct Kind<ModelSpec>
{
    static constexpr const char* kFolder = "models";
    static constexpr const char* kKey = "model";
    static constexpr const char* kOrFile = ", or a path to a config.json or a YAML file";
    static constexpr const char* kNoFile =
        "of a repository's model name the path of its config.json";
    static constexpr auto Read = ReadModel;
};

template <>
struct Kind<GpuSpec> : YamlKind
{
    static constexpr const char* kFolder = "gpus";
    static constexpr const char* kKey = "gpu";
    static constexpr auto Read = ReadGpu;
};

template <>
struct Kind<GpuCurve> : YamlKind
{
    static constexpr const char* kFolder = "curves";
    static constexpr const char* kKey = "gpu.curve";
    static constexpr auto Read = ReadCurve;
};

template <>
struct Kind<SoftwareStack> : YamlKind
{
    static constexpr const char* kFolder = "stacks";
    static constexpr const char* kKey = "workload.stack";
    static constexpr auto Read = ReadStack;
};

template <>
struct Kind<FabricSpec> : YamlKind
{
    static constexpr const char* kFolder = "fabrics";
    static constexpr const char* kKey = "fabric";
    static constexpr auto Read = ReadFabric;
};

template <>
struct Kind<MachineSpec> : YamlKind
{
    static constexpr const char* kFolder = "machines";
    static constexpr const char* kKey = "machine";
    static constexpr auto Read = ReadMachine;
};

/// The key of what others call a preset.
constexpr const char* kKnownAs = "known_as";

/// The name that a value itself has; null if it has none.
template <class T>
auto
OwnName(T& value, int /* preferred */) -> decltype(&value.name)
{
    return &value.name;
}

template <class T>
std::string*
OwnName(T& /* value */, long /* second choice */)
{
    return nullptr;
}

bool
EndsWith(const std::string& text, const std::string& end)
{
    return text.size() > end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

bool
IsYamlPath(const std::string& name)
{
    return EndsWith(name, ".yaml") || EndsWith(name, ".yml");
}

bool
IsPath(const std::string& name)
{
    return name.find('/') != std::string::npos || IsYamlPath(name) || EndsWith(name, ".json");
}

/// The text of a key, which the map loses; "" without it.
std::string
TakeText(YamlNode& map, const std::string& key)
{
    for (size_t i = 0; i < map.keys.size(); i++)
    {
        if (map.keys[i].text == key)
        {
            const auto at = static_cast<ptrdiff_t>(i);
            std::string text = ScalarText(map.children[i], key);
            map.keys.erase(map.keys.begin() + at);
            map.children.erase(map.children.begin() + at);
            return text;
        }
    }
    return "";
}

template <class T>
const DataFile*
FindFile(const std::string& name)
{
    for (const DataFile& file : DataFiles())
    {
        if (std::strcmp(file.kind, Kind<T>::kFolder) == 0 && file.name == name)
        {
            return &file;
        }
    }
    return nullptr;
}

template <class T>
std::vector<std::string>
NamesOf()
{
    std::vector<std::string> names;
    for (const DataFile& file : DataFiles())
    {
        if (std::strcmp(file.kind, Kind<T>::kFolder) == 0)
        {
            names.emplace_back(file.name);
        }
    }
    return names;
}

/// The preset that others call so; "" if there is none.
template <class T>
std::string
PresetKnownAs(const std::string& name)
{
    for (const DataFile& file : DataFiles())
    {
        if (std::strcmp(file.kind, Kind<T>::kFolder) != 0)
        {
            continue;
        }
        // Not read as a value, which might be what fails.
        YamlNode root = ParseYaml(file.text, file.name);
        std::vector<std::string> known = ListParts(TakeText(root, kKnownAs));
        known.emplace_back(file.name);
        if (std::any_of(known.begin(), known.end(), [&name](const std::string& one) {
                return IsNameOf(name, one);
            }))
        {
            return file.name;
        }
    }
    return "";
}

template <class T>
[[noreturn]] void
FailUnknown(const std::string& where, const std::string& name, const std::string& orFile)
{
    const std::vector<std::string> names = NamesOf<T>();
    const std::string known = PresetKnownAs<T>(name);
    const std::string meant = known.empty() ? Nearest(name, names) : known;
    throw ConfigError(where,
                      "there is no preset " + Quoted(name),
                      AnyOf(names) + orFile,
                      meant.empty() ? "" : "did you mean " + meant + "?");
}

/// Of a path to nothing, which may be a name as well.
template <class T>
[[noreturn]] void
FailMissing(const std::string& where, const std::string& name, const std::string& path)
{
    const std::string known = PresetKnownAs<T>(name);
    throw ConfigError(where + ": " + path,
                      "there is no such file",
                      AnyOf(NamesOf<T>()) + Kind<T>::kOrFile,
                      !known.empty() ? "did you mean the preset " + known + "?"
                      : IsYamlPath(name) || EndsWith(name, ".json") ? ""
                                                                    : Kind<T>::kNoFile);
}

bool
IsMissing(const std::string& path)
{
    std::error_code ignored;
    return std::filesystem::status(path, ignored).type() == std::filesystem::file_type::not_found;
}

template <class T>
Preset<T>
ParseBuiltIn(const DataFile& file, const FileChain& from)
{
    const std::string place = std::string("(built in) ") + file.kind + "/" + file.name + ".yaml";
    Preset<T> preset = ParsePreset<T>(file.text, place, from);
    preset.name = file.name;
    if (std::string* own = OwnName(preset.value, 0); own != nullptr)
    {
        *own = preset.name;
    }
    return preset;
}

/// Each is read once: tables of runs and searches name the same few again and again. One preset
/// stands on others of its own kind, hence a mutex that a thread may take again.
template <class T>
const Preset<T>&
ReadBuiltIn(const DataFile& file, const FileChain& from)
{
    static std::recursive_mutex mutex;
    static std::map<const DataFile*, Preset<T>> read;
    const std::lock_guard<std::recursive_mutex> lock(mutex);
    const auto known = read.find(&file);
    return known != read.end() ? known->second
                               : read.emplace(&file, ParseBuiltIn<T>(file, from)).first->second;
}

/// Whether two presets are the same, names included; of kinds that cannot be compared none are.
template <class T>
auto
AreSame(const T& a, const T& b, int /* preferred */) -> decltype(a == b)
{
    return a == b;
}

template <class T>
bool
AreSame(const T& /* a */, const T& /* b */, long /* second choice */)
{
    return false;
}

/// Whether this is the preset of its name with nothing changed: what is known of that, such as how
/// far times are off, is known of it.
template <class T>
bool
IsBuiltIn(const T& value, const std::string& name, const FileChain& from)
{
    const DataFile* file = FindFile<T>(name);
    return file != nullptr && AreSame(ReadBuiltIn<T>(*file, from).value, value, 0);
}

template <class T>
T
ReadPath(const std::string& path, const FileChain& from)
{
    const std::string file = from.Resolve(path);
    if constexpr (std::is_same_v<T, ModelSpec>)
    {
        if (!IsYamlPath(path))
        {
            ModelSpec model = ReadModelConfig(file);
            model.name = path;
            return model;
        }
    }
    Preset<T> preset = ParsePreset<T>(ReadTextFile(file), file, from);
    if (std::string* own = OwnName(preset.value, 0);
        own != nullptr && preset.name.empty() && !IsBuiltIn(preset.value, *own, from))
    {
        *own = path;
    }
    return std::move(preset.value);
}

} // namespace

template <class T>
Preset<T>
ParsePreset(const std::string& text, const std::string& file, const FileChain& from)
{
    YamlNode root = ParseYaml(text, file);
    if (root.kind != YamlNode::Kind::Map)
    {
        FailAt(root, "", "this is " + root.KindName(), "a map, as a study has it", "");
    }
    Preset<T> preset;
    preset.source = TakeText(root, "source");
    preset.date = TakeText(root, "date");
    preset.help = TakeText(root, "help");
    TakeText(root, kKnownAs);
    preset.name = TakeText(root, "name");
    preset.value = Kind<T>::Read(root, "", from.Into(file));
    if (std::string* own = OwnName(preset.value, 0); own != nullptr && !preset.name.empty())
    {
        *own = preset.name;
    }
    return preset;
}

template <class T>
const std::vector<Preset<T>>&
Presets()
{
    static const std::vector<Preset<T>> presets = [] {
        std::vector<Preset<T>> read;
        for (const DataFile& file : DataFiles())
        {
            if (std::strcmp(file.kind, Kind<T>::kFolder) == 0)
            {
                read.push_back(ReadBuiltIn<T>(file, FileChain("")));
            }
        }
        return read;
    }();
    return presets;
}

template <class T>
const T&
PresetNamed(const std::string& name)
{
    for (const Preset<T>& preset : Presets<T>())
    {
        if (preset.name == name)
        {
            return preset.value;
        }
    }
    FailUnknown<T>(Kind<T>::kKey, name, "");
}

template <class T>
T
ReadNamed(const YamlNode& node, const std::string& path, const FileChain& from)
{
    const std::string& name = ScalarText(node, path);
    const std::string where = node.Place() + " " + path;
    const DataFile* file = IsPath(name) ? nullptr : FindFile<T>(name);
    if (file == nullptr && !IsPath(name))
    {
        FailUnknown<T>(where, name, Kind<T>::kOrFile);
    }
    if (file == nullptr && IsMissing(from.Resolve(name)))
    {
        FailMissing<T>(where, name, from.Resolve(name));
    }
    try
    {
        return file != nullptr ? ReadBuiltIn<T>(*file, from).value : ReadPath<T>(name, from);
    }
    catch (const ConfigError& error)
    {
        throw error.At(where + ": " + error.Where());
    }
}

#define SCALEACROSS_PRESETS_OF(T)                                                                  \
    template const std::vector<Preset<T>>& Presets<T>();                                           \
    template const T& PresetNamed<T>(const std::string&);                                          \
    template Preset<T> ParsePreset<T>(const std::string&, const std::string&, const FileChain&);   \
    template T ReadNamed<T>(const YamlNode&, const std::string&, const FileChain&);

SCALEACROSS_PRESETS_OF(ModelSpec)
SCALEACROSS_PRESETS_OF(GpuSpec)
SCALEACROSS_PRESETS_OF(GpuCurve)
SCALEACROSS_PRESETS_OF(SoftwareStack)
SCALEACROSS_PRESETS_OF(FabricSpec)
SCALEACROSS_PRESETS_OF(MachineSpec)

#undef SCALEACROSS_PRESETS_OF

} // namespace scaleacross
