// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWEEP_STORE_H
#define SCALEACROSS_SWEEP_STORE_H

#include "core/store/database.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/// A sweep in a database: the searches at the values of one or several settings, in their order,
/// the last setting the fastest. A search may be a point of several sweeps, and the answer to the
/// study as it is as well.
class SweepStore
{
  public:
    /// @param axes JSON: a list of {"key", "values", "numbers", "unit"}, the last two of
    /// SweepScale, null of categories
    SweepStore(Database& database, std::string study, std::string axes);

    /// The next point. The same sweep again, which begins with the same search, is the same row.
    void Add(int64_t search);

  private:
    Database& m_database;
    std::string m_study;
    std::string m_axes;
    int64_t m_id{0}; //!< 0: there is no point yet
    int64_t m_next{0};
};

/// A sweep, and its points so far.
struct StoredSweep
{
    int64_t id{0};
    std::string study;
    std::string axes;
    std::vector<int64_t> searches; //!< of the first points
};

/// All of them, in the order in which they were begun.
std::vector<StoredSweep> ListSweeps(Database& database);

} // namespace scaleacross

#endif // SCALEACROSS_SWEEP_STORE_H
