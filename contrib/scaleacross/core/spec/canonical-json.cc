// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/canonical-json.h"

#include "core/base/text.h"
#include "core/spec/plan-fields.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace scaleacross
{

namespace
{

/// Writes JSON in the order of the calls; knows no more than this file needs.
class Writer
{
  public:
    void Open(char bracket)
    {
        Separate();
        m_text += bracket;
        m_first = true;
    }

    void Close(char bracket)
    {
        m_text += bracket;
        m_first = false;
    }

    void Key(const std::string& key)
    {
        Separate();
        String(key);
        m_text += ':';
        m_first = true; // no comma between key and value
    }

    void Text(const std::string& key, const std::string& value)
    {
        Key(key);
        String(value);
        m_first = false;
    }

    void Count(const std::string& key, uint64_t value)
    {
        Raw(key, std::to_string(value));
    }

    void Number(const std::string& key, double value)
    {
        Raw(key, NumberText(value));
    }

    void Flag(const std::string& key, bool value)
    {
        Raw(key, value ? "true" : "false");
    }

    void Time(const std::string& key, Duration value)
    {
        Raw(key, std::to_string(value.Ps()));
    }

    const std::string& Result() const
    {
        return m_text;
    }

  private:
    void Separate()
    {
        m_text += m_first ? "" : ",";
        m_first = false;
    }

    void Raw(const std::string& key, const std::string& value)
    {
        Key(key);
        m_text += value;
        m_first = false;
    }

    void String(const std::string& value)
    {
        static const char* const hex = "0123456789abcdef";
        m_text += '"';
        for (const char c : value)
        {
            const auto byte = static_cast<unsigned char>(c);
            if (c == '"' || c == '\\')
            {
                m_text += '\\';
                m_text += c;
            }
            else if (byte < 0x20)
            {
                m_text += "\\u00";
                m_text += hex[byte >> 4];
                m_text += hex[byte & 15];
            }
            else
            {
                m_text += c;
            }
        }
        m_text += '"';
    }

    std::string m_text;
    bool m_first{true};
};

void
Write(Writer& out, const ModelSpec& model)
{
    out.Key("model");
    out.Open('{');
    out.Count("layers", model.layers);
    out.Count("hidden", model.hidden);
    out.Count("heads", model.heads);
    out.Count("kv_heads", model.kvHeads);
    out.Count("head_dim", model.headDim);
    out.Count("dense_ffn", model.denseFfn);
    out.Count("experts", model.experts);
    out.Count("top_k", model.topK);
    out.Count("expert_ffn", model.expertFfn);
    out.Count("shared_ffn", model.sharedFfn);
    out.Count("moe_every", model.moeEvery);
    out.Count("vocabulary", model.vocabulary);
    out.Flag("tied_embedding", model.tiedEmbedding);
    out.Flag("gated_mlp", model.gatedMlp);
    if (model.IsLatent())
    {
        out.Count("query_rank", model.queryRank);
        out.Count("kv_rank", model.kvRank);
        out.Count("rope_dim", model.ropeDim);
        out.Count("value_dim", model.ValueDim());
    }
    if (model.IsMoe())
    {
        out.Count("leading_dense", model.leadingDense);
    }
    out.Flag("attention_bias", model.attentionBias);
    out.Flag("mlp_bias", model.mlpBias);
    out.Flag("query_key_norm", model.queryKeyNorm);
    out.Flag("attention_sinks", model.attentionSinks);
    if (model.window > 0)
    {
        out.Count("window", model.window);
        out.Flag("chunked_window", model.chunkedWindow);
        out.Count("full_attention_every", model.fullAttentionEvery);
    }
    out.Close('}');
}

void
Write(Writer& out, const WorkloadSpec& workload)
{
    out.Key("workload");
    out.Open('{');
    out.Count("sequence", workload.sequence);
    out.Count("global_batch", workload.globalBatch);
    out.Count("gradient_bytes", workload.gradientBytes);
    out.Flag("causal_attention", workload.causalAttention);
    out.Text("precision", ToString(workload.precision));
    out.Number("expert_imbalance", workload.expertImbalance);
    const SoftwareStack& stack = workload.stack;
    out.Key("stack");
    out.Open('{');
    out.Number("elementwise", stack.elementwise);
    out.Flag("flash_attention", stack.flashAttention);
    out.Number("score_passes", stack.scorePasses);
    out.Flag("sequence_parallel", stack.sequenceParallel);
    if (!stack.joinedProjections)
    {
        out.Flag("joined_projections", false);
    }
    if (!stack.gathersForWeights)
    {
        out.Flag("gathers_for_weights", false);
    }
    out.Flag("overlaps_tensor_reduction", stack.overlapsTensorReduction);
    out.Number("accumulation", stack.accumulation);
    out.Number("optimizer_bytes", stack.optimizerBytes);
    out.Time("host_per_layer", stack.hostPerLayer);
    out.Close('}');
    out.Close('}');
}

void
Write(Writer& out, const CollectiveSpec& collective)
{
    out.Key("collective");
    out.Open('{');
    out.Text("op", ToString(collective.op));
    out.Text("group", ToString(collective.group));
    out.Count("groups", collective.groups);
    out.Count("bytes", collective.bytes.Count());
    out.Close('}');
}

void
Write(Writer& out, const GpuSpec& gpu)
{
    out.Key("gpu");
    out.Open('{');
    out.Number("bf16_peak", gpu.bf16Peak.Value());
    out.Number("fp8_peak", gpu.fp8Peak.Value());
    out.Count("hbm_capacity", gpu.hbmCapacity.Count());
    out.Count("hbm_reserve", gpu.hbmReserve.Count());
    out.Number("hbm_bandwidth", gpu.hbmBandwidth.Value());
    out.Number("nvlink_bandwidth", gpu.nvlinkBandwidth.Value());
    out.Time("nvlink_latency", gpu.nvlinkLatency);
    out.Number("nic_rate", gpu.nicRate.Value());
    out.Number("gemm_efficiency", gpu.gemmEfficiency);
    out.Number("fp8_efficiency", gpu.Fp8Efficiency());
    out.Number("attention_efficiency", gpu.AttentionEfficiency());
    out.Time("kernel_gap", gpu.kernelGap);
    out.Key("gemm");
    out.Open('{');
    out.Count("processors", gpu.gemm.processors);
    out.Number("depth", gpu.gemm.depth);
    out.Key("tiles");
    out.Open('[');
    for (const auto& tile : gpu.gemm.tiles)
    {
        out.Open('{');
        out.Count("rows", tile.rows);
        out.Count("columns", tile.columns);
        out.Number("efficiency", tile.efficiency);
        out.Close('}');
    }
    out.Close(']');
    out.Close('}');
    out.Number("hbm_efficiency", gpu.hbmEfficiency);
    out.Number("nvlink_efficiency", gpu.nvlinkEfficiency);
    out.Number("collective_share", gpu.collectiveShare);
    out.Close('}');
}

void
Write(Writer& out, const BuildingSpec& building)
{
    out.Open('{');
    out.Count("gpus", building.gpus);
    out.Count("gpus_per_node", building.gpusPerNode);
    Write(out, building.gpu);
    out.Key("fabric");
    out.Open('{');
    out.Flag("rails", building.fabric.rails);
    // 0 is another way to say that the building is one pod.
    const uint32_t pod = building.fabric.nodesPerPod;
    out.Count("nodes_per_pod", pod == 0 ? building.Nodes() : pod);
    out.Count("spines", building.fabric.spines);
    out.Number("oversubscription", building.fabric.oversubscription);
    if (building.fabric.aggregations > 0)
    {
        out.Count("aggregations", building.fabric.aggregations);
        out.Count("pods_per_zone", building.fabric.podsPerZone);
        out.Number("zone_oversubscription", building.fabric.zoneOversubscription);
        out.Time("aggregation_delay", building.fabric.aggregationDelay);
    }
    out.Count("planes", building.fabric.planes);
    out.Flag("dual_tor", building.fabric.dualTor);
    out.Time("nic_delay", building.fabric.nicDelay);
    out.Time("leaf_delay", building.fabric.leafDelay);
    out.Close('}');
    out.Close('}');
}

void
Write(Writer& out, const ClusterSpec& cluster)
{
    out.Key("cluster");
    out.Open('{');
    out.Key("buildings");
    out.Open('[');
    for (const auto& building : cluster.buildings)
    {
        Write(out, building);
    }
    out.Close(']');
    out.Count("hubs", cluster.hubs.size());
    std::vector<CrossLinkSpec> links = cluster.crossLinks;
    for (auto& link : links)
    {
        if (link.b < link.a)
        {
            std::swap(link.a, link.b);
        }
    }
    std::sort(links.begin(), links.end(), [](const auto& x, const auto& y) {
        return std::tie(x.a, x.b) < std::tie(y.a, y.b);
    });
    out.Key("links");
    out.Open('[');
    for (const auto& link : links)
    {
        out.Open('{');
        out.Count("a", link.a);
        out.Count("b", link.b);
        out.Number("distance", link.distance.Value());
        out.Time("latency", link.latency);
        out.Number("capacity", link.capacity.Value());
        out.Number("loss", link.loss);
        out.Count("lanes", link.lanes);
        out.Flag("pfc", link.pfc);
        out.Close('}');
    }
    out.Close(']');
    out.Close('}');
}

/// A vertex with its site by number, as names do not count.
std::string
CanonicalVertex(const ClusterSpec& cluster, const std::string& name)
{
    for (uint32_t site = 0; site < cluster.Sites(); site++)
    {
        const std::string prefix = cluster.SiteName(site) + "/";
        if (name.compare(0, prefix.size(), prefix) == 0)
        {
            return std::to_string(site) + "/" + name.substr(prefix.size());
        }
    }
    return name;
}

/// A link's ends in one order.
std::string
CanonicalTarget(const ClusterSpec& cluster, const std::string& target)
{
    const std::string ends = target.substr(0, target.find('#'));
    for (size_t dashes = ends.find("--"); dashes != std::string::npos;
         dashes = ends.find("--", dashes + 1))
    {
        std::string a = CanonicalVertex(cluster, ends.substr(0, dashes));
        std::string b = CanonicalVertex(cluster, ends.substr(dashes + 2));
        if (a != ends.substr(0, dashes) && b != ends.substr(dashes + 2))
        {
            return std::min(a, b) + "--" + std::max(a, b) + target.substr(ends.size());
        }
    }
    return CanonicalVertex(cluster, target);
}

void
Write(Writer& out, const ClusterSpec& cluster, const EventSpec& event)
{
    out.Text("kind", ToString(event.kind));
    out.Text("target", CanonicalTarget(cluster, event.target));
    out.Time("at", event.at);
    // Only what the kind heeds: nothing else makes two events different.
    if (event.kind->change == EventChange::Flaps)
    {
        out.Time("down", event.down);
        out.Time("period", event.period);
        out.Count("count", event.count);
        return;
    }
    out.Time("until", event.until);
    if (event.kind->change == EventChange::Slows)
    {
        out.Number("factor", event.factor);
    }
}

/// The fields whose key begins with `prefix`, as an object of texts.
void
WriteFields(Writer& out, const Plan& plan, const std::string& prefix)
{
    for (const auto& field : PlanFields())
    {
        if (field.key.compare(0, prefix.size(), prefix) == 0)
        {
            out.Text(field.key.substr(prefix.size()), field.get(plan));
        }
    }
}

void
WriteEvents(Writer& out, const Scenario& scenario)
{
    out.Key("events");
    out.Open('[');
    for (const auto& event : scenario.events)
    {
        out.Open('{');
        Write(out, scenario.cluster, event);
        out.Close('}');
    }
    out.Close(']');
}

std::string
Write(const Scenario& scenario, bool withPlan)
{
    Writer out;
    out.Open('{');
    out.Key("jobs");
    out.Open('[');
    for (const auto& job : scenario.jobs)
    {
        out.Open('{');
        if (job.collective)
        {
            Write(out, *job.collective);
            out.Close('}');
            continue;
        }
        Write(out, job.model);
        Write(out, job.workload);
        if (withPlan)
        {
            out.Key("plan");
            out.Open('{');
            WriteFields(out, Plan{job.plan, {}}, "plan.");
            out.Close('}');
        }
        out.Close('}');
    }
    out.Close(']');
    Write(out, scenario.cluster);
    out.Key("network");
    out.Open('{');
    if (withPlan)
    {
        WriteFields(out, Plan{{}, scenario.network}, "network.");
    }
    out.Key("ns3");
    out.Open('{');
    for (const auto& [name, value] : scenario.network.ns3Attributes)
    {
        out.Text(name, value);
    }
    out.Close('}');
    out.Close('}');
    WriteEvents(out, scenario);
    out.Close('}');
    return out.Result();
}

} // namespace

std::string
CanonicalJson(const Scenario& scenario)
{
    return Write(scenario, true);
}

std::string
CanonicalSetting(const Scenario& scenario)
{
    return Write(scenario, false);
}

std::string
CanonicalNetwork(const Scenario& scenario)
{
    Writer out;
    out.Open('{');
    Write(out, scenario.cluster);
    WriteEvents(out, scenario);
    out.Close('}');
    return out.Result();
}

} // namespace scaleacross
