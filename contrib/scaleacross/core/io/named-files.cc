// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/named-files.h"

#include "core/base/input-files.h"
#include "core/io/chakra/chakra-files.h"

#include <filesystem>
#include <system_error>

namespace scaleacross
{

namespace
{

namespace fs = std::filesystem;

bool
NoteFile(const fs::path& file)
{
    std::error_code none;
    const bool isThere = fs::is_regular_file(file, none);
    if (isThere)
    {
        NoteInputFile(file.string());
    }
    return isThere;
}

void
NoteWord(const std::string& word, const std::string& folder)
{
    if (word.find_first_of("/.") != std::string::npos)
    {
        NoteFile(fs::path(folder) / word);
        NoteFile(word);
    }
}

void
NoteValue(const std::string& text, const std::string& folder)
{
    NoteWord(text, folder); // which may have blanks
    const char* const between = " \t\n'\":=";
    for (size_t begin = text.find_first_not_of(between); begin != std::string::npos;)
    {
        const size_t end = text.find_first_of(between, begin);
        NoteWord(text.substr(begin, end - begin), folder);
        begin = text.find_first_not_of(between, end);
    }
}

void
NoteTraces(const std::string& files, const std::string& folder)
{
    const std::string from = (fs::path(folder) / files).string();
    NoteFile(ChakraGroupsFile(from));
    for (uint32_t rank = 0; NoteFile(ChakraFile(from, rank)); rank++)
    {
    }
}

} // namespace

void
NoteNamedFiles(const YamlNode& root, const std::string& folder)
{
    if (root.kind == YamlNode::Kind::Scalar)
    {
        NoteValue(root.text, folder);
    }
    for (size_t i = 0; i < root.children.size(); i++)
    {
        const YamlNode& child = root.children[i];
        if (i < root.keys.size() && root.keys[i].text == "trace")
        {
            const YamlNode* files =
                child.kind == YamlNode::Kind::Map ? child.Find("files") : &child;
            NoteTraces(files == nullptr ? "" : files->text, folder);
        }
        NoteNamedFiles(child, folder);
    }
}

} // namespace scaleacross
