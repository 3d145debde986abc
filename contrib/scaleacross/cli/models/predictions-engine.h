// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PREDICTIONS_ENGINE_H
#define SCALEACROSS_PREDICTIONS_ENGINE_H

#include "cli/models/foreign-engine.h"
#include "core/io/prediction-rows.h"

#include <string>

namespace scaleacross
{

/**
 * A model as a table of the times that it has predicted (PredictionRows). The fingerprint covers
 * the contents of the file; a case that it does not have is a failure "prediction".
 */
class PredictionsEngine : public ForeignEngine
{
  public:
    /// Throws ConfigError where the file is none of predictions.
    PredictionsEngine(const std::string& name, const std::string& path);

    std::string Fingerprint() const override;

  protected:
    ModelAnswer Ask(const Scenario& scenario,
                    const PreparedRun& run,
                    const RunOptions& options,
                    Duration left) const override;

  private:
    PredictionRows m_rows;
    std::string m_fingerprint;
};

} // namespace scaleacross

#endif // SCALEACROSS_PREDICTIONS_ENGINE_H
