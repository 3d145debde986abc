// SPDX-License-Identifier: GPL-2.0-only

#include "core/io/hugging-face/model-config.h"

#include "core/base/errors.h"
#include "core/base/text.h"
#include "core/io/hugging-face/model-family.h"
#include "core/io/text-file.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

namespace scaleacross
{

namespace
{

using Json = nlohmann::json;

/// Some files list the labels of a classifier or the layers of a quantisation, megabytes of them.
constexpr size_t g_mostBytes = 16U << 20;

/// More than any file has. What shows a value in a message goes down into it level by level.
constexpr int g_mostDepth = 64;

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
        return Json::parse(WithQuotedNumbers(text),
                           [&name](int depth, Json::parse_event_t /* event */, Json& /* value */) {
                               if (depth > g_mostDepth)
                               {
                                   throw ConfigError(name,
                                                     "lists or objects stand in more than " +
                                                         std::to_string(g_mostDepth) + " others",
                                                     "the config.json of a model",
                                                     "");
                               }
                               return true;
                           });
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

const std::vector<ModelFamily>&
Families()
{
    static const std::vector<ModelFamily> families = ModelFamilies();
    return families;
}

std::vector<std::string>
KnownTypes()
{
    std::vector<std::string> types;
    for (const ModelFamily& family : Families())
    {
        types.push_back(family.type);
    }
    return types;
}

bool
IsRead(const std::string& type)
{
    const auto& families = Families();
    return std::any_of(families.begin(), families.end(), [&type](const ModelFamily& family) {
        return family.type == type;
    });
}

/// Throws ConfigError for an architecture of which we know what is missing.
void
CheckNothingIsMissing(const ConfigObject& config, const std::string& type)
{
    if (const auto missing = MissingOf(type); missing)
    {
        config.Fail("model_type",
                    "the architecture " + Quoted(type) + " has " + *missing +
                        ", which is not modelled",
                    AnyOf(KnownTypes()),
                    "");
    }
}

const ModelFamily&
FamilyOf(const ConfigObject& config, const std::string& type)
{
    for (const ModelFamily& family : Families())
    {
        if (family.type == type)
        {
            return family;
        }
    }
    CheckNothingIsMissing(config, type);
    config.Fail("model_type",
                type.empty() ? "the key is missing"
                             : "the architecture " + Quoted(type) + " is not known",
                AnyOf(KnownTypes()),
                type.empty() ? "is this the config.json of a language model?"
                             : "give the dimensions as a map under model, if the page on models "
                               "has formulas for them");
}

/// Reads whether the embedding is tied where the model also sees: either object may say it, and
/// releases of transformers disagree where both do.
void
ReadOuterTie(const ConfigObject& outer,
             const ConfigObject& inner,
             const OuterFamily* family,
             ModelSpec& model)
{
    const std::string key = "tie_word_embeddings";
    if (outer.IsGiven(key) && inner.IsGiven(key) && outer.Flag(key) != inner.Flag(key))
    {
        outer.Fail(key,
                   "text_config says otherwise",
                   "the same in both places",
                   "set both to what the checkpoint has");
    }
    if (outer.IsGiven(key))
    {
        model.tiedEmbedding = outer.Flag(key);
    }
    else if (!inner.IsGiven(key) && family != nullptr && family->tie)
    {
        model.tiedEmbedding = *family->tie;
    }
}

/// Returns the keys of a language model that stand outside of it, where nobody looks for them.
std::vector<std::string>
UnreadOutside(const Json& document, const ConfigObject& inner)
{
    const std::set<std::string> both = {"model_type", "tie_word_embeddings"};
    const std::set<std::string> neutral(NeutralKeys().begin(), NeutralKeys().end());
    std::vector<std::string> keys;
    for (const std::string& key : inner.Asked())
    {
        if (document.contains(key) && both.count(key) == 0 && neutral.count(key) == 0)
        {
            keys.push_back(key);
        }
    }
    return keys;
}

void
AddWarning(const std::vector<std::string>& unread,
           const std::string& place,
           const std::string& why,
           ModelSpec& model)
{
    if (!unread.empty())
    {
        model.warnings.push_back("model: " + place + ": " + ListOf(unread) +
                                 (unread.size() == 1 ? " is" : " are") + " not read: " + why);
    }
}

/// Returns what unread keys may have been meant for, of those that were looked for and are not
/// there: ". Did you mean num_hidden_layers?"; empty where nothing is near.
std::string
MeantBy(const std::vector<std::string>& unread, const ConfigObject& config)
{
    std::vector<std::string> missing;
    for (const std::string& key : config.Asked())
    {
        if (!config.IsGiven(key))
        {
            missing.push_back(key);
        }
    }
    std::vector<std::string> meant;
    for (const std::string& key : unread)
    {
        const std::string nearest = Nearest(key, missing);
        if (!nearest.empty() && std::find(meant.begin(), meant.end(), nearest) == meant.end())
        {
            meant.push_back(nearest);
        }
    }
    return meant.empty() ? "" : ". Did you mean " + ListOf(meant) + "?";
}

/// Returns the key of a file that a field of ModelSpec ("model.kv_heads") is read from; empty where
/// there is none, or several.
std::string
KeyOf(const ConfigObject& config, const std::string& field)
{
    static const std::map<std::string, std::vector<std::string>> keys = {
        {"model.layers", {"num_hidden_layers"}},
        {"model.hidden", {"hidden_size"}},
        {"model.heads", {"num_attention_heads"}},
        {"model.kv_heads", {"num_key_value_heads"}},
        {"model.head_dim", {"head_dim"}},
        {"model.vocabulary", {"vocab_size"}},
        {"model.dense_ffn", {"intermediate_size_mlp", "intermediate_size"}},
        {"model.expert_ffn", {"moe_intermediate_size", "intermediate_size"}},
        {"model.experts",
         {"n_routed_experts", "moe_num_experts", "num_experts", "num_local_experts"}},
        {"model.top_k", {"moe_k", "num_experts_per_tok"}},
        {"model.window", {"attention_chunk_size", "sliding_window"}},
        {"model.query_rank", {"q_lora_rank"}},
        {"model.kv_rank", {"kv_lora_rank"}},
        {"model.rope_dim", {"qk_rope_head_dim"}},
        {"model.value_dim", {"v_head_dim"}}};
    const auto found = keys.find(field);
    for (size_t i = 0; found != keys.end() && i < found->second.size(); i++)
    {
        if (config.Asked().count(found->second[i]) > 0)
        {
            return found->second[i];
        }
    }
    return "";
}

/// Checks the keys of every class that change the shape or attention by what they are set to.
void
CheckBaseKeys(const ConfigObject& config)
{
    config.Demand("is_encoder_decoder", false, "an encoder");
    config.Demand("is_causal", true, "attention to what follows");
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
    const std::string outerType = top.Text("model_type");
    CheckNothingIsMissing(top, outerType);
    CheckBaseKeys(top);
    const OuterFamily* outer = FindOuterFamily(outerType);
    // A language model that stands alone has no use for such an object, whatever it says.
    const bool isNested = !IsRead(outerType) && (outer != nullptr || top.IsGiven("text_config"));
    const Json& object = isNested ? top.Value("text_config") : document;
    if (!object.is_object())
    {
        top.Fail("text_config",
                 object.is_null() ? "the key is missing" : "this is no object",
                 "an object with the language model, which files of model_type " +
                     Quoted(outerType) + " keep there",
                 "copy it from the model's own config.json");
    }
    const std::string place = isNested ? name + " text_config" : name;
    const ConfigObject untyped(object, place, Json::object());
    std::string type = untyped.Text("model_type");
    if (type.empty())
    {
        type = outer != nullptr ? outer->textType : outerType;
    }
    if (isNested && FindOuterFamily(type) != nullptr)
    {
        untyped.Fail("model_type",
                     Quoted(type) + " is no language model, but keeps one in its own text_config",
                     AnyOf(KnownTypes()),
                     "take that as text_config");
    }

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
        ReadOuterTie(top, config, outer, model);
        AddWarning(UnreadOutside(document, config),
                   name,
                   "its language model is in text_config",
                   model);
    }
    model.name = name;
    std::set<std::string> neutral(NeutralKeys().begin(), NeutralKeys().end());
    neutral.insert(family.neutral.begin(), family.neutral.end());
    const std::vector<std::string> unread = config.UnreadKeys(neutral);
    AddWarning(unread,
               place,
               family.configClass + " has no such key, or makes nothing of it" +
                   MeantBy(unread, config),
               model);
    try
    {
        model.Validate();
    }
    catch (const ConfigError& error)
    {
        const std::string key = KeyOf(config, error.Where());
        throw error.At(key.empty() ? name + " " + error.Where()
                                   : place + " " + key + config.DefaultNote(key));
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
