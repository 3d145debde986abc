// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_COLLECTIVE_STORE_H
#define SCALEACROSS_COLLECTIVE_STORE_H

#include "core/engine/engine.h"
#include "core/spec/collective-spec.h"
#include "core/store/database.h"

#include <cstdint>
#include <string>

namespace scaleacross
{

/// A collective that was timed.
struct TimedCollective
{
    CollectiveSpec spec;   //!< with the groups that took part, and the bytes
    uint32_t members{1};   //!< of a group
    std::string algorithm; //!< that was chosen
    std::string protocol;  //!< of a library that has several
    uint32_t channels{0};  //!< of the library; 0: it has none
    double algbw{0};       //!< bytes per second
    double busbw{0};       //!< bytes per second, by the convention of nccl-tests
    RunReport report;
};

/**
 * Timed collectives of one network, engine, seed and set of options in a database.
 *
 * A row is named by these, by what was done (all fields of CollectiveSpec) and by the fingerprint
 * of the engine: the same again replaces the row and counts its `evaluations` up.
 */
class CollectiveStore
{
  public:
    /// @param study name of it, for people
    CollectiveStore(Database& database,
                    const Scenario& scenario,
                    std::string study,
                    const Engine& engine,
                    const RunOptions& options);

    /// Stores a row and returns its number. Call inside a transaction.
    int64_t Put(const TimedCollective& timed);

  private:
    int64_t NetworkId();

    Database& m_database;
    const Scenario& m_scenario;
    std::string m_study;
    const Engine& m_engine;
    const RunOptions& m_options;
};

} // namespace scaleacross

#endif // SCALEACROSS_COLLECTIVE_STORE_H
