// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/hugging-face/model-config.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/hugging-face/model-family.h"
#include "core/io/text-file.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

namespace scaleacross
{

namespace
{

using Json = nlohmann::json;

/// Some files list the labels of a classifier or the layers of a quantisation, megabytes of them.
constexpr size_t g_mostBytes = 16U << 20;

/// Python writes NaN, Infinity and -Infinity, which are not JSON. Returns the text with these words
/// in quotes, outside of texts, so that a message can show where one stands.
std::string
WithQuotedNumbers(const std::string& text)
{
    std::string result;
    bool inText = false;
    for (size_t i = 0; i < text.size(); i++)
    {
        if (text[i] == '"')
        {
            inText = !inText;
        }
        if (inText && text[i] == '\\' && i + 1 < text.size())
        {
            result += text[i++];
        }
        else if (!inText)
        {
            for (const char* word : {"-Infinity", "Infinity", "NaN"})
            {
                if (text.compare(i, std::char_traits<char>::length(word), word) == 0)
                {
                    result += '"' + std::string(word);
                    i += std::char_traits<char>::length(word);
                    result += '"';
                    break;
                }
            }
        }
        if (i < text.size())
        {
            result += text[i];
        }
    }
    return result;
}

Json
ParseJson(const std::string& text, const std::string& name)
{
    CheckText(text, name, g_mostBytes);
    try
    {
        return Json::parse(WithQuotedNumbers(text));
    }
    catch (const Json::exception& error)
    {
        // Of "[json.exception.parse_error.101] parse error at line 1, column 3: ..." the last part.
        const std::string what = error.what();
        const size_t bracket = what.find("] ");
        throw ConfigError(name,
                          "this is not JSON: " +
                              (bracket == std::string::npos ? what : what.substr(bracket + 2)),
                          "the config.json of a model",
                          "");
    }
}

/// "'a', 'b' and 'c'"
std::string
ListOf(const std::vector<std::string>& words)
{
    std::string text;
    for (size_t i = 0; i < words.size(); i++)
    {
        text += i == 0 ? "" : i + 1 == words.size() ? " and " : ", ";
        text += Quoted(words[i]);
    }
    return text;
}

const ModelFamily&
FamilyOf(const ConfigObject& config, const std::string& type)
{
    static const std::vector<ModelFamily> families = ModelFamilies();
    std::vector<std::string> types;
    for (const ModelFamily& family : families)
    {
        if (family.type == type)
        {
            return family;
        }
        types.push_back(family.type);
    }
    const std::string remedy =
        "give the dimensions as a map under model, if the page on models has formulas for them";
    if (type.empty())
    {
        config.Fail("model_type",
                    "the key is missing",
                    AnyOf(types),
                    "is this the config.json of a language model?");
    }
    if (const auto missing = MissingOf(type); missing)
    {
        config.Fail("model_type",
                    "the architecture " + Quoted(type) + " has " + *missing +
                        ", which is not modelled",
                    AnyOf(types),
                    "");
    }
    config.Fail("model_type",
                "the architecture " + Quoted(type) + " is not known",
                AnyOf(types),
                remedy);
}

/// What a class of a model that also sees says of the tied embedding counts where its language
/// model's part says nothing; releases of transformers disagree where both say it.
void
ReadOuterTie(const ConfigObject& outer, const ConfigObject& inner, ModelSpec& model)
{
    const std::string key = "tie_word_embeddings";
    if (outer.IsGiven(key) && inner.IsGiven(key) && outer.Flag(key) != inner.Flag(key))
    {
        outer.Fail(key,
                   "text_config says otherwise",
                   "the same in both places",
                   "set both to what the checkpoint has");
    }
    if (!inner.IsGiven(key))
    {
        model.tiedEmbedding = outer.Flag(key);
    }
}

/// The keys of every class that change the shape by what they are set to.
void
CheckBaseKeys(const ConfigObject& config)
{
    config.Demand("is_encoder_decoder", false, "an encoder");
    config.Demand("add_cross_attention", false, "layers of attention to an encoder");
    config.Demand("cross_attention_hidden_size", nullptr, "attention to an encoder");
    config.Demand("per_layer_config", Json::object(), "layers of different shapes");
    config.Demand("pruned_heads", Json::object(), "layers with fewer heads than others");
}

} // namespace

ModelSpec
ParseModelConfig(const std::string& text, const std::string& name)
{
    const Json document = ParseJson(text, name);
    if (!document.is_object())
    {
        throw ConfigError(name, "this is not a JSON object", "the config.json of a model", "");
    }
    const ConfigObject top(document, name, Json::object());
    const Json& part = top.Value("text_config");
    const bool isNested = part.is_object();
    const Json& object = isNested ? part : document;
    const std::string place = isNested ? name + " text_config" : name;
    const ConfigObject untyped(object, place, Json::object());
    std::string type = untyped.Text("model_type");
    type = TextTypeOf(type.empty() ? top.Text("model_type") : type);

    const ModelFamily& family = FamilyOf(untyped, type);
    ConfigObject config(object, place, Json::parse(family.defaults));
    for (const auto& [alias, key] : family.aliases)
    {
        config.Alias(alias, key);
    }
    CheckBaseKeys(config);
    ModelSpec model = family.read(config);
    if (isNested)
    {
        ReadOuterTie(top, config, model);
    }
    model.name = name;
    std::set<std::string> neutral(NeutralKeys().begin(), NeutralKeys().end());
    neutral.insert(family.neutral.begin(), family.neutral.end());
    if (const auto unread = config.UnreadKeys(neutral); !unread.empty())
    {
        model.warnings.push_back("model: " + place + ": " + ListOf(unread) +
                                 (unread.size() == 1 ? " is" : " are") +
                                 " not read: " + family.configClass + " has no such " +
                                 (unread.size() == 1 ? "key" : "keys"));
    }
    try
    {
        model.Validate();
    }
    catch (const ConfigError& error)
    {
        throw error.At(name + " " + error.Where());
    }
    return model;
}

ModelSpec
ReadModelConfig(const std::string& path)
{
    std::error_code code;
    const std::filesystem::path given(path);
    const std::filesystem::path file =
        std::filesystem::is_directory(given, code) ? given / "config.json" : given;
    return ParseModelConfig(ReadTextFile(file.string(), g_mostBytes), file.string());
}

} // namespace scaleacross
