// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/text-file.h"

#include "core/base/errors.h"
#include "core/base/input-files.h"
#include "core/base/text.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>

namespace scaleacross
{

namespace
{

/// Bytes of the well-formed UTF-8 sequence at the start of `text`; 0 if there is none.
size_t
Utf8Length(std::string_view text)
{
    const auto byte = [&](size_t i) {
        return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
    };
    const auto follows = [&](size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
    const unsigned lead = byte(0);
    if (lead < 0x80)
    {
        return 1;
    }
    // The second byte's range shuts out overlong forms, surrogates and what lies beyond U+10FFFF.
    if (lead >= 0xc2 && lead <= 0xdf)
    {
        return follows(1) ? 2 : 0;
    }
    if (lead >= 0xe0 && lead <= 0xef)
    {
        const bool fits = (lead != 0xe0 || byte(1) >= 0xa0) && (lead != 0xed || byte(1) <= 0x9f);
        return follows(1) && follows(2) && fits ? 3 : 0;
    }
    if (lead >= 0xf0 && lead <= 0xf4)
    {
        const bool fits = (lead != 0xf0 || byte(1) >= 0x90) && (lead != 0xf4 || byte(1) <= 0x8f);
        return follows(1) && follows(2) && follows(3) && fits ? 4 : 0;
    }
    return 0;
}

std::string
Hex(unsigned char byte)
{
    static const char* const hex = "0123456789abcdef";
    return std::string("0x") + hex[byte >> 4] + hex[byte & 15];
}

ConfigError
TooLarge(const std::string& name, size_t most)
{
    return ConfigError(name,
                       "the file is too large",
                       "at most " + std::to_string(most) + " bytes",
                       "is this the right file?");
}

/// All of a stream that is checked as CheckText() does.
std::string
ReadStream(std::istream& stream, const std::string& name, size_t most = kMostTextBytes)
{
    // One byte more than allowed: whatever has a size may have grown since it was looked at.
    std::string text(most + 1, '\0');
    stream.read(text.data(), static_cast<std::streamsize>(text.size()));
    if (stream.bad())
    {
        throw ConfigError(name, "reading failed", "a file that can be read", "");
    }
    text.resize(static_cast<size_t>(stream.gcount()));
    CheckText(text, name, most);
    return text;
}

} // namespace

void
CheckText(std::string_view text, const std::string& name, size_t most)
{
    if (text.size() > most)
    {
        throw TooLarge(name, most);
    }
    size_t line = 1;
    size_t column = 1;
    bool blank = true;
    for (size_t i = 0; i < text.size(); column++)
    {
        const auto byte = static_cast<unsigned char>(text[i]);
        const size_t length = Utf8Length(text.substr(i));
        const bool space = byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r';
        if (length == 0 || (byte < 0x20 && !space) || byte == 0x7f)
        {
            throw ConfigError(
                name + ":" + std::to_string(line) + ":" + std::to_string(column),
                "the byte " + Hex(byte) +
                    (length == 0 ? " is not UTF-8" : " is a control character, not text"),
                "UTF-8 text",
                "is this the right file?");
        }
        blank = blank && space;
        if (byte == '\n')
        {
            line++;
            column = 0;
        }
        i += length;
    }
    if (blank)
    {
        throw ConfigError(name, "the file is empty", "", "see doc/study-file.md for its keys");
    }
}

namespace
{

/// A regular file that can be read, from its beginning; `example`: what one in a folder may be
/// called.
std::ifstream
Opened(const std::string& path, const std::string& example)
{
    std::error_code code;
    const auto status = std::filesystem::status(path, code);
    if (status.type() == std::filesystem::file_type::not_found)
    {
        throw ConfigError(path, "there is no such file", "a file that can be read", "");
    }
    if (status.type() == std::filesystem::file_type::directory)
    {
        throw ConfigError(path,
                          "is a directory",
                          "a file",
                          "name the file in it, e.g. " +
                              (std::filesystem::path(path) / example).string());
    }
    if (code)
    {
        throw ConfigError(path, "cannot be read: " + code.message(), "a file that can be read", "");
    }
    // A pipe or a device might never end, or never begin.
    if (status.type() != std::filesystem::file_type::regular)
    {
        throw ConfigError(path, "is not a regular file", "a regular file", "");
    }
    std::ifstream file(path, std::ios::binary);
    if (!file)
    {
        throw ConfigError(path,
                          std::string("cannot be read: ") + std::strerror(errno),
                          "a file that can be read",
                          "check its permissions");
    }
    NoteInputFile(path);
    return file;
}

} // namespace

std::string
ReadTextFile(const std::string& path, size_t most)
{
    std::ifstream file = Opened(path, "study.yaml");
    return ReadStream(file, path, most);
}

std::string
ReadBinaryFile(const std::string& path)
{
    std::ifstream file = Opened(path, std::filesystem::path(path).filename().string());
    file.seekg(0, std::ios::end);
    std::string content(static_cast<size_t>(std::max<std::streamoff>(file.tellg(), 0)), '\0');
    file.seekg(0);
    file.read(content.data(), static_cast<std::streamsize>(content.size()));
    if (!file)
    {
        throw ConfigError(path, "reading failed", "a file that can be read", "");
    }
    return content;
}

std::string
ReadStandardInput()
{
    const std::string path = "/dev/stdin";
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored))
    {
        NoteInputFile(path); // the shell has opened a file for it
    }
    // It can be read once, and a study is read for every point of a sweep.
    static const std::string text = ReadStream(std::cin, kStandardInput);
    return text;
}

} // namespace scaleacross
