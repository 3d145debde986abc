// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PART_ACCESSOR_H
#define SCALEACROSS_PART_ACCESSOR_H

#include "ns3/attribute-accessor-helper.h"
#include "ns3/boolean.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/nstime.h"
#include "ns3/type-id.h"
#include "ns3/uinteger.h"

#include <cstdint>

namespace scaleacross
{

/// The AttributeValue of a type.
template <class T>
struct AttributeValueOf
{
    using Type = ns3::UintegerValue;
};

template <>
struct AttributeValueOf<bool>
{
    using Type = ns3::BooleanValue;
};

template <>
struct AttributeValueOf<double>
{
    using Type = ns3::DoubleValue;
};

template <>
struct AttributeValueOf<ns3::Time>
{
    using Type = ns3::TimeValue;
};

template <>
struct AttributeValueOf<ns3::DataRate>
{
    using Type = ns3::DataRateValue;
};

template <>
struct AttributeValueOf<ns3::TypeId>
{
    using Type = ns3::TypeIdValue;
};

/**
 * The accessor of an attribute that is part of a member, as in
 *
 *   PartAccessor(&RdmaNic::m_format, &PacketFormat::header)
 *
 * ns-3's own accessors reach members, but not what they consist of. The part may be one of a base
 * of the member's class. Domain: unsigned numbers, bool, double, Time, DataRate and TypeId.
 */
template <class Owner, class Whole, class Base, class Part>
ns3::Ptr<const ns3::AttributeAccessor>
PartAccessor(Whole Owner::*whole, Part Base::*part)
{
    using Value = typename AttributeValueOf<Part>::Type;

    class Accessor : public ns3::AccessorHelper<Owner, Value>
    {
      public:
        Accessor(Whole Owner::*whole, Part Base::*part)
            : m_whole(whole),
              m_part(part)
        {
        }

      private:
        bool DoSet(Owner* object, const Value* value) const override
        {
            (object->*m_whole).*m_part = static_cast<Part>(value->Get());
            return true;
        }

        bool DoGet(const Owner* object, Value* value) const override
        {
            value->Set((object->*m_whole).*m_part);
            return true;
        }

        bool HasGetter() const override
        {
            return true;
        }

        bool HasSetter() const override
        {
            return true;
        }

        Whole Owner::*m_whole;
        Part Base::*m_part;
    };

    return ns3::Ptr<const ns3::AttributeAccessor>(new Accessor(whole, part), false);
}

} // namespace scaleacross

#endif // SCALEACROSS_PART_ACCESSOR_H
