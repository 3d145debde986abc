// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CHAKRA_FILES_H
#define SCALEACROSS_CHAKRA_FILES_H

#include <cstdint>
#include <string>

namespace scaleacross
{

/// The file of a rank's trace: "step.3.et" of "step".
inline std::string
ChakraFile(const std::string& files, uint32_t rank)
{
    return files + "." + std::to_string(rank) + ".et";
}

/// The file of the process groups: "step.groups.json" of "step".
inline std::string
ChakraGroupsFile(const std::string& files)
{
    return files + ".groups.json";
}

} // namespace scaleacross

#endif // SCALEACROSS_CHAKRA_FILES_H
