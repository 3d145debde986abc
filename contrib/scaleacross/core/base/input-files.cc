// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/input-files.h"

#include <map>
#include <mutex>
#include <sys/stat.h>
#include <utility>

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

/// Tables, since a run may read a file for every rank, and write as many.
struct Noted
{
    std::mutex mutex;
    std::map<std::string, InputFile> files; //!< by place
    std::map<Node, std::string> places;
};

Noted&
AllNoted()
{
    static Noted noted;
    return noted;
}

void
Note(const std::filesystem::path& place, const InputFile& file)
{
    Noted& noted = AllNoted();
    const std::lock_guard lock(noted.mutex);
    noted.files.emplace(place.string(), file);
    if (const auto node = NodeOf(place.string()))
    {
        noted.places[*node] = place.string();
    }
}

} // namespace

void
NoteInputFile(const std::string& path)
{
    Note(PlaceOf(path), {path, ""});
}

void
NoteInputDatabase(const std::string& path)
{
    for (const std::filesystem::path& place : PlacesOfDatabase(path))
    {
        Note(place, {path, path});
    }
}

std::optional<InputFile>
InputFileAt(const std::string& path)
{
    Noted& noted = AllNoted();
    const std::lock_guard lock(noted.mutex);
    const auto found = noted.files.find(PlaceOf(path).string());
    if (found != noted.files.end())
    {
        return found->second;
    }
    const auto node = NodeOf(path);
    const auto place = node ? noted.places.find(*node) : noted.places.end();
    // A number is given again once its file is gone.
    std::error_code missing;
    return place != noted.places.end() && std::filesystem::equivalent(place->second, path, missing)
               ? std::optional<InputFile>(noted.files.at(place->second))
               : std::nullopt;
}

std::filesystem::path
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
    return known.empty() ? place : known;
}

std::vector<std::filesystem::path>
PlacesOfDatabase(const std::string& path)
{
    std::vector<std::filesystem::path> places;
    for (const char* suffix : {"", "-journal", "-wal", "-shm"})
    {
        places.push_back(PlaceOf(path));
        places.back() += suffix;
    }
    return places;
}

} // namespace scaleacross
