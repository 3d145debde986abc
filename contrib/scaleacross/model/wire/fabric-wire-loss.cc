// SPDX-License-Identifier: GPL-2.0-only

// What a wire loses.

#include "core/base/errors.h"
#include "fabric-port.h"
#include "fabric-wire.h"

#include "ns3/object-factory.h"
#include "ns3/string.h"

#include <algorithm>
#include <sstream>

namespace ns3
{

using scaleacross::ConfigError;

namespace
{

/// Type and attributes as a factory prints them: "ns3::TypeId[Attribute=value|...]". ns-3's own way
/// to read that aborts on a mistake.
Ptr<FabricLossModel>
MakeLossModel(const std::string& description)
{
    const size_t open = description.find('[');
    const std::string name = description.substr(0, open);
    TypeId type;
    if (!TypeId::LookupByNameFailSafe(name, &type) ||
        !type.IsChildOf(FabricLossModel::GetTypeId()) || !type.HasConstructor())
    {
        throw ConfigError("FabricWire::LossModel",
                          "'" + name + "' is no loss model",
                          "a subclass of ns3::FabricLossModel",
                          "for instance ns3::GilbertElliottLossModel");
    }
    ObjectFactory factory;
    factory.SetTypeId(type);
    std::string rest = open == std::string::npos ? "]" : description.substr(open + 1);
    std::istringstream attributes(rest.substr(0, rest.find_last_of(']')));
    for (std::string text; std::getline(attributes, text, '|');)
    {
        const std::string attribute = text.substr(0, text.find('='));
        const size_t begin = std::min(text.size(), attribute.size() + 1);
        TypeId::AttributeInformation information;
        Ptr<AttributeValue> value;
        if (type.LookupAttributeByName(attribute, &information))
        {
            value = information.checker->CreateValidValue(StringValue(text.substr(begin)));
        }
        if (!value)
        {
            throw ConfigError("FabricWire::LossModel",
                              "'" + text + "' sets no attribute of " + name,
                              "Attribute=value, joined by '|'",
                              "list the attributes with an example's --PrintAttributes=" + name);
        }
        factory.Set(attribute, *value);
    }
    return factory.Create<FabricLossModel>();
}

} // namespace

double
FabricWire::GetLossRate() const
{
    return m_loss;
}

void
FabricWire::SetLossRate(double loss)
{
    for (size_t i = 0; i < 2; ++i)
    {
        if (loss > 0 && !m_iid[i])
        {
            m_iid[i] = CreateObject<IidLossModel>();
            if (m_streams[i] >= 0)
            {
                m_iid[i]->AssignStreams(m_streams[i]);
            }
        }
        Install(i, loss > 0 ? m_iid[i] : nullptr);
        if (m_iid[i])
        {
            m_iid[i]->SetLossRate(loss);
        }
    }
    m_loss = loss;
}

std::string
FabricWire::GetLossModels() const
{
    return m_lossModels;
}

void
FabricWire::SetLossModels(std::string description)
{
    if (description == m_lossModels)
    {
        return;
    }
    for (size_t i = 0; i < 2; ++i)
    {
        SetLossModel(i, description.empty() ? nullptr : MakeLossModel(description));
    }
    m_lossModels = description;
}

Ptr<FabricLossModel>
FabricWire::GetLossModel(std::size_t i) const
{
    return m_lanes.at(i).m_loss;
}

void
FabricWire::SetLossModel(std::size_t i, Ptr<FabricLossModel> model)
{
    if (model && model == m_lanes.at(1 - i).m_loss)
    {
        throw ConfigError("FabricWire::SetLossModel",
                          "both directions would share one model",
                          "a model of its own for each direction",
                          "create another one");
    }
    if (model && m_streams[i] >= 0)
    {
        model->AssignStreams(m_streams[i]);
    }
    Install(i, model);
}

void
FabricWire::Install(std::size_t i, Ptr<FabricLossModel> model)
{
    CatchUp();
    if (model && m_running)
    {
        model->FixAttributes("the wire has it in use");
    }
    m_lanes.at(i).m_loss = model;
    m_loss = 0;
    m_lossModels.clear();
}

int64_t
FabricWire::AssignStreams(int64_t stream)
{
    int64_t next = stream;
    for (size_t i = 0; i < 2; ++i)
    {
        m_streams[i] = next;
        if (m_iid[i])
        {
            m_iid[i]->AssignStreams(next); // in use or not
        }
        next += m_lanes[i].m_loss ? m_lanes[i].m_loss->AssignStreams(next) : 1;
    }
    return next - stream;
}

} // namespace ns3
