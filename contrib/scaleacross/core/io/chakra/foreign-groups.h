// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_GROUPS_H
#define SCALEACROSS_FOREIGN_GROUPS_H

#include "core/io/chakra/chakra-format.h"
#include "core/program/rank-group.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The family that has these ranks as one of its groups, or none: ranks in ascending order that are
 * the same steps apart, or blocks of such, beginning at a multiple of what they span. The family's
 * groups cover all `ranks`.
 *
 * Worked case: of 16 ranks {4, 5, 12, 13} are blocks of 2, 8 apart: axes {1, 2} and {8, 2}. {1, 2}
 * are none, as they do not begin at a multiple of 2.
 */
std::optional<RankGroup> FamilyOf(const std::vector<Rank>& members, uint32_t ranks);

/**
 * The process groups that collectives of traces name.
 *
 * They are in FILES.groups.json, {"1": [0, 1, 2, 3], ...}, or in the metadata that PyTorch's
 * observer writes. No name, and "0" where nothing says otherwise, is all ranks.
 */
class ForeignGroups
{
  public:
    /// Reads the file, if there is one. Throws ConfigError (where = file).
    ForeignGroups(const std::string& files, uint32_t ranks);

    /// Takes what a metadata node says of groups, which may be nothing. Throws ConfigError (where =
    /// path) where it contradicts what was said before.
    void Add(const chakra::Node& node, const std::string& path);

    /// The members of a group, in ascending order; null if there is none of this name.
    const std::vector<Rank>* Find(const std::string& name) const;

    /// All names, for messages.
    std::string Names() const;

  private:
    void Put(const std::string& name, std::vector<Rank> members, const std::string& where);

    uint32_t m_ranks;
    std::vector<Rank> m_all;
    std::map<std::string, std::vector<Rank>> m_groups;
};

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_GROUPS_H
