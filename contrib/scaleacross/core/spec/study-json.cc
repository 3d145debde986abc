// SPDX-License-Identifier: GPL-2.0-only

#include "core/spec/study-json.h"

#include "core/base/text.h"
#include "core/spec/plan-fields.h"

#include <vector>

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
        Quote(key);
        m_text += ':';
        m_first = true; // no comma between key and value
    }

    void Text(const std::string& value)
    {
        Separate();
        Quote(value);
    }

    /// A number, true or false.
    void Plain(const std::string& value)
    {
        Separate();
        m_text += value;
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

    void Quote(const std::string& value)
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

/// Whether a text is a number or a truth value in JSON as well.
bool
IsPlain(const std::string& text)
{
    const Decimal number = ScanDecimal(text);
    return text == "true" || text == "false" || (number.length > 0 && number.length == text.size());
}

template <class Owner>
void
WriteValue(Writer& out, const Field<Owner>& field, const Owner& owner)
{
    const std::string text = field.get(owner);
    if (!field.label && IsPlain(text))
    {
        out.Plain(text);
    }
    else
    {
        out.Text(text);
    }
}

/// What has to be said of a value, as members of the object that is open.
template <class Owner>
void
WriteFields(Writer& out, const Owner& owner, const FieldTable<Owner>& table = Owner::Fields())
{
    for (const auto& field : table)
    {
        if (field.IsSaid(owner))
        {
            out.Key(field.key);
            WriteValue(out, field, owner);
        }
    }
}

/// The same as an object of its own.
template <class Owner>
void
WriteObject(Writer& out, const std::string& key, const Owner& owner)
{
    out.Key(key);
    out.Open('{');
    WriteFields(out, owner);
    out.Close('}');
}

/// The fields of a plan below a prefix, "plan." or "network.", nested at the dots of their keys.
void
WritePlanFields(Writer& out, const Plan& plan, const std::string& prefix)
{
    std::vector<std::string> open; // the maps that the last field stands in
    for (const auto& field : PlanFields())
    {
        if (field.key.compare(0, prefix.size(), prefix) != 0 || !field.IsSaid(plan))
        {
            continue;
        }
        std::vector<std::string> maps;
        std::string key = field.key.substr(prefix.size());
        for (size_t dot = key.find('.'); dot != std::string::npos; dot = key.find('.'))
        {
            maps.push_back(key.substr(0, dot));
            key.erase(0, dot + 1);
        }
        size_t common = 0;
        while (common < std::min(open.size(), maps.size()) && open[common] == maps[common])
        {
            ++common;
        }
        for (; open.size() > common; open.pop_back())
        {
            out.Close('}');
        }
        for (; open.size() < maps.size(); open.push_back(maps[open.size()]))
        {
            out.Key(maps[open.size()]);
            out.Open('{');
        }
        out.Key(key);
        WriteValue(out, field, plan);
    }
    for (; !open.empty(); open.pop_back())
    {
        out.Close('}');
    }
}

/// What a job trains, as members of the object that is open.
void
WriteTraining(Writer& out, const JobSpec& job, const StudyParts& parts)
{
    WriteObject(out, "model", job.model);
    out.Key("workload");
    out.Open('{');
    WriteFields(out, job.workload);
    WriteObject(out, "stack", job.workload.stack);
    out.Close('}');
    if (parts.plan)
    {
        out.Key("plan");
        out.Open('{');
        WritePlanFields(out, Plan{job.plan, {}}, "plan.");
        out.Close('}');
    }
}

void
WriteJob(Writer& out, const JobSpec& job, const StudyParts& parts)
{
    out.Open('{');
    if (job.name != JobSpec().name)
    {
        out.Key("name");
        out.Text(job.name);
    }
    if (job.collective)
    {
        WriteObject(out, "collective", *job.collective);
    }
    else if (job.trace)
    {
        WriteObject(out, "trace", *job.trace);
    }
    else
    {
        WriteTraining(out, job, parts);
    }
    out.Close('}');
}

/// One training job without a name stands in the study itself, so that --set and search reach its
/// plan; others stand in a list.
void
WriteJobs(Writer& out, const std::vector<JobSpec>& jobs, const StudyParts& parts)
{
    if (jobs.size() == 1 && jobs[0].Trains() && jobs[0].name == JobSpec().name)
    {
        WriteTraining(out, jobs[0], parts);
        return;
    }
    out.Key("jobs");
    out.Open('[');
    for (const JobSpec& job : jobs)
    {
        WriteJob(out, job, parts);
    }
    out.Close(']');
}

void
WriteCluster(Writer& out, const ClusterSpec& cluster)
{
    out.Key("cluster");
    out.Open('{');
    out.Key("buildings");
    out.Open('[');
    for (const BuildingSpec& building : cluster.buildings)
    {
        out.Open('{');
        WriteFields(out, building);
        WriteObject(out, "gpu", building.gpu);
        WriteObject(out, "fabric", building.fabric);
        out.Close('}');
    }
    out.Close(']');
    if (!cluster.hubs.empty())
    {
        out.Key("hubs");
        out.Open('[');
        for (const HubSpec& hub : cluster.hubs)
        {
            out.Text(hub.name);
        }
        out.Close(']');
    }
    if (!cluster.crossLinks.empty())
    {
        out.Key("links");
        out.Open('[');
        for (const CrossLinkSpec& link : cluster.crossLinks)
        {
            out.Open('{');
            out.Key("between");
            out.Open('[');
            out.Text(cluster.SiteName(link.a));
            out.Text(cluster.SiteName(link.b));
            out.Close(']');
            WriteFields(out, link);
            out.Close('}');
        }
        out.Close(']');
    }
    out.Close('}');
}

void
WriteNetwork(Writer& out, const NetworkPlan& network, const StudyParts& parts)
{
    out.Key("network");
    out.Open('{');
    if (parts.plan)
    {
        Plan plan;
        plan.network = network;
        WritePlanFields(out, plan, "network.");
    }
    if (!network.ns3Attributes.empty())
    {
        out.Key("ns3");
        out.Open('{');
        for (const auto& [name, value] : network.ns3Attributes)
        {
            out.Key(name);
            out.Text(value);
        }
        out.Close('}');
    }
    out.Close('}');
}

} // namespace

std::string
StudyJson(const Scenario& scenario, const StudyParts& parts)
{
    Writer out;
    out.Open('{');
    WriteJobs(out, scenario.jobs, parts);
    WriteCluster(out, scenario.cluster);
    WriteNetwork(out, scenario.network, parts);
    if (!scenario.events.empty())
    {
        out.Key("events");
        out.Open('[');
        for (const EventSpec& event : scenario.events)
        {
            out.Open('{');
            WriteFields(out, event);
            out.Close('}');
        }
        out.Close(']');
    }
    if (parts.seed)
    {
        out.Key("seed");
        out.Plain(std::to_string(*parts.seed));
    }
    out.Close('}');
    return out.Result();
}

} // namespace scaleacross
