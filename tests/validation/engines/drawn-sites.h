// SPDX-License-Identifier: GPL-2.0-only

#ifndef SCALEACROSS_TESTS_DRAWN_SITES_H
#define SCALEACROSS_TESTS_DRAWN_SITES_H

#include "core/base/text.h"
#include "core/explore/search-space.h"
#include "core/io/read-study.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/spec/plan-words.h"
#include "core/spec/recompute.h"

#include <algorithm>
#include <initializer_list>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace scaleacross
{

/**
 * Studies as their users write them: a model with or without experts, two to four sites that differ
 * in size and GPU, spans that differ in length, capacity and loss, and a search over most of what a
 * plan can say. Words come from their registries.
 */
class DrawnSites
{
  public:
    explicit DrawnSites(uint64_t seed)
        : m_random(seed)
    {
    }

    /// The text of a study. Its batch divides by every number of replicas that its GPUs allow.
    std::string Text()
    {
        std::string sites;
        uint32_t gpus = 0;
        const bool byFp8 = Pick({true, false, false});          // which not all GPUs know
        const auto spines = Pick<std::string>({"1", "2", "4"}); // those of all sites meet
        const auto count = Pick<uint32_t>({2, 2, 3, 3, 4});
        for (uint32_t i = 0; i < count; i++)
        {
            const auto here = Pick<uint32_t>({8, 8, 16, 16, 24, 32});
            gpus += here;
            sites +=
                "    - {name: s" + std::to_string(i) + ", gpus: " + std::to_string(here) +
                ", gpu: " +
                Pick<std::string>({"h100", "h100", "h200", "b200", byFp8 ? "h800" : "a100-80g"}) +
                ", fabric: {rails: " + Pick<std::string>({"true", "false"}) +
                ", spines: " + spines + "}}\n";
        }
        std::string links;
        for (uint32_t a = 0; a < count; a++)
        {
            for (uint32_t b = a + 1; b < count; b++)
            {
                links += "    - {between: [s" + std::to_string(a) + ", s" + std::to_string(b) +
                         "], distance: " + Pick<std::string>({"2km", "40km", "300km", "2000km"}) +
                         "}\n";
            }
        }
        return "study: drawn\n" + ModelText() +
               "workload: {sequence: " + Pick<std::string>({"1024", "4096"}) +
               ", global_batch: " + std::to_string(gpus * Pick<uint32_t>({1, 2, 4})) +
               ", precision: " + (byFp8 ? "fp8" : "bf16") +
               ", stack: " + Pick<std::string>({"fused", "megatron-core", "torch-fsdp"}) + "}\n" +
               "cluster:\n  buildings:\n" + sites + "  cross: {capacity: " +
               Pick<std::string>({"100Gbps", "400Gbps", "1.6Tbps", "6.4Tbps"}) +
               ", loss: " + Pick<std::string>({"0", "0", "1e-6", "1e-5"}) + "}\n  links:\n" +
               links + "network: {qps: " + Pick<std::string>({"1", "4", "16"}) +
               ", spine_buffer: 64GiB, recovery: selective-repeat}\n" + SearchText();
    }

  private:
    template <class Value>
    Value Pick(std::initializer_list<Value> values)
    {
        return *(values.begin() + m_random() % values.size());
    }

    /// Some of the words of a registry, in its order: one at least, at most so many.
    template <class Registry>
    std::string Words(size_t most)
    {
        return Some(Registry::Names(), most);
    }

    std::string Some(std::vector<std::string> words, size_t most)
    {
        const size_t count = 1 + m_random() % std::min(most, words.size());
        while (words.size() > count)
        {
            words.erase(words.begin() + static_cast<std::ptrdiff_t>(m_random() % words.size()));
        }
        std::string text;
        for (const std::string& word : words)
        {
            text += (text.empty() ? "" : ", ") + word;
        }
        return "[" + text + "]";
    }

    std::string ModelText()
    {
        std::string text =
            "model: {layers: " + Pick<std::string>({"4", "6", "8", "12"}) +
            ", hidden: 1024, heads: 16, vocabulary: " + Pick<std::string>({"4096", "65536"});
        m_experts = Pick({true, true, true, false});
        if (m_experts)
        {
            text += ", experts: " + Pick<std::string>({"8", "16", "32"}) +
                    ", top_k: " + Pick<std::string>({"1", "2", "4"}) +
                    ", expert_ffn: " + Pick<std::string>({"512", "2048"}) +
                    Pick<std::string>({", moe_every: 1", ", moe_every: 2, dense_ffn: 4096"}) +
                    ", shared_ffn: " + Pick<std::string>({"0", "1024"});
        }
        else
        {
            text += ", dense_ffn: 4096";
        }
        return text + "}\n";
    }

    std::string SearchText()
    {
        std::string text = "search:\n  plan:\n";
        const auto add = [&text](const std::string& key, const std::string& values) {
            text += "    " + key + ": " + values + "\n";
        };
        add("tp", Some({"1", "2", "4", "8"}, 2));
        add("pp", Some({"1", "2", "3", "4", "6"}, 3));
        if (m_experts)
        {
            add("ep", Some({"1", "2", "4", "8", "16"}, 3));
            add("etp", Some({"0", "1"}, 1));
        }
        add("crossing", m_experts ? Some({"dp", "pp", "ep"}, 3) : "[dp, pp]");
        add("schedule", Words<Schedule>(3));
        add("chunks", Some({"1", "2", "3"}, 2));
        add("microbatch", Some({"1", "2"}, 2));
        add("sharding", Words<Sharding>(2));
        add("recompute", Some({"none", "selective", "full"}, 2));
        add("apportion", Words<Apportion>(2));
        add("async_tp", Some({"true", "false"}, 1));
        return text +
               "  network:\n    collective: " + Some({"ring", "hierarchical", "tree", "auto"}, 1) +
               "\n";
    }

    std::mt19937_64 m_random;
    bool m_experts{false};
};

} // namespace scaleacross

#endif // SCALEACROSS_TESTS_DRAWN_SITES_H
