// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FOREIGN_GROUPS_H
#define SCALEACROSS_FOREIGN_GROUPS_H

#include "core/io/chakra/chakra-format.h"
#include "core/program/collective.h"
#include "core/program/rank-group.h"

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/**
 * The family that has these ranks as one of its groups, or none: ranks in ascending order that are
 * the same steps apart, or blocks of such, beginning at a multiple of what they span. Not all of
 * its groups need be of ranks that there are: the first and last stage of a pipeline are a group.
 *
 * Worked case: of 16 ranks {4, 5, 12, 13} are blocks of 2, 8 apart: axes {1, 2} and {8, 2}. {1, 2}
 * are none, as they do not begin at a multiple of 2.
 */
std::optional<RankGroup> FamilyOf(const std::vector<Rank>& members);

/// A process group: a communicator, which does its collectives one after the other. Others of the
/// same ranks do theirs beside them.
struct ForeignGroup
{
    uint32_t number{0};        //!< its own
    std::vector<Rank> members; //!< in ascending order
    CommClass comm{CommClass::Data};
};

/**
 * The process groups that collectives of traces name.
 *
 * They are in FILES.groups.json, {"1": [0, 1, 2, 3], ...}, or in the metadata that PyTorch's
 * observer writes, of which a rank's counts for that rank only: groups that are made at the same
 * time may have one name on different ranks. What ranks call the same and has the same members is
 * one group. No name, and "0" where nothing says otherwise, is all ranks.
 */
class ForeignGroups
{
  public:
    /// Reads the file, if there is one. Throws ConfigError (where = file).
    ForeignGroups(const std::string& files, uint32_t ranks);

    /// Takes what a metadata node of a rank says of groups, which may be nothing. Throws
    /// ConfigError (where = path) where it contradicts what was said before.
    void Add(Rank rank, const chakra::Node& node, const std::string& path);

    /// What a rank calls by this name; null if nothing.
    const ForeignGroup* Find(Rank rank, const std::string& name) const;

    /// All names that a rank knows, for messages.
    std::string Names(Rank rank) const;

  private:
    using Known = std::map<std::string, const ForeignGroup*>;

    std::vector<Rank> MembersOf(const nlohmann::json& list,
                                const std::string& name,
                                const std::string& where) const;

    [[noreturn]] void FailAtGroup(const std::string& where,
                                  const std::string& name,
                                  const std::string& problem) const;

    const ForeignGroup* GroupOf(const std::string& name, std::vector<Rank> members, CommClass comm);

    uint32_t m_ranks;
    std::vector<Rank> m_all;
    std::map<std::pair<std::string, std::vector<Rank>>, ForeignGroup> m_groups;
    Known m_ofFile;
    std::vector<Known> m_ofRanks;
};

} // namespace scaleacross

#endif // SCALEACROSS_FOREIGN_GROUPS_H
