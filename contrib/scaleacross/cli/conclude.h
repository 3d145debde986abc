// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CONCLUDE_H
#define SCALEACROSS_CONCLUDE_H

#include "cli/explore-study.h"

namespace scaleacross
{

/// Fills what follows from the search: how sure the place of every plan is, how far from optimal
/// the best can be, the explanation, and what to know of the best plan. Domain: it has ended, if by
/// its limit, and has a winner.
void Conclude(const Study& study, const SearchSpace& space, Answer& answer);

/// Fills of these what is known at any time: how much better other plans can be, and what to know
/// of the best plan so far. Domain: there is a winner.
void ConcludeGap(const Study& study, const SearchSpace& space, Answer& answer);

} // namespace scaleacross

#endif // SCALEACROSS_CONCLUDE_H
