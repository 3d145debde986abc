// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/file-chain.h"

#include "core/base/errors.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

namespace scaleacross
{

FileChain::FileChain(std::string folder)
    : m_folder(std::move(folder))
{
}

std::string
FileChain::Resolve(const std::string& path) const
{
    return (std::filesystem::path(m_folder) / path).string();
}

FileChain
FileChain::Into(const std::string& file) const
{
    // "./a.yaml" and "a.yaml" are one file.
    std::error_code ignored;
    std::string real = std::filesystem::weakly_canonical(file, ignored).string();
    real = real.empty() ? file : real;
    if (std::find(m_files.begin(), m_files.end(), real) != m_files.end())
    {
        throw ConfigError(file,
                          "the file stands on itself",
                          "a preset or a file that does not lead back to it",
                          "");
    }
    FileChain chain(std::filesystem::path(file).parent_path().string());
    chain.m_files = m_files;
    chain.m_files.push_back(real);
    return chain;
}

} // namespace scaleacross
