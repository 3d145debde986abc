// SPDX-License-Identifier: GPL-2.0-only

#include "cli/claimed-file.h"

#include "core/base/errors.h"
#include "core/base/input-files.h"
#include "core/base/text.h"

#include <filesystem>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <utility>
#include <vector>

namespace scaleacross
{

namespace
{

/// What a file is to the system, by whatever name.
using Node = std::pair<dev_t, ino_t>;

std::optional<Node>
NodeOf(const std::string& path)
{
    struct stat file = {};
    return stat(path.c_str(), &file) == 0 ? std::optional<Node>({file.st_dev, file.st_ino})
                                          : std::nullopt;
}

/// The place that a path leads to, whether there is a file or not, through links to nothing too.
std::string
PlaceOf(const std::string& path)
{
    namespace fs = std::filesystem;
    std::error_code ignored;
    fs::path place = fs::absolute(path, ignored);
    // As many links as systems follow.
    for (int links = 0; links < 40 && fs::is_symlink(place, ignored); links++)
    {
        const fs::path to = fs::read_symlink(place, ignored);
        place = to.is_absolute() ? to : place.parent_path() / to;
    }
    const fs::path known = fs::weakly_canonical(place, ignored);
    return known.empty() ? place.string() : known.string();
}

/// The place of a file; of a database also those of its journal, log and index of that.
std::vector<std::string>
PlacesOf(const std::string& path, bool isDatabase)
{
    std::vector<std::string> places = {PlaceOf(path)};
    for (const char* suffix : {"-journal", "-wal", "-shm"})
    {
        if (isDatabase)
        {
            places.push_back(places.front() + suffix);
        }
    }
    return places;
}

/// What has been read, to be looked up: a run may read a file for every rank, and write as many.
class Inputs
{
  public:
    const InputFile* At(const std::string& place)
    {
        Update();
        const auto found = m_places.find(place);
        if (found != m_places.end())
        {
            return &found->second;
        }
        const auto node = NodeOf(place);
        const auto other = node ? m_nodes.find(*node) : m_nodes.end();
        // A number is given again once its file is gone.
        return other != m_nodes.end() && NodeOf(other->second) == node ? &m_places.at(other->second)
                                                                       : nullptr;
    }

  private:
    void Update()
    {
        for (const InputFile& file : InputFiles(m_seen))
        {
            m_seen++;
            for (const std::string& place : PlacesOf(file.place, file.isDatabase))
            {
                m_places.emplace(place, file);
                if (const auto node = NodeOf(place))
                {
                    m_nodes[*node] = place;
                }
            }
        }
    }

    size_t m_seen{0};
    std::map<std::string, InputFile> m_places;
    std::map<Node, std::string> m_nodes;
};

} // namespace

void
RefuseInputs(const ClaimedFile& file)
{
    static Inputs inputs;
    const std::string own = PlaceOf(file.path);
    for (const std::string& place : PlacesOf(file.path, file.isDatabase))
    {
        const InputFile* input = inputs.At(place);
        if (input == nullptr ||
            (file.isDatabase && input->isDatabase && PlaceOf(input->place) == own))
        {
            continue;
        }
        const bool isNamed = place == own && input->path == file.path;
        throw ConfigError(file.option,
                          Quoted(file.path) +
                              (place == own ? " is what is read" : " has beside it what is read") +
                              (isNamed ? "" : ": " + Quoted(input->path)),
                          "a file that neither the command nor its study names",
                          "nothing was written");
    }
}

void
Claim(const ClaimedFile& file)
{
    static std::map<std::string, ClaimedFile> claims; // of the command that this process runs
    const std::vector<std::string> places = PlacesOf(file.path, file.isDatabase);
    for (const std::string& place : places)
    {
        const auto found = claims.find(place);
        if (found == claims.end() || found->second.option == file.option)
        {
            continue;
        }
        const ClaimedFile& other = found->second;
        if (file.isDatabase || other.isDatabase)
        {
            const ClaimedFile& database = file.isDatabase ? file : other;
            const ClaimedFile& beside = file.isDatabase ? other : file;
            throw ConfigError(beside.option,
                              Quoted(beside.path) + " is where results are kept",
                              "another file than the database " + Quoted(database.path) +
                                  " and those that SQLite keeps beside it",
                              "nothing has run; give another file, or another " + database.option);
        }
        throw ConfigError(file.option,
                          Quoted(file.path) + " is what " + other.option + " writes, too",
                          "a file for each",
                          "nothing has run");
    }
    for (const std::string& place : places)
    {
        claims.emplace(place, file);
    }
}

} // namespace scaleacross
