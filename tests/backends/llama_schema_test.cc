// Each keyword of a JSON schema is held, or named.
#include <nlohmann/json.hpp>
#include <regex>

#include "common/error.h"
#include "llama/held_schema.h"
#include "llama/schema_pattern.h"
#include "support/test.h"

namespace wasinn::test {
namespace {

using nlohmann::json;

json Held(const std::string& schema) { return json::parse(llama::HeldSchema("json-schema", schema)); }

std::string WhyNot(const std::string& schema) {
  try {
    llama::HeldSchema("json-schema", schema);
  } catch (const backend::Error& error) {
    EXPECT_EQ(error.code(), WASINN_ERROR_INVALID_ARGUMENT);
    return error.what();
  }
  return "";
}

TEST(LlamaSchema, ErrorsNameTheUnsupportedKeywordAndItsPlace) {
  for (const auto& [keyword, schema] : std::vector<std::pair<std::string, std::string>>{
           {"multipleOf", R"({"type":"integer","multipleOf":5})"},
           {"multipleOf", R"({"multipleOf":5})"},
           {"minimum", R"({"type":"number","minimum":0.5})"},
           {"maximum", R"({"type":["number","null"],"maximum":2})"},
           {"exclusiveMinimum", R"({"type":"number","exclusiveMinimum":0})"},
           {"exclusiveMaximum", R"({"type":"number","exclusiveMaximum":0})"},
           {"pattern", R"({"type":"string","pattern":"^(?=a)b$"})"},
           {"pattern", R"({"pattern":"(a)\\1"})"},
           {"pattern", R"({"type":"string","pattern":"a\\b"})"},
           {"maxLength", R"({"type":"string","pattern":"^a*$","maxLength":3})"},
           {"minLength", R"({"type":"string","format":"date","minLength":3})"},
           {"format", R"({"type":"string","format":"iri"})"},
           {"uniqueItems", R"({"type":"array","items":{"type":"integer"},"uniqueItems":true})"},
           {"contains", R"({"type":"array","contains":{"type":"integer"}})"},
           {"minContains", R"({"type":"array","minContains":1})"},
           {"maxItems", R"({"prefixItems":[{},{}],"maxItems":1})"},
           {"minItems", R"({"prefixItems":[{},{}],"items":{},"minItems":3})"},
           {"unevaluatedItems", R"({"type":"array","unevaluatedItems":false})"},
           {"patternProperties", R"({"type":"object","patternProperties":{"^a":{}}})"},
           {"propertyNames", R"({"type":"object","propertyNames":{"pattern":"^a$"}})"},
           {"minProperties", R"({"type":"object","minProperties":1})"},
           {"maxProperties", R"({"type":"object","maxProperties":1})"},
           {"dependentRequired", R"({"type":"object","dependentRequired":{"a":["b"]}})"},
           {"dependentSchemas", R"({"dependentSchemas":{"a":{}}})"},
           {"dependencies", R"({"dependencies":{"a":["b"]}})"},
           {"required", R"({"type":"object","properties":{},"required":["a"],"additionalProperties":false})"},
           {"not", R"({"not":{"type":"string"}})"},
           {"not", R"({"type":"string","not":{"const":"a"}})"},
           {"if", R"({"if":{},"then":{},"else":{}})"},
           {"oneOf", R"({"oneOf":[{"type":"integer"},{"type":"number"}]})"},
           {"oneOf", R"({"oneOf":[{},{"type":"string"}]})"},
           {"$dynamicRef", R"({"$dynamicRef":"#a"})"},
           {"$ref", R"({"$ref":"#/d/0","d":[{"multipleOf":5}]})"},
           {"minLength", R"({"$ref":"#/$defs/a","minLength":3,"$defs":{"a":{"type":"string"}}})"},
           {"minimum", R"({"enum":[1,2,3],"minimum":2})"},
           {"enum", R"({"type":"string","enum":[1,2]})"},
           {"type", R"({"allOf":[{"type":"string"},{"type":"integer"}]})"}}) {
    EXPECT_THAT(WhyNot(schema), AllOf(HasSubstr("json-schema: #: "), HasSubstr('"' + keyword + '"'))) << schema;
    EXPECT_THAT(WhyNot(R"({"type":"object","properties":{"a":{"type":"array","items":)" + schema + "}}}"),
                HasSubstr("#/properties/a/items: \"" + keyword + '"'))
        << schema;
  }
  EXPECT_THAT(WhyNot(R"({"properties":{"a":false}})"), HasSubstr("#/properties/a: \"false\""));
}

TEST(LlamaSchema, IsRewrittenInKeywordsThatLlamaCppKnows) {
  const std::string same =
      R"({"type":"object","properties":{"a":{"type":"integer","minimum":1},"b":{"$ref":"#/$defs/c"}},
      "required":["a"],"additionalProperties":false,"description":"d","title":"t","examples":[{}],"default":{"a":1},"x-y":1,
      "$defs":{"c":{"anyOf":[{"type":"string","maxLength":3},{"type":"null"}]}}})";
  EXPECT_EQ(Held(same), json::parse(same));
  for (const auto& [given, held] : std::vector<std::pair<const char*, const char*>>{
           {R"({"type":"integer","minimum":1.5,"exclusiveMinimum":3,"maximum":9})",
            R"({"type":"integer","minimum":4,"maximum":9})"},
           {R"({"minimum":3})", R"({"type":"integer","minimum":3})"},
           {R"({"type":"string","maxLength":100000})", R"({"type":"string","maxLength":2000})"},
           {R"({"type":"integer","enum":[1,"a",2.5,3]})", R"({"enum":[1,3]})"},
           {R"({"const":1,"type":"integer"})", R"({"enum":[1]})"},
           {R"({"required":["a"]})", R"({"type":"object","required":["a"],"properties":{"a":{}}})"},
           {R"({"allOf":[{"$ref":"#/$defs/a"},{"properties":{"y":{"type":"string"}},"required":["y"]}],
               "$defs":{"a":{"type":"object","properties":{"x":{"type":"null"}},"required":["x"]}}})",
            R"({"type":"object","properties":{"x":{"type":"null"},"y":{"type":"string"}},"required":["x","y"],
               "$defs":{"a":{"type":"object","properties":{"x":{"type":"null"}},"required":["x"]}}})"},
           {R"({"type":"object","properties":{"a":{}},"anyOf":[{"required":["a"]},{"properties":{"b":true}}]})",
            R"({"anyOf":[{"required":["a"],"type":"object","properties":{"a":{}}},
                         {"properties":{"b":{},"a":{}},"type":"object"}]})"},
           {R"({"type":"array","items":false})", R"({"type":"array","maxItems":0})"},
           {R"({"type":"array","prefixItems":[{"type":"null"}],"items":false})",
            R"({"type":"array","prefixItems":[{"type":"null"}]})"}}) {
    EXPECT_EQ(Held(given), json::parse(held)) << given;
  }
  for (const char* taken :
       {"{}", "true", R"({"type":"string","format":"email"})", R"({"type":"number","format":"float"})",
        R"({"oneOf":[{"type":"string"},{"type":"null"}]})", R"({"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{}}})",
        R"({"oneOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/b"}],"$defs":{
            "a":{"type":"object","properties":{"k":{"const":"a"}},"required":["k"]},
            "b":{"type":"object","properties":{"k":{"const":"b"}},"required":["k"]}}})"}) {
    EXPECT_EQ(WhyNot(taken), "") << taken;
  }
}

TEST(LlamaSchema, NonStrictToolsAreUnchanged) {
  const std::string tools =
      R"([{"type":"function","function":{"name":"f","strict":%,"parameters":{"properties":{"a":{"multipleOf":5}}}}}])";
  const auto with = [&](const std::string& strict) { return std::string(tools).replace(tools.find('%'), 1, strict); };
  EXPECT_EQ(json::parse(llama::HeldTools(with("false"))), json::parse(with("false")));
  for (const char* strict : {"true", "null"}) {
    EXPECT_THROW(llama::HeldTools(with(strict)), backend::Error) << strict;
  }
}

TEST(LlamaSchema, HasALimitedSize) {
  std::string twice = R"({"allOf":[{"$ref":"#/$defs/a0"},{"type":"object"}],"$defs":{)";
  for (int i = 0; i < 40; ++i) {
    const std::string next = R"({"$ref":"#/$defs/a)" + std::to_string(i + 1) + "\"}";
    twice += "\"a" + std::to_string(i) + R"(":{"allOf":[)" + next + "," + next + "]},";
  }
  twice += R"("a40":{"type":"object"}}})";
  const char* circle = R"({"allOf":[{"$ref":"#/$defs/a"},{}],"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"},{}]}}})";
  for (const std::string& schema : {twice, std::string(circle)}) {
    EXPECT_THROW(llama::HeldSchema("json-schema", schema), backend::Error);
  }
}

TEST(LlamaSchemaPattern, IsAnchoredAndKnowsClasses) {
  const auto held = [](const char* pattern) { return llama::HeldPattern(pattern).value_or("none"); };
  EXPECT_EQ(held("^ab1$"), "^ab1$");
  EXPECT_EQ(held("^\\d{2,3}$"), "^[\\U00000030-\\U00000039]{2,3}$");
  EXPECT_EQ(held("^a{1,9999}$"), "^a{1,2000}$");
  EXPECT_EQ(held("^(?:a|b)$"), "^(a|b)$");
  EXPECT_THAT(held("b"), ::testing::MatchesRegex("\\^\\[.*\\]\\*\\(b\\)\\[.*\\]\\*\\$"));
  // Characters that JSON escapes.
  EXPECT_EQ(held("^[!-#]$"), "^[\\U00000021-\\U00000021\\U00000023-\\U00000023]$");
  EXPECT_EQ(held("^\\\\$"), "^(\\\\\\\\)$");
  for (const char* none :
       {"^(?=a)$", "^(a$", "^a)$", "a\\b", "^\\1$", "^[a$", "^a^b$", "^\\p{L}$", "^[\\n]$", "^a{,3}$", "^\\"}) {
    EXPECT_EQ(held(none), "none") << none;
  }
}

}  // namespace
}  // namespace wasinn::test
