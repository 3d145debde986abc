// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/foreign-attributes.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/chakra/chakra-words.h"

#include <cmath>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/text_format.h>
#include <limits>

namespace scaleacross
{

namespace
{

using Proto = chakra::AttributeProto;

enum class Meaning : uint8_t
{
    Whole,
    Truth,
    Name,
    Truths,
    Nothing //!< it changes nothing here, whatever it is
};

const char*
AllowedOf(Meaning meaning)
{
    switch (meaning)
    {
    case Meaning::Whole:
        return "a whole number, as int32, int64, uint32, uint64 or another type that has it "
               "exactly";
    case Meaning::Truth:
        return "true or false, as bool, or a whole number that is 0 or 1";
    case Meaning::Name:
        return "a name, as string, or as a whole number";
    case Meaning::Truths:
        return "a list of true and false, as bool_list";
    case Meaning::Nothing:
        break;
    }
    return "";
}

/// All attributes that are known.
const std::map<std::string, Meaning>&
Meanings()
{
    static const std::map<std::string, Meaning> meanings = {
        {words::kIsCpuOp, Meaning::Truth},
        {words::kNumOps, Meaning::Whole},
        {words::kTensorSize, Meaning::Whole},
        {words::kCommType, Meaning::Whole},
        {words::kCommSize, Meaning::Whole},
        {words::kCommSource, Meaning::Whole},
        {words::kCommDestination, Meaning::Whole},
        {words::kCommTag, Meaning::Whole},
        {words::kCommPriority, Meaning::Whole},
        {words::kGroup, Meaning::Name},
        {words::kOldGroup, Meaning::Name},
        {words::kGpuStream, Meaning::Whole},
        {words::kDimensions, Meaning::Truths},
        {words::kPs, Meaning::Whole},
        // What chakra_converter (May 2026) keeps of PyTorch's events beside that.
        {"rf_id", Meaning::Nothing},
        {"fw_parent", Meaning::Nothing},
        {"seq_id", Meaning::Nothing},
        {"scope", Meaning::Nothing},
        {"tid", Meaning::Nothing},
        {"fw_tid", Meaning::Nothing},
        {"op_schema", Meaning::Nothing},
        // The kind of an operation, and tensors by which ASTRA-sim counts memory, of STAGE (August
        // 2025).
        {"op_type", Meaning::Nothing},
        {"inputs", Meaning::Nothing},
        {"outputs", Meaning::Nothing}};
    return meanings;
}

/// Ours begin with this.
bool
IsOwn(const std::string& name)
{
    const std::string begin = std::string(words::kGraph) + ".";
    return name.compare(0, begin.size(), begin) == 0;
}

/// "int32", "bool_list"; of the format's field without "_val".
std::string
TypeOf(const Proto& attribute)
{
    const auto* field = Proto::descriptor()->FindFieldByNumber(attribute.value_case());
    const std::string name = field->name();
    const size_t suffix = name.rfind("_val");
    return suffix != std::string::npos && suffix + 4 == name.size() ? name.substr(0, suffix) : name;
}

std::string
TextOf(const Proto& attribute)
{
    std::string text;
    google::protobuf::TextFormat::PrintFieldValueToString(
        attribute,
        Proto::descriptor()->FindFieldByNumber(attribute.value_case()),
        -1,
        &text);
    return text;
}

std::optional<int64_t>
Unsigned(uint64_t value)
{
    return value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())
               ? std::optional<int64_t>(static_cast<int64_t>(value))
               : std::nullopt;
}

std::optional<int64_t>
Floating(double value)
{
    constexpr double kMost = 4611686018427387904.0; // 2^62
    return std::abs(value) <= kMost && std::floor(value) == value
               ? std::optional<int64_t>(static_cast<int64_t>(value))
               : std::nullopt;
}

/// The whole number that an attribute has, if it has one.
std::optional<int64_t>
WholeOf(const Proto& attribute)
{
    switch (attribute.value_case())
    {
    case Proto::kInt32Val:
        return attribute.int32_val();
    case Proto::kInt64Val:
        return attribute.int64_val();
    case Proto::kUint32Val:
        return attribute.uint32_val();
    case Proto::kUint64Val:
        return Unsigned(attribute.uint64_val());
    case Proto::kSint32Val:
        return attribute.sint32_val();
    case Proto::kSint64Val:
        return attribute.sint64_val();
    case Proto::kFixed32Val:
        return attribute.fixed32_val();
    case Proto::kFixed64Val:
        return Unsigned(attribute.fixed64_val());
    case Proto::kSfixed32Val:
        return attribute.sfixed32_val();
    case Proto::kSfixed64Val:
        return attribute.sfixed64_val();
    case Proto::kDoubleVal:
        return Floating(attribute.double_val());
    case Proto::kFloatVal:
        return Floating(attribute.float_val());
    default:
        return std::nullopt;
    }
}

} // namespace

void
FailAtNode(const std::string& path,
           uint64_t id,
           const std::string& name,
           const std::string& problem,
           const std::string& allowed,
           const std::string& remedy)
{
    throw ConfigError(path,
                      "node " + std::to_string(id) + " " + Quoted(name) + ": " + problem,
                      allowed,
                      remedy);
}

ForeignAttributes::ForeignAttributes(const chakra::Node& node, const std::string& path)
{
    for (const Proto& attribute : node.attr())
    {
        const std::string& name = attribute.name();
        const auto known = Meanings().find(name);
        if (known == Meanings().end())
        {
            if (!IsOwn(name))
            {
                m_unknown.push_back(name);
            }
            continue;
        }
        const Meaning meaning = known->second;
        if (meaning == Meaning::Nothing)
        {
            continue;
        }
        const auto fail = [&](const std::string& problem, const char* remedy) {
            FailAtNode(path, node.id(), node.name(), problem, AllowedOf(meaning), remedy);
        };
        if (attribute.value_case() == Proto::VALUE_NOT_SET)
        {
            fail("its attribute " + name + " has no value", "give it one, or leave it out");
        }
        const auto [entry, isNew] = m_values.try_emplace(name);
        if (!isNew)
        {
            fail("it has the attribute " + name + " more than once, the second time as " +
                     Quoted(TextOf(attribute)),
                 "give each attribute once");
        }
        Value& value = entry->second;
        value.whole = WholeOf(attribute);
        bool good = value.whole.has_value();
        if (meaning == Meaning::Truth)
        {
            if (attribute.value_case() == Proto::kBoolVal)
            {
                value.whole = attribute.bool_val() ? 1 : 0;
            }
            good = value.whole == 0 || value.whole == 1;
        }
        else if (meaning == Meaning::Name)
        {
            const bool text = attribute.value_case() == Proto::kStringVal;
            const bool bytes = attribute.value_case() == Proto::kBytesVal;
            good = good || text || bytes;
            value.name = text          ? attribute.string_val()
                         : bytes       ? attribute.bytes_val()
                         : value.whole ? std::to_string(*value.whole)
                                       : "";
        }
        else if (meaning == Meaning::Truths)
        {
            good = attribute.value_case() == Proto::kBoolList;
            const auto& values = attribute.bool_list().values();
            value.truths.assign(values.begin(), values.end());
        }
        if (!good)
        {
            fail("its attribute " + name + " is of type " + TypeOf(attribute) + ", " +
                     Quoted(TextOf(attribute)),
                 "write it with such a type");
        }
    }
}

bool
ForeignAttributes::Has(const char* name) const
{
    return m_values.count(name) > 0;
}

std::optional<int64_t>
ForeignAttributes::Whole(const char* name) const
{
    const auto found = m_values.find(name);
    return found == m_values.end() ? std::nullopt : found->second.whole;
}

std::optional<bool>
ForeignAttributes::Truth(const char* name) const
{
    const auto whole = Whole(name);
    return whole ? std::optional<bool>(*whole != 0) : std::nullopt;
}

std::optional<std::string>
ForeignAttributes::Name(const char* name) const
{
    const auto found = m_values.find(name);
    return found == m_values.end() ? std::nullopt : std::optional<std::string>(found->second.name);
}

std::vector<bool>
ForeignAttributes::Truths(const char* name) const
{
    const auto found = m_values.find(name);
    return found == m_values.end() ? std::vector<bool>() : found->second.truths;
}

std::string
NearestAttribute(const std::string& name)
{
    std::vector<std::string> names;
    for (const auto& [known, meaning] : Meanings())
    {
        if (meaning != Meaning::Nothing)
        {
            names.push_back(known);
        }
    }
    return Nearest(name, names);
}

} // namespace scaleacross
