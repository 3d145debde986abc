// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_ENGINES_H
#define SCALEACROSS_ENGINES_H

#include "core/engine/engine.h"

#include <memory>
#include <string>

namespace scaleacross
{

/// The engine of this name, in this process. Throws ConfigError (where = `where`) for a name that
/// is not known.
std::unique_ptr<Engine> MakeEngine(const std::string& name, const std::string& where = "--engine");

} // namespace scaleacross

#endif // SCALEACROSS_ENGINES_H
