// SPDX-License-Identifier: GPL-2.0-only

// A slip of one letter is answered with the word that was meant, in every list of words that a
// study can name.

#include "core/base/text.h"
#include "core/explore/baselines/baseline.h"
#include "core/io/presets.h"
#include "core/pipeline/pipeline-schedule.h"
#include "core/spec/event-spec.h"
#include "core/spec/fabric-shape-words.h"
#include "core/spec/plan-fields.h"
#include "core/spec/plan-words.h"
#include "core/spec/workload-spec.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

namespace scaleacross
{

namespace
{

using Words = std::vector<std::string>;

/// What a study's words are chosen from; of fields with words each its own list.
std::vector<Words>
Lists()
{
    std::vector<Words> lists = {Baseline::Names(),
                                EventKind::Names(),
                                Shape::Names(),
                                Schedule::Names(),
                                Precision::Names()};
    Words keys;
    for (const auto& field : PlanFields())
    {
        keys.push_back(field.key);
        lists.push_back(field.words);
    }
    lists.push_back(keys);
    return lists;
}

template <class T>
Words
PresetNames()
{
    Words names;
    for (const auto& preset : Presets<T>())
    {
        names.push_back(preset.name);
    }
    return names;
}

template <class T>
Words
KeysOf()
{
    Words keys;
    for (const auto& field : T::Fields())
    {
        keys.push_back(field.key);
    }
    return keys;
}

/// All that one letter dropped, added or changed makes of a word.
std::set<std::string>
OneLetterFrom(const std::string& word)
{
    const std::string letters = "abcdefghijklmnopqrstuvwxyz0123456789-_.";
    std::set<std::string> made;
    for (size_t i = 0; i <= word.size(); i++)
    {
        const std::string before = word.substr(0, i);
        if (i < word.size())
        {
            made.insert(before + word.substr(i + 1));
        }
        for (const char letter : letters)
        {
            made.insert(before + letter + word.substr(i));
            if (i < word.size())
            {
                made.insert(before + letter + word.substr(i + 1));
            }
        }
    }
    made.erase(word);
    return made;
}

/// '-' and '_' are the same letter to people.
std::string
WithDashes(std::string word)
{
    std::replace(word.begin(), word.end(), '_', '-');
    return word;
}

/// Draws slips of a list's words. Those that are no further from another word, or that another
/// begins with, may mean that one.
void
ExpectEverySlipFindsItsWord(const Words& words, std::mt19937& draw, size_t& slips)
{
    std::map<std::string, std::set<std::string>> near; // by word
    for (const std::string& word : words)
    {
        near[word] = OneLetterFrom(WithDashes(word));
    }
    for (const std::string& word : words)
    {
        const auto all = OneLetterFrom(word);
        std::vector<std::string> drawn;
        std::sample(all.begin(), all.end(), std::back_inserter(drawn), 40, draw);
        for (const std::string& slip : drawn)
        {
            const bool other = std::any_of(words.begin(), words.end(), [&](const auto& known) {
                return known != word && (WithDashes(known).rfind(WithDashes(slip), 0) == 0 ||
                                         near.at(known).count(WithDashes(slip)) > 0);
            });
            // Too short to tell a slip from another word.
            if (slip.empty() || other)
            {
                continue;
            }
            EXPECT_EQ(Nearest(slip, words), word) << slip;
            slips++;
        }
    }
}

TEST(Suggestion, OfEverySlipOfOneLetterIsTheWord)
{
    auto lists = Lists();
    for (const auto& more : {PresetNames<ModelSpec>(),
                             PresetNames<GpuSpec>(),
                             PresetNames<GpuCurve>(),
                             PresetNames<SoftwareStack>(),
                             PresetNames<FabricSpec>(),
                             KeysOf<ModelSpec>(),
                             KeysOf<GpuSpec>(),
                             KeysOf<SoftwareStack>(),
                             KeysOf<FabricSpec>(),
                             KeysOf<WorkloadSpec>()})
    {
        EXPECT_FALSE(more.empty());
        lists.push_back(more);
    }
    std::mt19937 draw(1);
    size_t slips = 0;
    for (const Words& words : lists)
    {
        ExpectEverySlipFindsItsWord(words, draw, slips);
    }
    EXPECT_GT(slips, 5000U);
}

/// A preset's name that ends early is the shortest that goes on so.
TEST(Suggestion, OfAWordWithoutItsLastLetterIsTheWord)
{
    const Words stacks = PresetNames<SoftwareStack>();
    for (const std::string& word : stacks)
    {
        EXPECT_EQ(Nearest(word.substr(0, word.size() - 1), stacks),
                  word == "megatron-2022" ? "megatron-2021" : word);
    }
}

} // namespace

} // namespace scaleacross
