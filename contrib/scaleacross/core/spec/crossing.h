// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_CROSSING_H
#define SCALEACROSS_CROSSING_H

#include <array>
#include <cstdint>
#include <string>

namespace scaleacross
{

/// A degree of a parallel plan, and the coordinate of a rank that counts it.
enum class Dimension : uint8_t
{
    Tensor,
    Context,
    Expert,
    Pipeline,
    Data //!< dp / ep: what expert parallelism leaves of data parallelism
};

constexpr uint32_t kDimensions = 5;

std::string ToString(Dimension value); //!< "tp", "cp", "ep", "pp", "dp"

/**
 * What crosses buildings, by the order in which a plan's dimensions make up the number of a rank.
 *
 * Ranks are numbered over the GPUs building by building, so the innermost dimension stays on
 * neighbouring GPUs and the outermost is what buildings divide. A dimension may stand at several
 * places: one of its parts then has what the others, which give their counts, leave.
 *
 * Worked case: tp-cp-ep-pp4-dp-pp over four buildings with pp = 8: four stages lie in a building,
 * data parallelism spans two buildings, and the pipeline goes on from this pair of buildings to the
 * other.
 */
struct Crossing
{
    struct Part
    {
        Dimension dimension{Dimension::Tensor};
        uint32_t count{0}; //!< 0: what the other parts of the dimension leave
    };

    static constexpr uint32_t kMostParts = 8;

    std::array<Part, kMostParts> parts{}; //!< inner to outer
    uint32_t size{0};                     //!< of them in use

    static const Crossing Data;     //!< DP-out: [tp, cp, ep, pp, dp], buildings hold replicas
    static const Crossing Pipeline; //!< PP-out: [tp, cp, ep, dp, pp], buildings hold stages
    static const Crossing Expert;   //!< EP-out: [tp, cp, pp, dp, ep], buildings hold experts

    Dimension Outermost() const
    {
        return parts[size - 1].dimension;
    }

    /// Whether it is one of the three named ones, of which nothing but the outermost dimension may
    /// cross buildings.
    bool IsNamed() const;

    /**
     * "dp", "pp", "ep", or all five dimensions inner to outer, joined by "-".
     *
     * Throws ValueError for an unknown or missing dimension, a dimension whose parts
     * all have counts or more than one of which has none, a count below 2, neighbouring parts of
     * one dimension, and more than kMostParts parts.
     */
    static Crossing Parse(const std::string& text);
};

bool operator==(const Crossing& a, const Crossing& b);

inline bool
operator!=(const Crossing& a, const Crossing& b)
{
    return !(a == b);
}

/// What Parse() reads; the short word where there is one.
std::string ToString(const Crossing& value);

/// For tables and sentences: "DP-out", "PP-out", "EP-out", or the order.
std::string NameOf(const Crossing& value);

/// What Parse() allows, for messages.
extern const char* const kCrossingAllowed;

inline constexpr Crossing Crossing::Data{{{{Dimension::Tensor, 0},
                                           {Dimension::Context, 0},
                                           {Dimension::Expert, 0},
                                           {Dimension::Pipeline, 0},
                                           {Dimension::Data, 0}}},
                                         5};
inline constexpr Crossing Crossing::Pipeline{{{{Dimension::Tensor, 0},
                                               {Dimension::Context, 0},
                                               {Dimension::Expert, 0},
                                               {Dimension::Data, 0},
                                               {Dimension::Pipeline, 0}}},
                                             5};
inline constexpr Crossing Crossing::Expert{{{{Dimension::Tensor, 0},
                                             {Dimension::Context, 0},
                                             {Dimension::Pipeline, 0},
                                             {Dimension::Data, 0},
                                             {Dimension::Expert, 0}}},
                                           5};

} // namespace scaleacross

#endif // SCALEACROSS_CROSSING_H
