// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/chakra/chakra-format.h"

#include "core/base/errors.h"

#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>
#include <google/protobuf/unknown_field_set.h>
#include <limits>
#include <optional>

namespace scaleacross
{

namespace
{

constexpr const char* g_format =
    "a file as Chakra's tools write it: messages behind their lengths, GlobalMetadata first";

[[noreturn]] void
Fail(const std::string& path, const std::string& problem, const std::string& remedy)
{
    throw ConfigError(path, problem, g_format, remedy);
}

/// Refuses other formats that traces come in.
void
ExpectProtobuf(const std::string& text, const std::string& path)
{
    if (text.empty())
    {
        Fail(path, "the file is empty", "write it again");
    }
    if (text.compare(0, 2, "\x1f\x8b") == 0)
    {
        Fail(path, "the file is compressed by gzip", "gunzip it first");
    }
    const size_t first = text.find_first_not_of(" \t\r\n");
    if (first != std::string::npos && text[first] == '{' &&
        text.find_first_of("}\"", first + 1) != std::string::npos && text.back() != '\0' &&
        text[text.find_first_not_of(" \t\r\n", first + 1)] == '"')
    {
        Fail(path,
             "the file is JSON",
             "chakra_converter makes protobuf of what PyTorch has observed; chakra_jsonizer's "
             "output is for people, so give the file that it was made from");
    }
}

/// What is said of a field that the format has not, or not of its type; none: there is no such.
std::optional<std::string>
UnknownIn(const google::protobuf::Message& message)
{
    const auto& unknown = message.GetReflection()->GetUnknownFields(message);
    if (unknown.empty())
    {
        return std::nullopt;
    }
    const int number = unknown.field(0).number();
    const auto* field = message.GetDescriptor()->FindFieldByNumber(number);
    return "a field " + std::to_string(number) +
           (field == nullptr
                ? " that no node has in the et_def.proto which this release knows"
                : " (" + field->name() + ") that is no " + std::string(field->type_name()));
}

template <class Owner>
std::optional<std::string>
UnknownInAttributes(const Owner& owner)
{
    for (const chakra::AttributeProto& attribute : owner.attr())
    {
        if (const auto unknown = UnknownIn(attribute))
        {
            return unknown;
        }
    }
    return std::nullopt;
}

void
ExpectKnown(const std::optional<std::string>& unknown,
            const std::string& path,
            const std::string& message)
{
    if (unknown)
    {
        Fail(path,
             message + " has " + *unknown,
             "write the trace with the fields that doc/chakra.md names");
    }
}

void
ExpectKnown(const chakra::Node& node, const std::string& path)
{
    auto unknown = UnknownIn(node);
    unknown = unknown ? unknown : UnknownIn(node.inputs());
    unknown = unknown ? unknown : UnknownIn(node.outputs());
    unknown = unknown ? unknown : UnknownInAttributes(node);
    ExpectKnown(unknown, path, "node " + std::to_string(node.id()));
}

} // namespace

void
AppendChakra(const google::protobuf::MessageLite& message, std::string& text)
{
    uint64_t size = message.ByteSizeLong();
    for (; size >= 0x80; size >>= 7)
    {
        text += static_cast<char>(size | 0x80);
    }
    text += static_cast<char>(size);
    message.AppendToString(&text);
}

std::string
HashOfChakra(const std::string& text)
{
    boost::uuids::name_generator_sha1 generator(boost::uuids::ns::oid());
    return boost::uuids::to_string(generator(text));
}

void
ReadChakra(const std::string& text,
           const std::string& path,
           const std::function<void(const chakra::GlobalMetadata&)>& metadata,
           const std::function<void(const chakra::Node&, size_t)>& node)
{
    ExpectProtobuf(text, path);
    size_t at = 0;
    bool first = true;
    while (at < text.size())
    {
        const size_t begin = at;
        const std::string where = "the message at byte " + std::to_string(begin);
        uint64_t size = 0;
        int shift = 0;
        for (bool more = true; more; shift += 7)
        {
            if (at == text.size())
            {
                Fail(path, "the file ends within the length of " + where, "write it again");
            }
            if (shift > 28)
            {
                Fail(path,
                     where + " has a length of more than 5 bytes, which none has",
                     "write the file again");
            }
            const auto byte = static_cast<unsigned char>(text[at++]);
            size |= uint64_t{byte & 0x7fU} << shift;
            more = (byte & 0x80) != 0;
        }
        if (size > text.size() - at)
        {
            Fail(path,
                 where + " is " + std::to_string(size) + " bytes long, and " +
                     std::to_string(text.size() - at) + " are left of the file",
                 "it is cut off, or no trace: write it again");
        }
        const auto parse = [&](auto& message, const char* name) {
            if (size > std::numeric_limits<int>::max() ||
                !message.ParseFromArray(text.data() + at, static_cast<int>(size)))
            {
                Fail(path, where + " is no " + name, "write the file again");
            }
        };
        if (first)
        {
            chakra::GlobalMetadata message;
            parse(message, "GlobalMetadata");
            auto unknown = UnknownIn(message);
            unknown = unknown ? unknown : UnknownInAttributes(message);
            if (unknown)
            {
                Fail(path,
                     "the first message has " + *unknown + ", so it is no GlobalMetadata",
                     "write GlobalMetadata before the first node");
            }
            metadata(message);
        }
        else
        {
            chakra::Node message;
            parse(message, "node");
            ExpectKnown(message, path);
            node(message, begin);
        }
        first = false;
        at += size;
    }
}

} // namespace scaleacross
