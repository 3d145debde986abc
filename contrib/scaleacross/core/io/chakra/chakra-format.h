// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHAKRA_FORMAT_H
#define SCALEACROSS_CHAKRA_FORMAT_H

#include <chakra.pb.h>
#include <cstdint>
#include <functional>
#include <string>

namespace scaleacross
{

/// Appends a message behind its length, a varint of base 128, as files of Chakra have them.
void AppendChakra(const google::protobuf::MessageLite& message, std::string& text);

/**
 * Reads the text of a file: its GlobalMetadata, then one node after the other, each with the byte
 * that it begins at.
 *
 * Throws ConfigError (where = path) for what is no such file: empty, cut off, of another format
 * (named where it is gzip or JSON), with a message that cannot be parsed or that has fields which
 * the format has not.
 */
void ReadChakra(const std::string& text,
                const std::string& path,
                const std::function<void(const chakra::GlobalMetadata&)>& metadata,
                const std::function<void(const chakra::Node&, size_t)>& node);

/// A hash of a text, by which a change of it is noticed.
std::string HashOfChakra(const std::string& text);

/// The attribute of this name of a node or of metadata, or null.
template <class Owner>
const chakra::AttributeProto*
FindAttribute(const Owner& owner, const std::string& name)
{
    for (const chakra::AttributeProto& attribute : owner.attr())
    {
        if (attribute.name() == name)
        {
            return &attribute;
        }
    }
    return nullptr;
}

/// Adds an attribute, for its value to be set.
template <class Owner>
chakra::AttributeProto&
AddAttribute(Owner& owner, const char* name)
{
    chakra::AttributeProto& attribute = *owner.add_attr();
    attribute.set_name(name);
    return attribute;
}

} // namespace scaleacross

#endif // SCALEACROSS_CHAKRA_FORMAT_H
