// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/machine-reader.h"

#include "core/io/fabric-reader.h"
#include "core/io/gpu-reader.h"
#include "core/io/map-reader.h"
#include "core/io/plan-reader.h"
#include "core/io/presets.h"
#include "core/spec/study-json.h"

#include <memory>

namespace scaleacross
{

MachineSpec
ReadMachine(const YamlNode& node, const std::string& path, const FileChain& from)
{
    if (node.kind != YamlNode::Kind::Map)
    {
        return ReadNamed<MachineSpec>(node, path, from);
    }
    const MapReader map(node,
                        path,
                        WithKeys({"preset", "gpu", "fabric", "network"}, MachineSpec::Fields()));
    MachineSpec machine;
    machine.name = "custom";
    const YamlNode* preset = map.Find("preset");
    if (preset != nullptr)
    {
        machine = ReadNamed<MachineSpec>(*preset, map.PathOf("preset"), from);
    }
    else
    {
        map.Require("gpu", "gpu: h100");
    }
    if (const YamlNode* gpu = map.Find("gpu"); gpu != nullptr)
    {
        machine.gpu = ReadGpu(*gpu, map.PathOf("gpu"), from);
    }
    if (const YamlNode* fabric = map.Find("fabric"); fabric != nullptr)
    {
        machine.fabric = ReadFabric(*fabric, map.PathOf("fabric"), from);
    }
    if (const YamlNode* network = map.Find("network"); network != nullptr)
    {
        Plan plan;
        plan.network = machine.network;
        ReadPlanFields(plan, *network, "network", map.PathOf("network"));
        machine.network = plan.network;
    }
    ReadFields(map, MachineSpec::Fields(), machine);
    try
    {
        machine.Validate();
    }
    catch (const ConfigError& error)
    {
        const YamlNode* value = map.Find(error.Where());
        throw error.At((value == nullptr ? node : *value).Place() + " " +
                       map.PathOf(error.Where()));
    }
    return machine;
}

Study
ReadMachineStudy(const std::string& name,
                 uint32_t nodes,
                 uint32_t gpusPerNode,
                 const Overrides& overrides)
{
    YamlNode node;
    node.kind = YamlNode::Kind::Scalar;
    node.text = name;
    node.source = std::make_shared<const std::string>("--machine " + name);
    const MachineSpec machine = ReadNamed<MachineSpec>(node, "machine", FileChain(""));
    Scenario scenario;
    scenario.jobs.resize(1);
    scenario.Job().collective.emplace();
    try
    {
        scenario.cluster = machine.Cluster(nodes, gpusPerNode);
    }
    catch (const ConfigError& error)
    {
        throw error.At("--" + error.Where());
    }
    scenario.network = machine.network;
    // As the text of a study, since what overrides name are its keys.
    Overrides all = {{"study", machine.name}};
    all.insert(all.end(), overrides.begin(), overrides.end());
    return ParseStudy(StudyJson(scenario), *node.source, all, StudyScope::Network);
}

} // namespace scaleacross
