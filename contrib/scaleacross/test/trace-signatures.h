// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TRACE_SIGNATURES_H
#define SCALEACROSS_TRACE_SIGNATURES_H

#include "ns3/callback.h"
#include "ns3/collective-group.h"
#include "ns3/fabric-events.h"
#include "ns3/fabric-port.h"
#include "ns3/fabric-switch.h"
#include "ns3/fabric-wire.h"
#include "ns3/packet.h"
#include "ns3/rdma-connection.h"
#include "ns3/rdma-nic.h"
#include "ns3/rdma-queue-pair.h"
#include "ns3/traced-value.h"
#include "ns3/training-application.h"

#include <functional>
#include <map>
#include <string>
#include <utility>

namespace fabrictest
{

/// Makes a sink of one signature that calls what it is given.
using SinkMaker = ns3::CallbackBase (*)(std::function<void()> called);

/// The sink with the parameters of a documented type, as void (*)(uint8_t priority, bool pause).
template <typename Signature>
struct SinkOf;

template <typename... Ts>
struct SinkOf<void (*)(Ts...)>
{
    static ns3::CallbackBase Make(std::function<void()> called)
    {
        return ns3::Callback<void, Ts...>([called](Ts...) { called(); });
    }
};

/**
 * What trace sources of the module may name as their signature, by that name. The name and the type
 * are written once: a name that is no type does not compile, and a sink is made from the type.
 */
inline const std::map<std::string, SinkMaker>&
TraceSignatures()
{
#define SCALEACROSS_SIGNATURE(type)                                                                \
    std::pair<const std::string, SinkMaker>(#type, &SinkOf<type>::Make)
    static const std::map<std::string, SinkMaker> signatures = {
        SCALEACROSS_SIGNATURE(ns3::CollectiveGroup::CompletedTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::FabricPort::PacketTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::FabricPort::DropTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::FabricPort::PauseTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::FabricPort::QueueTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::FabricPort::CreditTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::FabricEvents::StepTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::FabricSwitch::IngressPauseTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::FabricWire::LinkTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::Packet::TracedCallback),
        SCALEACROSS_SIGNATURE(ns3::RdmaConnection::MessageTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::RdmaConnection::FailureTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::RdmaNic::QueuePairTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::RdmaQueuePair::PostedTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::RdmaQueuePair::MessageTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::RdmaQueuePair::RetransmitTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::RdmaQueuePair::TimeoutTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::RdmaQueuePair::CnpTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::TracedValueCallback::Uint64),
        SCALEACROSS_SIGNATURE(ns3::TrainingApplication::IterationTracedCallback),
        SCALEACROSS_SIGNATURE(ns3::TrainingApplication::FinishedTracedCallback),
    };
#undef SCALEACROSS_SIGNATURE
    return signatures;
}

} // namespace fabrictest

#endif // SCALEACROSS_TRACE_SIGNATURES_H
