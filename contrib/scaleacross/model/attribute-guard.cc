// SPDX-License-Identifier: GPL-2.0-only

#include "attribute-guard.h"

#include "core/base/errors.h"

#include "ns3/object.h"
#include "ns3/type-id.h"

#include <string>
#include <utility>

namespace scaleacross
{

namespace
{

using ns3::AttributeAccessor;
using ns3::AttributeValue;
using ns3::ObjectBase;
using ns3::Ptr;
using ns3::TypeId;

/// Hands everything on to the accessor that it wraps.
class Wrapped : public AttributeAccessor
{
  public:
    explicit Wrapped(Ptr<const AttributeAccessor> inner)
        : m_inner(std::move(inner))
    {
    }

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        return m_inner->Set(object, value);
    }

    bool Get(const ObjectBase* object, AttributeValue& value) const override
    {
        return m_inner->Get(object, value);
    }

    bool HasGetter() const override
    {
        return m_inner->HasGetter();
    }

    bool HasSetter() const override
    {
        return m_inner->HasSetter();
    }

  private:
    Ptr<const AttributeAccessor> m_inner;
};

class LiveAccessor final : public Wrapped
{
  public:
    using Wrapped::Wrapped;
};

class FixedAccessor final : public Wrapped
{
  public:
    using Wrapped::Wrapped;

    bool Set(ObjectBase* object, const AttributeValue& value) const override
    {
        auto* owner = dynamic_cast<AttributeOwner*>(object);
        if (const char* why = WhyFixed(*object, owner))
        {
            throw ConfigError(NameOf(object->GetInstanceTypeId()),
                              std::string("cannot be set any more: ") + why,
                              "before that",
                              "set it earlier, as by the helper that makes the object, or "
                              "Config::SetDefault");
        }
        const bool set = Wrapped::Set(object, value);
        if (set && owner != nullptr)
        {
            owner->AttributeSet();
        }
        return set;
    }

  private:
    static const char* WhyFixed(const ObjectBase& object, const AttributeOwner* owner)
    {
        if (owner != nullptr)
        {
            return owner->WhyFixed();
        }
        const auto* plain = dynamic_cast<const ns3::Object*>(&object);
        return plain != nullptr && plain->IsInitialized() ? "the run has begun" : nullptr;
    }

    /// "ns3::FabricSwitch::BufferSize", of the type or one of its parents.
    std::string NameOf(TypeId type) const
    {
        for (;; type = type.GetParent())
        {
            for (std::size_t i = 0; i < type.GetAttributeN(); ++i)
            {
                if (ns3::PeekPointer(type.GetAttribute(i).accessor) == this)
                {
                    return type.GetAttributeFullName(i);
                }
            }
            if (!type.HasParent())
            {
                return type.GetName(); // not an attribute of this object
            }
        }
    }
};

} // namespace

void
AttributeOwner::AttributeSet()
{
}

const char*
FixedOnceUsed::WhyFixed() const
{
    return m_why;
}

void
FixedOnceUsed::FixAttributes(const char* why)
{
    m_why = why;
}

Ptr<const AttributeAccessor>
Fixed(Ptr<const AttributeAccessor> accessor)
{
    return Ptr<const AttributeAccessor>(new FixedAccessor(std::move(accessor)), false);
}

Ptr<const AttributeAccessor>
Live(Ptr<const AttributeAccessor> accessor)
{
    return Ptr<const AttributeAccessor>(new LiveAccessor(std::move(accessor)), false);
}

bool
IsFixed(const AttributeAccessor& accessor)
{
    return dynamic_cast<const FixedAccessor*>(&accessor) != nullptr;
}

bool
IsLive(const AttributeAccessor& accessor)
{
    return dynamic_cast<const LiveAccessor*>(&accessor) != nullptr;
}

} // namespace scaleacross
