// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SWEEP_STORE_H
#define SCALEACROSS_SWEEP_STORE_H

#include "core/store/database.h"

#include <cstdint>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * A sweep in a database: the searches at the values of one or several settings, in their order, the
 * last setting the fastest. A search may be a point of several sweeps, and the answer to the study
 * as it is as well.
 *
 * Its name is of its axes and the names of all of its searches, also of those still to come. The
 * first of them would not do: a span that is swept away has no distance yet, and two studies that
 * differ in nothing else begin alike. So a point never changes: whoever sweeps again, or merges
 * files, finds the same search in its place.
 */
class SweepStore
{
  public:
    /// @param axes JSON: a list of {"key", "values", "numbers", "unit"}, the last two of
    /// SweepScale, null of categories
    /// @param searches SearchHash() of every point
    SweepStore(Database& database,
               std::string study,
               std::string axes,
               const std::vector<std::string>& searches);

    /// The next point. The same sweep again is the same row. Domain: the next of the searches.
    void Add(int64_t search);

  private:
    Database& m_database;
    std::string m_study;
    std::string m_axes;
    std::string m_hash;
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
