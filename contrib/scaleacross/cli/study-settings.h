// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STUDY_SETTINGS_H
#define SCALEACROSS_STUDY_SETTINGS_H

#include "cli/command.h"
#include "cli/show/report-json.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/// A study as text, by which two studies are the same or not, whatever words say it.
struct StudyMeaning
{
    std::string search; //!< all that decides what a search of it finds
    std::string rest;   //!< its name, baselines and further engines

    bool operator==(const StudyMeaning& other) const
    {
        return search == other.search && rest == other.rest;
    }

    bool operator!=(const StudyMeaning& other) const
    {
        return !(*this == other);
    }
};

StudyMeaning MeaningOf(const Study& study);

/**
 * Finds out which of the settings of --set and --sweep change a study, by reading it without them:
 * 10km where the file says 10000m changes nothing. It remembers what it has read, for the points of
 * a grid share most of it.
 */
class SettingsFinder
{
  public:
    explicit SettingsFinder(StudyScope scope = StudyScope::Training)
        : m_scope(scope)
    {
    }

    /// Of the options by which the study was read, those that change it; of equal keys the last.
    std::vector<StudySetting> Find(const CommonOptions& options, const Study& study);

  private:
    /// With these in place of the --set of the options; none where there is no such study.
    const std::optional<StudyMeaning>& With(const CommonOptions& options,
                                            const std::vector<std::string>& set);

    StudyScope m_scope;
    std::map<std::vector<std::string>, std::optional<StudyMeaning>> m_known; //!< by --set
};

/// Key and value of each --set, in their order; of equal keys the last.
std::vector<std::pair<std::string, std::string>> GivenSettings(const CommonOptions& options);

/// Whether the study is the one that its file says, as far as a search of it goes.
bool IsAsWritten(const Study& study);

/// What heads all that is told of a study: its name, and what was set of it, as in
/// "small, cluster.cross.distance=30km".
std::string TitleOf(const Study& study);

/// The same of settings alone: "cluster.cross.distance=30km, network.qps=8"; "" of none.
std::string SettingsText(const std::vector<StudySetting>& settings);

/// {"cluster.cross.distance": "30km"}.
Json SettingsJson(const std::vector<StudySetting>& settings);

/// For a table of rows: `changes` (SettingsText()) as the first column; the rows alone where
/// nothing was set.
Json WithChanges(const Study& study, const Json& rows);

} // namespace scaleacross

#endif // SCALEACROSS_STUDY_SETTINGS_H
