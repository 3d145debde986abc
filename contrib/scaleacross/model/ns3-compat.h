// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_NS3_COMPAT_H
#define SCALEACROSS_NS3_COMPAT_H

#include "ns3/enum.h"

#include <cstdint>

/**
 * \file
 * What differs between ns-3.37 and the newest ns-3 this module is built with (main of 2026-07-23).
 *
 * Here, because it needs code:
 *   - accessors of enum attributes: EnumAccessor<T>(...), below.
 *   - IANA's numbers of protocols and link types: constants, below. Up to 3.48 they are PROT_NUMBER
 *     of each protocol's class and PcapHelper::DLT_...; 3.49 deprecates those for names of its own.
 *
 * Elsewhere, because it is no C++: names of CMake targets and the language standard, in
 * cmake/InstalledNs3.cmake.
 *
 * Written so that it is the same everywhere (tests/house/check-compat.sh looks):
 *   - a pending event: !event.IsExpired(). EventId::IsRunning became IsPending.
 *   - kinds of suites: TestSuite::Type::SYSTEM. TestSuite::SYSTEM is gone; the default is UNIT.
 *   - durations of test cases: none, the default is quick. TestCase::QUICK became
 *     TestCase::Duration::QUICK. For the same reason a test case that means the time writes
 *     scaleacross::Duration.
 *   - enums that are attributes have no scope of their own (enum Mode { A, B }, not enum class):
 *     older EnumValues hold an int.
 *   - whether a value is an enum's: by its checker's GetValueTypeName. Newer EnumValues are a
 *     template.
 */
namespace scaleacross
{

namespace compat
{

/// Newer releases: the enum's type has to be named.
template <typename T, typename... Members>
auto
EnumAccessor(int /* preferred */, Members... members)
    -> decltype(ns3::MakeEnumAccessor<T>(members...))
{
    return ns3::MakeEnumAccessor<T>(members...);
}

/// 3.37: it is deduced.
template <typename T, typename... Members>
auto
EnumAccessor(long /* second choice */, Members... members)
    -> decltype(ns3::MakeEnumAccessor(members...))
{
    return ns3::MakeEnumAccessor(members...);
}

} // namespace compat

/**
 * ns3::MakeEnumAccessor for an attribute of enum type T: a data member, or a setter and a getter.
 * \code
 *   .AddAttribute("Mode", "...", EnumValue(GoBackN), EnumAccessor<Mode>(&RdmaQueuePair::m_mode),
 *                 MakeEnumChecker(GoBackN, "GoBackN", SelectiveRepeat, "SelectiveRepeat"))
 * \endcode
 */
template <typename T, typename... Members>
ns3::Ptr<const ns3::AttributeAccessor>
EnumAccessor(Members... members)
{
    return compat::EnumAccessor<T>(0, members...);
}

/// EtherType of IPv4 (IANA, IEEE 802 Numbers).
constexpr uint16_t kEtherTypeIpv4 = 0x0800;
/// Protocol number of UDP in an IP header (IANA, Assigned Internet Protocol Numbers).
constexpr uint8_t kProtocolUdp = 17;
/// LINKTYPE_ETHERNET of capture files (tcpdump.org, Link-Layer Header Types).
constexpr uint32_t kLinkTypeEthernet = 1;

} // namespace scaleacross

#endif // SCALEACROSS_NS3_COMPAT_H
