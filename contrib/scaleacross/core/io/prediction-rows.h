// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PREDICTION_ROWS_H
#define SCALEACROSS_PREDICTION_ROWS_H

#include "core/base/units.h"
#include "core/spec/plan-fields.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/**
 * Times that somebody has predicted, by the case that they are of: either of collectives, or of
 * plans.
 */
class PredictionRows
{
  public:
    /**
     * Reads a CSV file (ReadCsvTable) with the column `time_s`, in seconds, and
     *
     * - of collectives: `operation`, `bytes` (a number, or with a unit: 64KiB) and, if it matters,
     *   `ranks`;
     * - of plans: `label`, as tables print it, or fields of plans by their keys, with or without
     *   "plan." and "network." in front (`tp`, `network.qps`), or both.
     *
     * An empty cell says nothing: the row is for any value. Throws ConfigError (where =
     * "rows.csv:7 bytes") for what is wrong with the file.
     */
    explicit PredictionRows(const std::string& path);

    /// The time of a collective. Throws RunError "prediction" where no row, or more than one, is
    /// for it; the detail says which row would be needed.
    Duration OfCollective(const std::string& operation, Bytes bytes, uint32_t ranks) const;

    /// The same of a plan.
    Duration OfPlan(const Plan& plan) const;

  private:
    struct Row
    {
        std::string where;
        Duration time;
        std::string operation;
        std::optional<Bytes> bytes;
        std::optional<uint64_t> ranks;
        std::string label;
        std::vector<std::pair<const PlanField*, std::string>>
            fields; //!< as PlanField::get has them
    };

    template <class Is>
    Duration Only(const std::string& needed, Is is) const;
    void FindColumns(const std::string& where);
    void ReadCell(const std::string& column, const std::string& cell, Row& row) const;

    std::string m_path;
    std::vector<std::string> m_columns;
    bool m_ofPlans{false};
    std::vector<Row> m_rows;
};

} // namespace scaleacross

#endif // SCALEACROSS_PREDICTION_ROWS_H
