// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_HELD_KEYS_H
#define SCALEACROSS_HELD_KEYS_H

#include "core/explore/search-space.h"
#include "core/spec/study.h"

#include <string>
#include <vector>

namespace scaleacross
{

/// A key of plan or network that a study gives and its search does not name: all plans have its
/// value.
struct HeldKey
{
    std::string key;   //!< "plan.tp"
    std::string value; //!< as a study says it
};

/// Those of a study, in the order of PlanFields().
std::vector<HeldKey> HeldKeys(const Study& study);

/// Which keys are held, at what, and what to write to have them searched, in sentences; "" where
/// none is.
std::string HeldText(const Study& study);

/// A field in which a plan lies outside a space, and why the space has no plan with its value.
struct FieldOutside
{
    enum class Why
    {
        Held,    //!< the study gives another value, and its search does not name the key
        Unnamed, //!< neither names it: it is as usual
        Listed   //!< the search has other values
    };

    std::string key;
    std::string value; //!< the plan's
    Why why;
    std::vector<std::string> values; //!< of the space
};

/// Every field in which a plan lies outside the space of a study, in the order of PlanFields();
/// empty if the space holds it.
std::vector<FieldOutside> FieldsOutside(const Study& study,
                                        const SearchSpace& space,
                                        const Plan& plan);

/// "tp 2 (held at 1), sharding fsdp (search has zero1, hsdp), chunks 2 (not searched: 1),
/// network.qps 4 (held at 16) and 3 more": the first four of them.
std::string OutsideText(const std::vector<FieldOutside>& fields);

} // namespace scaleacross

#endif // SCALEACROSS_HELD_KEYS_H
