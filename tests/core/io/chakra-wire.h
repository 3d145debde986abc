// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_CHAKRA_WIRE_H
#define SCALEACROSS_TESTS_CHAKRA_WIRE_H

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

// Traces of Chakra written byte by byte, with no other program: fields by the numbers of
// schema/protobuf/et_def.proto, as the protobuf encoding has them. What is zero or empty is left
// out, but for the value of an attribute, which is of a oneof.

/// A varint of base 128, the lowest digits first.
inline std::string
Varint(uint64_t value)
{
    std::string text;
    for (; value >= 0x80; value >>= 7)
    {
        text += static_cast<char>((value & 0x7f) | 0x80);
    }
    return text + static_cast<char>(value);
}

/// A field of wire type 0.
inline std::string
Number(uint32_t field, uint64_t value)
{
    return Varint(field << 3) + Varint(value);
}

/// A field of wire type 2.
inline std::string
Bytestring(uint32_t field, const std::string& value)
{
    return Varint(field << 3 | 2) + Varint(value.size()) + value;
}

/// A message behind its length.
inline std::string
Delimited(const std::string& message)
{
    return Varint(message.size()) + message;
}

/// AttributeProto of one number: int32 7, int64 9, uint32 11, uint64 13, bool 27.
inline std::string
Attribute(const std::string& name, uint32_t type, uint64_t value)
{
    return Bytestring(1, name) + Number(type, value);
}

/// The same of a text.
inline std::string
Attribute(const std::string& name, const std::string& value)
{
    return Bytestring(1, name) + Bytestring(29, value);
}

constexpr uint32_t kInt32 = 7;
constexpr uint32_t kInt64 = 9;
constexpr uint32_t kUint64 = 13;
constexpr uint32_t kBool = 27;

// NodeType.
constexpr uint32_t kMetadataNode = 1;
constexpr uint32_t kMemLoadNode = 2;
constexpr uint32_t kCompNode = 4;
constexpr uint32_t kSendNode = 5;
constexpr uint32_t kRecvNode = 6;
constexpr uint32_t kCollNode = 7;

/// A node under construction.
struct WireNode
{
    WireNode(uint64_t id, uint32_t type, const std::string& name)
    {
        text = (id == 0 ? "" : Number(1, id)) + Bytestring(2, name) +
               (type == 0 ? "" : Number(3, type));
    }

    /// Numbers of data_deps, packed as proto3 does.
    WireNode& After(const std::vector<uint64_t>& ids, uint32_t field = 5)
    {
        std::string packed;
        for (const uint64_t id : ids)
        {
            packed += Varint(id);
        }
        text += Bytestring(field, packed);
        return *this;
    }

    WireNode& Takes(uint64_t micros)
    {
        text += Number(7, micros);
        return *this;
    }

    template <class... Value>
    WireNode& Has(const std::string& name, Value&&... value)
    {
        text += Bytestring(10, Attribute(name, std::forward<Value>(value)...));
        return *this;
    }

    std::string text;
};

/// A file: GlobalMetadata and nodes.
inline std::string
Trace(const std::vector<WireNode>& nodes)
{
    std::string text = Delimited(Bytestring(1, "0.0.4"));
    for (const WireNode& node : nodes)
    {
        text += Delimited(node.text);
    }
    return text;
}

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_CHAKRA_WIRE_H
