// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_SPAN_QUANTITY_H
#define SCALEACROSS_SPAN_QUANTITY_H

#include "core/explore/requirement.h"
#include "core/explore/search.h"
#include "core/spec/study.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace scaleacross
{

/**
 * Something of what joins the buildings, of which may be asked how much is enough.
 *
 * Values are plain numbers in `unit`. Where spans differ, a value is that of the scarcest or
 * longest one, and the others keep their ratio to it.
 */
struct SpanQuantity
{
    std::string word; //!< "span-capacity"
    std::string key;  //!< what of a study it is: "cluster.cross.capacity"
    std::string unit; //!< "bps", "km", "B", "1"
    std::string help;
    Sense sense{Sense::Least};

    std::function<double(const Scenario&)> get;
    std::function<void(Scenario&, double)> set;
    std::function<std::string(const Scenario&)> text; //!< its value, for people
    /// What is looked at; wider where the study's own value lies outside.
    std::function<ValueRange(const Scenario&)> range;
    /// Why this study has no such question, if that is so.
    std::function<std::optional<ConfigError>(const Study&)> refusal;
    /// The filter of a search: some plans do not count at a value.
    std::function<Filter(const Filter&)> filter;
};

const std::vector<SpanQuantity>& SpanQuantities();

/// The one with this word, or nullptr.
const SpanQuantity* FindSpanQuantity(const std::string& word);

/// NIC capacity of the smaller end of a span over what its capacity gives each span of an end: the
/// oversubscription that a study would say instead. None between two hubs.
std::optional<double> OversubscriptionOf(const ClusterSpec& cluster, const CrossLinkSpec& span);

} // namespace scaleacross

#endif // SCALEACROSS_SPAN_QUANTITY_H
