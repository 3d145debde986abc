// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CONCLUDE_H
#define SCALEACROSS_CONCLUDE_H

#include "cli/explore-study.h"

#include <optional>

namespace scaleacross
{

/// Gap() of an answer's best plan. Domain: there is a winner.
std::optional<double> GapOf(const Answer& answer);

/// Fills what follows from the search: how sure the place of every plan is, how far from optimal
/// the best can be, and the explanation. Domain: it has ended, if by its limit, and has a winner.
void Conclude(const Study& study, const SearchSpace& space, Answer& answer);

} // namespace scaleacross

#endif // SCALEACROSS_CONCLUDE_H
