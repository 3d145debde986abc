// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SCHEMA_H
#define SCALEACROSS_SCHEMA_H

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// Element n takes a database of schema version n to n + 1. Never change one that has been
/// released: add another. doc/database.md describes the outcome.
const std::vector<std::string>& Migrations();

/// The schema that this program writes (PRAGMA user_version).
inline int64_t
SchemaVersion()
{
    return static_cast<int64_t>(Migrations().size());
}

} // namespace scaleacross

#endif // SCALEACROSS_SCHEMA_H
