// SPDX-License-Identifier: GPL-2.0-only

#include "cli/output-file.h"

#include "cli/claimed-file.h"
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

/// Whether a path is no file that could be lost: a device, a pipe, a folder.
bool
IsDirect(const std::string& path)
{
    std::error_code ignored;
    const auto type = std::filesystem::status(path, ignored).type();
    return type != std::filesystem::file_type::not_found &&
           type != std::filesystem::file_type::regular;
}

/// Throws ConfigError where an option's file is not its own.
void
ClaimFile(const ClaimedFile& file, Existing existing)
{
    if (IsDirect(file.path))
    {
        return;
    }
    if (existing == Existing::Replaced)
    {
        RefuseInputs(file);
    }
    Claim(file);
}

/// The same of a file, which may be a stream: that takes what several options write.
void
ClaimOutput(const std::string& path, const std::string& option, Existing existing)
{
    if (path == "-")
    {
        throw ConfigError(option,
                          "'-' is no file",
                          "a file in a folder that you may write to",
                          "/dev/stdout is standard output, ./- a file of that name");
    }
    if (!IsStream(path, STDOUT_FILENO) && !IsStream(path, STDERR_FILENO))
    {
        ClaimFile({option, path, false}, existing);
    }
}

} // namespace

void
ExpectOutput(const std::string& path, const std::string& option, Existing existing)
{
    namespace fs = std::filesystem;
    if (path.empty())
    {
        return;
    }
    ClaimOutput(path, option, existing);
    if (IsStream(path, STDOUT_FILENO) || IsStream(path, STDERR_FILENO))
    {
        return;
    }
    const fs::path written =
        IsDirect(path) ? fs::path(path) : fs::absolute(FileBehind(path)).parent_path();
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
ExpectDatabase(const std::string& path, const std::string& option)
{
    if (!path.empty())
    {
        ClaimFile({option, path, true}, Existing::Replaced);
    }
}

void
WriteOutput(const std::string& path,
            const std::string& text,
            const std::string& option,
            Existing existing)
{
    namespace fs = std::filesystem;
    std::error_code ignored;
    ClaimOutput(path, option, existing);
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
    const bool direct = IsDirect(path);
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
