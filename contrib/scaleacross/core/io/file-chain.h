// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_FILE_CHAIN_H
#define SCALEACROSS_FILE_CHAIN_H

#include <string>
#include <vector>

namespace scaleacross
{

/**
 * The files that led to the one being read, each of which named the next: a study its GPU's file,
 * that one a preset, that one a curve.
 *
 * Paths in a file are relative to its own folder, and no file may stand on itself.
 */
class FileChain
{
  public:
    /// Of a study that stands in `folder`, or what is read without one. Implicit: a reader that is
    /// called with a folder is at the beginning of a chain.
    FileChain(std::string folder);

    /// Where a path in the file that is being read leads.
    std::string Resolve(const std::string& path) const;

    /// The chain for reading what a file says. Throws ConfigError (where = file) if it is being
    /// read already.
    FileChain Into(const std::string& file) const;

  private:
    std::string m_folder;
    std::vector<std::string> m_files;
};

} // namespace scaleacross

#endif // SCALEACROSS_FILE_CHAIN_H
