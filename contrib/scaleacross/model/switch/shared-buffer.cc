// SPDX-License-Identifier: GPL-2.0-only

#include "shared-buffer.h"

#include "core/base/errors.h"

#include <algorithm>
#include <cmath>

namespace scaleacross
{

void
SharedBuffer::Configure(const Config& config, uint32_t ports)
{
    m_config = config;
    m_reserved = 0;
    m_ingress.assign(static_cast<size_t>(ports) * kPriorities, Ingress());
    m_losslessOf.assign(ports, config.lossless);
}

void
SharedBuffer::Reserve(uint32_t port, uint8_t priority, uint64_t headroom)
{
    Ingress& cell = Cell(port, priority);
    m_reserved += headroom - cell.reserved;
    cell.reserved = headroom;
}

bool
SharedBuffer::TakeHeadroom(uint32_t port, uint8_t priority, uint32_t bytes)
{
    Ingress& cell = Cell(port, priority);
    if (cell.headroom + bytes > cell.reserved)
    {
        return false;
    }
    cell.headroom += bytes;
    cell.peak = std::max(cell.peak, cell.headroom);
    m_headroomUsed += bytes;
    Check();
    return true;
}

bool
SharedBuffer::MayResume(uint32_t port, uint8_t priority) const
{
    return MayResume(Cell(port, priority), m_losslessUsed);
}

bool
SharedBuffer::MayResume(const Ingress& cell, uint64_t losslessUsed) const
{
    if (cell.headroom > 0)
    {
        return false;
    }
    return cell.shared == 0 || static_cast<double>(cell.shared + m_config.resumeOffset) <=
                                   LosslessThreshold(losslessUsed);
}

bool
SharedBuffer::CouldResume(uint32_t port, uint8_t priority, const std::vector<uint64_t>& left) const
{
    Ingress asked;
    uint64_t lossless = 0;
    for (size_t i = 0; i < m_ingress.size(); ++i)
    {
        Ingress cell = m_ingress[i];
        uint64_t gone = cell.shared + cell.headroom - left[i];
        cell.headroom -= std::min(cell.headroom, gone); // headroom is freed first
        cell.shared = left[i] - cell.headroom;
        const auto ingress = static_cast<uint32_t>(i / kPriorities);
        lossless += IsLossless(ingress, static_cast<uint8_t>(i % kPriorities)) ? cell.shared : 0;
        if (i == port * kPriorities + priority)
        {
            asked = cell;
        }
    }
    return MayResume(asked, lossless);
}

uint64_t
SharedBuffer::BytesToResume(uint32_t port, uint8_t priority) const
{
    // Each byte that leaves lowers s by at most 1 and raises T by at most alpha; or the ingress
    // empties altogether. Headroom is freed first and changes neither s nor T.
    const Ingress& cell = Cell(port, priority);
    double gap = static_cast<double>(cell.shared + m_config.resumeOffset) - LosslessThreshold();
    double toThreshold = std::max(0.0, std::floor(gap / (1.0 + m_config.alphaLossless)));
    return cell.headroom + std::min(cell.shared, static_cast<uint64_t>(toThreshold));
}

double
SharedBuffer::PeakHeadroomShare() const
{
    double peak = 0;
    for (const Ingress& cell : m_ingress)
    {
        if (cell.reserved > 0)
        {
            peak =
                std::max(peak, static_cast<double>(cell.peak) / static_cast<double>(cell.reserved));
        }
    }
    return peak;
}

void
SharedBuffer::Overfull() const
{
    SCALEACROSS_INVARIANT(m_sharedUsed <= SharedSize() && Occupancy() <= m_config.size,
                          "shared " + std::to_string(m_sharedUsed) + " of " +
                              std::to_string(SharedSize()) + ", headroom " +
                              std::to_string(m_headroomUsed) + " of " + std::to_string(m_reserved) +
                              ", buffer " + std::to_string(m_config.size));
}

void
SharedBuffer::Underflow(uint32_t port, uint8_t priority, uint32_t bytes) const
{
    SCALEACROSS_INVARIANT(bytes <= Held(port, priority),
                          "ingress " + std::to_string(port) + " priority " +
                              std::to_string(priority) + " frees " + std::to_string(bytes) +
                              " bytes but holds " + std::to_string(Held(port, priority)));
}

} // namespace scaleacross
