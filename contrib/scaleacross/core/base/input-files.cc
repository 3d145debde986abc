// SPDX-License-Identifier: GPL-2.0-only

#include "core/base/input-files.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>
#include <utility>

namespace scaleacross
{

namespace
{

struct Noted
{
    std::mutex mutex;
    std::vector<InputFile> files;
    std::set<std::pair<std::string, bool>> known; // a run may read a file for every rank
};

Noted&
AllNoted()
{
    static Noted noted;
    return noted;
}

void
Note(const std::string& path, bool isDatabase)
{
    std::error_code ignored; // of a folder that is gone: the path as it is will do
    const std::string place = std::filesystem::absolute(path, ignored).string();
    Noted& noted = AllNoted();
    const std::lock_guard lock(noted.mutex);
    if (noted.known.emplace(place, isDatabase).second)
    {
        noted.files.push_back({path, place, isDatabase});
    }
}

} // namespace

void
NoteInputFile(const std::string& path)
{
    Note(path, false);
}

void
NoteInputDatabase(const std::string& path)
{
    Note(path, true);
}

std::vector<InputFile>
InputFiles(size_t from)
{
    Noted& noted = AllNoted();
    const std::lock_guard lock(noted.mutex);
    const auto begin = static_cast<std::ptrdiff_t>(std::min(from, noted.files.size()));
    return {noted.files.begin() + begin, noted.files.end()};
}

} // namespace scaleacross
