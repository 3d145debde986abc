// SPDX-License-Identifier: GPL-2.0-only

#include "cli/output-file.h"

#include "core/base/errors.h"
#include "core/base/text.h"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <sys/stat.h>
#include <unistd.h>

namespace scaleacross
{

namespace
{

/// False, with errno set, if not all of it could be written.
bool
Write(const std::string& path, const std::string& text)
{
    std::ofstream file(path, std::ios::binary);
    file << text;
    file.close();
    return !file.fail();
}

/// Whether a path leads to what a stream of this process writes to.
bool
IsStream(const std::string& path, int stream)
{
    struct stat file = {};
    struct stat open = {};
    return stat(path.c_str(), &file) == 0 && fstat(stream, &open) == 0 &&
           file.st_dev == open.st_dev && file.st_ino == open.st_ino;
}

/// The file that is replaced: a link stays one.
std::filesystem::path
FileBehind(const std::string& path)
{
    std::error_code missing;
    const std::filesystem::path file = std::filesystem::canonical(path, missing);
    return missing ? std::filesystem::path(path) : file;
}

/// Throws ConfigError where the file is the input, or where most programs mean no file.
void
ExpectOther(const std::string& path, const std::string& input, const std::string& option)
{
    if (path == "-")
    {
        throw ConfigError(option,
                          "'-' is no file",
                          "a file in a folder that you may write to",
                          "/dev/stdout is standard output, ./- a file of that name");
    }
    std::error_code ignored;
    if (std::filesystem::equivalent(path, input, ignored))
    {
        throw ConfigError(option,
                          Quoted(path) + " is what is read",
                          "another file",
                          "nothing was written");
    }
}

/// The place that a path leads to, whether there is a file or not, through links to nothing too.
std::filesystem::path
PlaceOf(const std::string& path)
{
    namespace fs = std::filesystem;
    std::error_code ignored;
    fs::path place = fs::absolute(path);
    // As many links as systems follow.
    for (int links = 0; links < 40 && fs::is_symlink(place, ignored); links++)
    {
        const fs::path to = fs::read_symlink(place, ignored);
        place = to.is_absolute() ? to : place.parent_path() / to;
    }
    return fs::weakly_canonical(place, ignored);
}

} // namespace

void
ExpectBesideDatabase(const std::string& path,
                     const std::string& database,
                     const std::string& option)
{
    const std::filesystem::path place = PlaceOf(path);
    for (const char* suffix : {"", "-journal", "-wal", "-shm"})
    {
        std::filesystem::path own = PlaceOf(database);
        own += suffix;
        std::error_code missing;
        if (place == own || std::filesystem::equivalent(place, own, missing))
        {
            throw ConfigError(option,
                              Quoted(path) + " is where results are kept",
                              "another file than the database " + Quoted(database) +
                                  " and those that SQLite keeps beside it",
                              "nothing has run; give another file, or another --db");
        }
    }
}

void
ExpectOutput(const std::string& path, const std::string& input, const std::string& option)
{
    namespace fs = std::filesystem;
    ExpectOther(path, input, option);
    if (IsStream(path, STDOUT_FILENO) || IsStream(path, STDERR_FILENO))
    {
        return;
    }
    const bool direct = fs::exists(path) && !fs::is_regular_file(path);
    const fs::path written = direct ? fs::path(path) : fs::absolute(FileBehind(path)).parent_path();
    if (fs::is_directory(path) || access(written.c_str(), W_OK) != 0)
    {
        throw ConfigError(option,
                          "cannot write " + Quoted(path) + ": " +
                              (fs::is_directory(path) ? "it is a folder" : std::strerror(errno)),
                          "a file in a folder that you may write to",
                          "nothing has run");
    }
}

void
WriteOutput(const std::string& path,
            const std::string& text,
            const std::string& input,
            const std::string& option)
{
    namespace fs = std::filesystem;
    std::error_code ignored;
    ExpectOther(path, input, option);
    if (IsStream(path, STDOUT_FILENO))
    {
        std::cout << text;
        FlushOutput();
        return;
    }
    if (IsStream(path, STDERR_FILENO))
    {
        std::cerr << text;
        return;
    }
    const auto type = fs::status(path, ignored).type();
    const bool direct = type != fs::file_type::not_found && type != fs::file_type::regular;
    const std::string file = FileBehind(path).string();
    const std::string other = direct ? path : file + ".part-" + std::to_string(getpid());
    errno = 0;
    bool written = Write(other, text);
    const bool full = errno == ENOSPC || errno == EDQUOT || errno == EIO || errno == EFBIG;
    std::string why = std::strerror(errno);
    if (written && !direct)
    {
        std::error_code failed;
        fs::rename(other, file, failed);
        written = !failed;
        why = failed.message();
    }
    if (written)
    {
        return;
    }
    if (!direct)
    {
        fs::remove(other, ignored);
    }
    if (full)
    {
        throw RunError(option + ": " + Quoted(path) + " could not be written: " + why);
    }
    throw ConfigError(option,
                      "cannot write " + Quoted(path) + ": " + why,
                      "a file in a folder that you may write to",
                      "");
}

void
FlushOutput()
{
    errno = 0;
    std::cout.flush();
    if (!std::cout)
    {
        throw RunError(std::string("the output could not be written") +
                       (errno != 0 ? std::string(": ") + std::strerror(errno) : ""));
    }
}

} // namespace scaleacross
