// SPDX-License-Identifier: GPL-2.0-only

#include "iteration-rows.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/engine/analytical-engine.h"
#include "core/spec/presets.h"

#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>

namespace scaleacross
{

namespace
{

std::vector<std::string>
Cells(const std::string& line)
{
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');)
    {
        cells.push_back(cell);
    }
    return cells;
}

/// The cells of a line by the names of their columns.
using Fields = std::map<std::string, std::string>;

uint32_t
Count(const Fields& fields, const std::string& key)
{
    return static_cast<uint32_t>(ParseWhole(fields.at(key), 0, UINT32_MAX));
}

ModelSpec
ModelOf(const Fields& fields)
{
    if (!fields.at("model").empty())
    {
        return ModelPreset(fields.at("model"));
    }
    // A GPT: GELU with f = 4h, as many KV heads as heads.
    ModelSpec model;
    model.name = fields.at("name");
    model.layers = Count(fields, "layers");
    model.hidden = Count(fields, "hidden");
    model.heads = model.kvHeads = Count(fields, "heads");
    model.headDim = model.hidden / model.heads;
    model.denseFfn = 4ULL * model.hidden;
    model.vocabulary = Count(fields, "vocabulary");
    model.gatedMlp = false;
    model.tiedEmbedding = fields.at("tied") == "yes";
    return model;
}

GpuSpec
GpuOf(const Fields& fields)
{
    if (fields.at("gpu") != "h100-500w")
    {
        return GpuPreset(fields.at("gpu"));
    }
    // TorchTitan's H100: HBM2e, 96 GB, 2.4 TB/s, limited to 500 W.
    GpuSpec gpu = GpuPreset("h100");
    gpu.name = "h100-500w";
    gpu.hbmCapacity = Bytes(96ULL << 30);
    gpu.hbmBandwidth = BytesPerSecond(2.4e12);
    // Fitted on the compiled 8B row of 8 GPUs: what the power limit leaves of the SXM's peak.
    gpu.gemmEfficiency = 0.38;
    return gpu;
}

IterationRow
RowOf(const Fields& fields)
{
    IterationRow row;
    row.set = fields.at("set");
    row.name = fields.at("name");
    row.fitted = fields.at("fitted") == "yes";
    row.seconds = ParseNumber(fields.at("seconds"), 0, 1e6);

    JobSpec job;
    job.model = ModelOf(fields);
    job.workload.sequence = Count(fields, "sequence");
    job.workload.globalBatch = Count(fields, "batch");
    job.workload.gradientBytes = Count(fields, "gradient_bytes");
    job.workload.stack = SoftwareStackOf(fields.at("stack"));
    job.plan.tp = Count(fields, "tp");
    job.plan.pp = Count(fields, "pp");
    job.plan.dp = Count(fields, "dp");
    job.plan.chunks = Count(fields, "chunks");
    job.plan.schedule = job.plan.chunks > 1 ? "interleaved" : "1f1b";
    // Megatron numbers ranks with the pipeline outermost.
    job.plan.crossing = Crossing::Pipeline;
    job.plan.microbatch = Count(fields, "microbatch");
    job.plan.sharding = fields.at("sharding") == "ddp" ? Sharding::Ddp : Sharding::Fsdp;
    job.plan.reshard = fields.at("sharding") == "fsdp-reshard";
    if (fields.at("data_parallel") == "after")
    {
        // All gradients are one unit, which is reduced after the last backward.
        job.plan.bucket = Bytes(1ULL << 44);
    }
    job.plan.asyncTensor = fields.at("async_tensor") == "yes";
    const std::string& recompute = fields.at("recompute");
    job.plan.recompute = recompute == "full"        ? Recompute::Full
                         : recompute == "selective" ? Recompute::Selective
                                                    : Recompute::None;
    row.scenario.jobs = {job};

    BuildingSpec building;
    building.name = "site";
    building.gpus = static_cast<uint32_t>(job.plan.Ranks());
    building.gpu = GpuOf(fields);
    building.gpu.nicRate = GigabitsPerSecond(Count(fields, "nic_gbps"));
    row.scenario.cluster.buildings = {building};
    row.scenario.network.collective = CollectiveAlgorithm::Hierarchical;
    return row;
}

} // namespace

std::vector<IterationRow>
ReadIterationRows(const std::string& file)
{
    std::ifstream stream(SCALEACROSS_SOURCE_DIR "/tests/validation/iteration-time/" + file);
    std::string line;
    std::vector<std::string> columns;
    std::vector<IterationRow> rows;
    while (std::getline(stream, line))
    {
        if (line.empty() || line.front() == '#')
        {
            continue;
        }
        std::vector<std::string> cells = Cells(line);
        if (columns.empty())
        {
            columns = cells;
            continue;
        }
        cells.resize(columns.size());
        Fields fields;
        for (size_t i = 0; i < columns.size(); i++)
        {
            fields[columns[i]] = cells[i];
        }
        rows.push_back(RowOf(fields));
    }
    if (rows.empty())
    {
        throw std::runtime_error("no rows in " + file);
    }
    return rows;
}

double
IterationSeconds(const IterationRow& row)
{
    row.scenario.Validate();
    const auto result = AnalyticalEngine().Run(row.scenario, {});
    if (const auto* report = std::get_if<RunReport>(&result))
    {
        return report->iterationTime.S();
    }
    const auto& infeasible = std::get<Infeasible>(result);
    throw RunError(row.set + " " + row.name + ": " + infeasible.reason + ": " + infeasible.detail);
}

} // namespace scaleacross
