// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_BREAK_EVEN_MAP_H
#define SCALEACROSS_BREAK_EVEN_MAP_H

#include "cli/sweep.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * What wins at every point of a grid of settings, as text and as JSON.
 *
 * As text the last setting runs to the right and the one before it down; there is a grid of its own
 * for every combination of the others.
 */
class BreakEvenMap
{
  public:
    /// @param measured whether the engine is the one whose errors are known
    BreakEvenMap(std::vector<SweepAxis> axes, bool measured);

    /// The next point, the last axis running fastest.
    void Add(const std::vector<std::string>& values,
             const Study& study,
             const SearchSpace& space,
             const Answer& answer);

    /// What of it there is: of an interrupted sweep the first points, and what is said of flips is
    /// said of these.
    std::string Text() const;
    Json ToJson() const;

    /// For --csv: SweepRows() of the points.
    Json Rows() const;

  private:
    /// Of the whole grid.
    size_t Size() const;
    /// The points along the last axis, the others being as at `first`, as far as they are there.
    std::vector<SweepPoint> RowFrom(size_t first) const;
    std::string PlaceOf(size_t point, size_t from, size_t to) const;

    std::vector<SweepAxis> m_axes;
    bool m_measured;
    std::vector<std::vector<std::string>> m_values;
    std::vector<SweepPoint> m_points;
    Json m_json = Json::array();
};

} // namespace scaleacross

#endif // SCALEACROSS_BREAK_EVEN_MAP_H
