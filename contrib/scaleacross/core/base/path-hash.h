// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PATH_HASH_H
#define SCALEACROSS_PATH_HASH_H

#include <cstddef>
#include <cstdint>

/// How switches choose paths by hashing, for all engines that ask which path that is.
namespace scaleacross
{

/// A 32-bit hash; equal inputs give equal results on every machine.
inline uint32_t
HashOf(uint32_t source,
       uint32_t destination,
       uint16_t entropy,
       uint64_t seed,
       uint32_t queuePair = 0)
{
    uint64_t x = ((static_cast<uint64_t>(source) << 32) | destination) ^ seed;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x ^= (static_cast<uint64_t>(entropy) << 17) ^ (static_cast<uint64_t>(queuePair) << 40);
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    x = (x ^ (x >> 31)) * 0xbf58476d1ce4e5b9ULL;
    return static_cast<uint32_t>(x >> 32);
}

/// Maps a hash to one of n equally likely numbers, floor(hash n / 2^32). Domain: n > 0.
inline size_t
ScaleHash(uint32_t hash, size_t n)
{
    return (static_cast<uint64_t>(hash) * n) >> 32;
}

/// Seed of the hash of a switch, so that switches hash differently: `run` counts from 0. Nodes and
/// runs differ in few bits; the hash spreads them.
inline uint64_t
SwitchHashSeed(uint32_t node, uint32_t run, uint64_t seed)
{
    return HashOf(node, run, 0, seed) ^ (seed << 32);
}

/// UDP source ports that stand for paths: so many, from the first on.
constexpr uint16_t kFirstPathPort = 0xC000;
constexpr uint32_t kPathPorts = 0x4000;

/// UDP source port of the `number`-th queue pair from one NIC to another, by their addresses.
inline uint16_t
PathPortOf(uint32_t source, uint32_t destination, uint32_t number)
{
    return static_cast<uint16_t>(kFirstPathPort +
                                 HashOf(source, destination, 0, number) % kPathPorts);
}

} // namespace scaleacross

#endif // SCALEACROSS_PATH_HASH_H
