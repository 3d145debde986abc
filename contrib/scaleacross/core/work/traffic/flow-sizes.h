// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FLOW_SIZES_H
#define SCALEACROSS_FLOW_SIZES_H

#include <string>
#include <vector>

namespace scaleacross
{

/// A distribution of flow sizes by points of its cumulative probability, linear in between.
class FlowSizes
{
  public:
    struct Point
    {
        double bytes;
        double probability; //!< of a flow of `bytes` or less
    };

    /// One of data/flow-sizes, by its name ("web-search"). Throws ConfigError with all names for
    /// another one.
    static FlowSizes Named(const std::string& name);

    /**
     * Reads a table of `bytes,cumulative_probability`: lines that begin with # are comments, the
     * first other line names the columns. Throws ConfigError (place:line) unless both columns grow
     * from row to row, from probability 0 to 1.
     */
    static FlowSizes Parse(const std::string& text, const std::string& place);

    const std::vector<Point>& Points() const
    {
        return m_points;
    }

    /// Bytes in the mean: the sum over intervals of (p_i - p_(i-1)) (b_i + b_(i-1)) / 2. Worked
    /// case: half of the flows up to 100, the others up to 300: 50 / 2 + 200 / 2 = 125.
    double Mean() const;

  private:
    std::vector<Point> m_points;
};

/// Their names.
std::vector<std::string> FlowSizeNames();

} // namespace scaleacross

#endif // SCALEACROSS_FLOW_SIZES_H
