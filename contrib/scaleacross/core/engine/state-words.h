// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_STATE_WORDS_H
#define SCALEACROSS_STATE_WORDS_H

#include "core/base/units.h"

#include <cstdint>
#include <cstring>
#include <vector>

namespace scaleacross
{

/**
 * A state written down as whole numbers, so that two states are equal if their words are.
 *
 * Doubles are written bit by bit and addresses as they are: words are compared within one run only.
 */
class StateWords
{
  public:
    void Add(uint64_t number)
    {
        m_words.push_back(number);
    }

    void Add(Duration time)
    {
        m_words.push_back(static_cast<uint64_t>(time.Ps()));
    }

    void Add(double value)
    {
        uint64_t bits = 0;
        static_assert(sizeof bits == sizeof value, "a double has 64 bits");
        std::memcpy(&bits, &value, sizeof bits);
        m_words.push_back(bits);
    }

    void AddAddress(const void* address)
    {
        m_words.push_back(reinterpret_cast<uintptr_t>(address));
    }

    bool operator==(const StateWords& o) const
    {
        return m_words == o.m_words;
    }

    /// Of states that are not equal it is another, as a rule: 64-bit FNV-1a, by words.
    uint64_t Hash() const
    {
        uint64_t hash = 0xcbf29ce484222325;
        for (const uint64_t word : m_words)
        {
            hash = (hash ^ word) * 0x100000001b3;
            hash ^= hash >> 32; // or high bits would never come to low ones
        }
        return hash;
    }

  private:
    std::vector<uint64_t> m_words;
};

} // namespace scaleacross

#endif // SCALEACROSS_STATE_WORDS_H
