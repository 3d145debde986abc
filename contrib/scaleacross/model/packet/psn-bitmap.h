// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PSN_BITMAP_H
#define SCALEACROSS_PSN_BITMAP_H

#include <cstdint>
#include <vector>

namespace scaleacross
{

/**
 * A set of PSNs from a moving base on, a bit each.
 *
 * The words form a ring which is doubled when a PSN lies beyond it: memory follows the largest
 * distance from the base there has been, one bit per packet, and none is taken as long as the set
 * stays empty.
 *
 * Worked case: base 100, Set(103) and Set(170) make a ring of two words; AdvanceTo(104) leaves 170
 * alone.
 */
class PsnBitmap
{
  public:
    /// Empties the set and moves its base, in any direction.
    void Reset(uint64_t base);

    bool Empty() const
    {
        return m_count == 0;
    }

    /// PSNs in the set.
    uint64_t Count() const
    {
        return m_count;
    }

    /// PSN after the largest that has been set since the set was empty.
    uint64_t End() const
    {
        return m_end;
    }

    /// True if `psn` is in the set; never below the base.
    bool Test(uint64_t psn) const
    {
        return psn >= m_base && psn < m_end && (Word(psn) >> (psn % 64) & 1U) != 0;
    }

    /// Adds a PSN; false if it was there. Domain: not below the base.
    bool Set(uint64_t psn);

    /// Takes a PSN out if it is there.
    void Clear(uint64_t psn);

    /// Moves the base up and takes out all below. Domain: not below the old base.
    void AdvanceTo(uint64_t base);

    /// Bits there is memory for.
    uint64_t Capacity() const
    {
        return m_words.size() * 64;
    }

  private:
    const uint64_t& Word(uint64_t psn) const
    {
        return m_words[psn / 64 & (m_words.size() - 1)];
    }

    uint64_t& Word(uint64_t psn)
    {
        return m_words[psn / 64 & (m_words.size() - 1)];
    }

    void GrowFor(uint64_t psn);

    std::vector<uint64_t> m_words; //!< a power of two of them; PSN p in word p / 64 mod size
    uint64_t m_base{0};
    uint64_t m_end{0};
    uint64_t m_count{0};
};

} // namespace scaleacross

#endif // SCALEACROSS_PSN_BITMAP_H
