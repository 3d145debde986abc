// SPDX-License-Identifier: GPL-2.0-only

#include "psn-bitmap.h"

#include <algorithm>
#include <bitset>

namespace scaleacross
{

void
PsnBitmap::Reset(uint64_t base)
{
    if (m_count > 0)
    {
        std::fill(m_words.begin(), m_words.end(), 0);
    }
    m_base = base;
    m_end = base;
    m_count = 0;
}

void
PsnBitmap::GrowFor(uint64_t psn)
{
    const uint64_t needed = psn / 64 - m_base / 64 + 1;
    if (needed <= m_words.size())
    {
        return;
    }
    uint64_t size = std::max<uint64_t>(1, m_words.size());
    while (size < needed)
    {
        size *= 2;
    }
    std::vector<uint64_t> words(size, 0);
    if (m_count > 0)
    {
        for (uint64_t word = m_base / 64; word <= (m_end - 1) / 64; ++word)
        {
            words[word & (size - 1)] = m_words[word & (m_words.size() - 1)];
        }
    }
    m_words.swap(words);
}

bool
PsnBitmap::Set(uint64_t psn)
{
    GrowFor(psn);
    uint64_t& word = Word(psn);
    const uint64_t bit = uint64_t{1} << (psn % 64);
    if ((word & bit) != 0)
    {
        return false;
    }
    word |= bit;
    ++m_count;
    m_end = std::max(m_end, psn + 1);
    return true;
}

void
PsnBitmap::Clear(uint64_t psn)
{
    if (Test(psn))
    {
        Word(psn) &= ~(uint64_t{1} << (psn % 64));
        --m_count;
    }
}

void
PsnBitmap::AdvanceTo(uint64_t base)
{
    if (m_count > 0)
    {
        // Whole words first lose what lies below `base`, the last one only its lower bits.
        const uint64_t stop = std::min(base, m_end);
        for (uint64_t psn = m_base; psn < stop; psn = (psn / 64 + 1) * 64)
        {
            uint64_t& word = Word(psn);
            uint64_t below = ~uint64_t{0};
            if (stop / 64 == psn / 64)
            {
                below = (uint64_t{1} << (stop % 64)) - 1;
            }
            m_count -= std::bitset<64>(word & below).count();
            word &= ~below;
        }
    }
    m_base = base;
    m_end = std::max(m_end, base);
}

} // namespace scaleacross
