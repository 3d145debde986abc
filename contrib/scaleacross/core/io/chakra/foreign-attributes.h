// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_ATTRIBUTES_H
#define SCALEACROSS_FOREIGN_ATTRIBUTES_H

#include "core/io/chakra/chakra-format.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/// Throws ConfigError (where = path) about a node.
[[noreturn]] void FailAtNode(const std::string& path,
                             uint64_t id,
                             const std::string& name,
                             const std::string& problem,
                             const std::string& allowed,
                             const std::string& remedy);

/**
 * The attributes of a node of a trace, by what they mean rather than by the type that they are
 * written with, as tools differ in that: chakra_converter writes is_cpu_op as a bool, STAGE as an
 * int32; a process group is text to both, and an int32 "comm_group" with STAGE_LEGACY_ATTR.
 *
 * | meaning | is written as |
 * |---|---|
 * | a whole number | any type of number that has it exactly |
 * | true or false | bool, or a whole number that is 0 or 1 |
 * | a name | string, bytes, or a whole number, which is its decimal text |
 * | a list of true and false | bool_list |
 *
 * The constructor checks all attributes that anything here reads, whether the node needs them or
 * not. It throws ConfigError (where = path) for one that has no value or one of another type, or is
 * given twice.
 */
class ForeignAttributes
{
  public:
    ForeignAttributes(const chakra::Node& node, const std::string& path);

    bool Has(const char* name) const;

    /// None: the node has no such attribute.
    std::optional<int64_t> Whole(const char* name) const;
    std::optional<bool> Truth(const char* name) const;
    std::optional<std::string> Name(const char* name) const;
    std::vector<bool> Truths(const char* name) const;

    /// Names of attributes that nothing here reads, other than those that are known to change
    /// nothing.
    const std::vector<std::string>& Unknown() const
    {
        return m_unknown;
    }

  private:
    struct Value
    {
        std::optional<int64_t> whole;
        std::string name;
        std::vector<bool> truths;
    };

    std::map<std::string, Value> m_values;
    std::vector<std::string> m_unknown;
};

/// The known attribute that somebody may have meant by this name; empty: none is near.
std::string NearestAttribute(const std::string& name);

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_ATTRIBUTES_H
