// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_PART_TRACE_SOURCE_H
#define SCALEACROSS_PART_TRACE_SOURCE_H

#include "ns3/callback.h"
#include "ns3/object-base.h"
#include "ns3/ptr.h"
#include "ns3/trace-source-accessor.h"

#include <string>

namespace scaleacross
{

/**
 * The accessor of a trace source that is part of a member, as in
 *
 *   PartTraceSource(&RdmaNic::m_foreign, &ForeignEndpoint::macTx)
 *
 * ns-3's own accessor reaches members, but not what they consist of.
 */
template <class Owner, class Whole, class Source>
ns3::Ptr<const ns3::TraceSourceAccessor>
PartTraceSource(Whole Owner::*whole, Source Whole::*source)
{
    class Accessor : public ns3::TraceSourceAccessor
    {
      public:
        Accessor(Whole Owner::*whole, Source Whole::*source)
            : m_whole(whole),
              m_source(source)
        {
        }

        bool ConnectWithoutContext(ns3::ObjectBase* object,
                                   const ns3::CallbackBase& sink) const override
        {
            Source* source = Find(object);
            if (source != nullptr)
            {
                source->ConnectWithoutContext(sink);
            }
            return source != nullptr;
        }

        bool Connect(ns3::ObjectBase* object,
                     std::string context,
                     const ns3::CallbackBase& sink) const override
        {
            Source* source = Find(object);
            if (source != nullptr)
            {
                source->Connect(sink, context);
            }
            return source != nullptr;
        }

        bool DisconnectWithoutContext(ns3::ObjectBase* object,
                                      const ns3::CallbackBase& sink) const override
        {
            Source* source = Find(object);
            if (source != nullptr)
            {
                source->DisconnectWithoutContext(sink);
            }
            return source != nullptr;
        }

        bool Disconnect(ns3::ObjectBase* object,
                        std::string context,
                        const ns3::CallbackBase& sink) const override
        {
            Source* source = Find(object);
            if (source != nullptr)
            {
                source->Disconnect(sink, context);
            }
            return source != nullptr;
        }

      private:
        Source* Find(ns3::ObjectBase* object) const
        {
            auto* owner = dynamic_cast<Owner*>(object);
            return owner != nullptr ? &((owner->*m_whole).*m_source) : nullptr;
        }

        Whole Owner::*m_whole;
        Source Whole::*m_source;
    };

    return ns3::Ptr<const ns3::TraceSourceAccessor>(new Accessor(whole, source), false);
}

} // namespace scaleacross

#endif // SCALEACROSS_PART_TRACE_SOURCE_H
