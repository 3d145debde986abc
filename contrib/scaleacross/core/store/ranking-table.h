// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_RANKING_TABLE_H
#define SCALEACROSS_RANKING_TABLE_H

#include "core/store/database.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// The rows of the view `ranking` that belong to a search, by rank and then by time, behind a row
/// of names. Numbers read back as what is stored; what is not known is empty.
std::vector<std::vector<std::string>> RankingTable(Database& database, int64_t search);

} // namespace scaleacross

#endif // SCALEACROSS_RANKING_TABLE_H
