// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_TEMPORARY_FOLDER_H
#define SCALEACROSS_TESTS_TEMPORARY_FOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace scaleacross
{

/// A folder in the system's place for temporary files, gone with all that is in it at the end.
/// Every test that writes files has one: tests leave nothing behind, wherever they are run.
class TemporaryFolder
{
  public:
    TemporaryFolder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "scaleacross-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr)
        {
            throw std::runtime_error("no temporary folder can be made: " + name);
        }
        m_path = name;
    }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    ~TemporaryFolder()
    {
        std::error_code ignored;
        std::filesystem::permissions(m_path, std::filesystem::perms::owner_all, ignored);
        std::filesystem::remove_all(m_path, ignored);
    }

    const std::filesystem::path& Path() const
    {
        return m_path;
    }

    std::string Of(const std::string& name) const
    {
        return (m_path / name).string();
    }

    /// Writes a file and returns its path.
    std::string Write(const std::string& name, const std::string& text) const
    {
        std::ofstream(Of(name), std::ios::binary) << text;
        return Of(name);
    }

  private:
    std::filesystem::path m_path;
};

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_TEMPORARY_FOLDER_H
