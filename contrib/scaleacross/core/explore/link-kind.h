// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_LINK_KIND_H
#define SCALEACROSS_LINK_KIND_H

#include "core/engine/run-report.h"

#include <string>

namespace scaleacross
{

/// What kind of link a report names: scale-up, NIC, leaf, zone, or span of what runs between
/// buildings; of a port with another name that name.
std::string LinkKindOf(const ResourceReport& link);

/// What the same port is called of all stages of a building, "east NIC out" of "stage 3 in east NIC
/// out"; of other links their name.
std::string LinkFamilyOf(const ResourceReport& link);

} // namespace scaleacross

#endif // SCALEACROSS_LINK_KIND_H
