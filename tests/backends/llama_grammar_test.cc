// Grammars and schemas of guests that would become too much.
#include "backends/crashes.h"
#include "backends/expect.h"
#include "backends/llama_guest.h"
#include "support/files.h"
#include "support/own_process.h"
#include "support/this_build.h"

namespace wasinn::test {
namespace {

using testing::Repeated;

// r0 ::= r1 "a" | r1 "b", and so on: the last one's beginning in as many ways as there are paths to it.
std::string Doubling(size_t rules) {
  std::string grammar = "root ::= r0\n";
  for (size_t i = 0; i < rules; ++i) {
    const std::string next = "r" + std::to_string(i + 1);
    grammar += "r" + std::to_string(i) + " ::= " + next + " \"a\" | " + next + " \"b\"\n";
  }
  return grammar + "r" + std::to_string(rules) + " ::= \"c\"\n";
}

// s0 may begin with the root in 2 to the power of 13 ways, each of which has four more. The root refers to it behind
// its own beginning only: so what the root has must be known before.
std::string Behind() {
  std::string grammar = "root ::= \"x\" s0 | \"y\" | \"z\" | \"w\"\n";
  for (int i = 0; i < 13; ++i) {
    const std::string next = i == 12 ? "root" : "s" + std::to_string(i + 1);
    grammar += "s" + std::to_string(i) + " ::= " + next + " \"a\" | " + next + " \"b\"\n";
  }
  return grammar;
}

// A stack for each parenthesis, each of which has what follows all those around it.
std::string Deep(size_t depth, const std::string& inside) {
  return "root ::= " + Repeated("(", depth) + inside + Repeated(").", depth);
}

struct Large {
  std::string name, grammar;
};

std::vector<Large> LargeGrammars() {
  const std::string text(2000, 'a');
  return {
      {"many repetitions", "root ::= " + Repeated("\"a\"{0,1999} ", 5000)},
      {"of a class", "root ::= " + Repeated("[a-z]{0,1999}", 4500)},
      {"in groups", "root ::= " + Repeated("(\"a\"{0,40}){0,48} ", 3500)},
      {"of a long text", "root ::= \"" + Repeated(text, 30) + "\"{0,1999}"},
      {"exactly", "root ::= \"" + Repeated(text, 30) + "\"{1999}"},
      {"of what was repeated", "root ::= \"" + text + "\"{1999}" + Repeated("+", 40000)},
      {"under a long name", std::string(30000, 'r') + " ::= " + Repeated("\"a\"{0,1999} ", 100) + "\nroot ::= \"a\""},
      {"in many ways", Doubling(40)},
      {"in many ways of the rule that asks", Behind()},
      {"deep", Deep(21000, "[a-z]")},
      {"deep behind a character", "root ::= \"a\" x\nx" + Deep(20000, "[a-z]").substr(4)},
      {"deep in repetitions", Deep(8000, "[a-z]?").insert(9, Repeated("(", 8000)) + Repeated("*)?.", 8000)},
      {"deeper with each character", Deep(1000, "\"a\" root | \"b\"")},
      {"wide and deeper with each character",
       "root ::= (" + Repeated("\"a\" root \".\" | ", 3000) + "\"b\") " + Repeated("root ", 10)},
      {"in many ways behind what may be nothing", "root ::= (" + std::string("\"x\"?") + " r0)\n" + Doubling(40)}};
}

// Rules that begin with themselves, as llama.cpp sees it and as it does not.
const char* const kLeftRecursive[] = {
    "root ::= root \"a\" | \"b\"",
    "root ::= (\"x\" | root)",
    "y ::= \"\"\nx ::= y y\nroot ::= x root \"a\" | \"b\"",
    "y ::= [^]\nx ::= y y\nroot ::= x root \"a\" | \"b\"",
    "y ::= <[1]>*\nx ::= y\nroot ::= x root \"a\" | \"b\"",
    "root ::= x \"b\"\nx ::= y (x \"a\")*\ny ::= z z\nz ::= w | \"z\"\nw ::= \"q\"?",
};

// A text of "e" goes on in as many ways as there are letters to end it with, behind each of its characters.
std::string WideAndRecursive(size_t ways) {
  std::string grammar = "root ::= \"b\"";
  for (size_t i = 0; i < ways; ++i) grammar += " | \"e\" root \"" + std::to_string(i) + "\"";
  return grammar;
}

// The backend's answer.
std::string AnswerTo(const std::string& options, wasinn_code* code) {
  auto&& [host, model, context] = Opened(TinyLlamaWriter().Write(), LlamaOptions(R"({"n-predict": 2, "temp": 0})"));
  EXPECT_TRUE(SetPrompt(&context, "the"));
  EXPECT_TRUE(SetOptions(&context, options));
  const Result computed = context.Compute();
  *code = computed.code;
  return computed.message;
}

bool IsTaken(const std::string& options) {
  wasinn_code code = WASINN_OK;
  AnswerTo(options, &code);
  return code == WASINN_OK;
}

// `^(a|b)*(a|b)*…$`: all these ways begin again after each character.
std::string ManyStars(size_t n) { return "^" + Repeated("(a|b)*", n) + "$"; }

// Whatever becomes of it.
// AddressSanitizer keeps 256 MiB of what was freed, and as much again around it.
constexpr uint64_t kWithFreedMemory = 640;

bool TakesLittleMemory(const std::string& options) {
  IsTaken(R"({"grammar": "root ::= [a-z ]"})");
  const testing::PeakMemory memory;
  wasinn_code code = WASINN_OK;
  const std::string message = AnswerTo(options, &code);
  if (code == WASINN_OK || code == WASINN_ERROR_TOO_LARGE || code == WASINN_ERROR_INVALID_ARGUMENT) {
    return memory.grown() < (testing::HasAddressSanitizer() ? kWithFreedMemory : 64U) << 20;
  }
  std::cerr << message << "\n";
  return false;
}

TEST(LlamaGrammar, StaysWithinItsMemoryLimit) {
  Crashes crashes(TakesLittleMemory);
  size_t tried = 0;
  for (const Large& large : LargeGrammars()) {
    ASSERT_LE(large.grammar.size(), 64u << 10) << large.name << ": what a guest may send";
    crashes.Try(large.name, json{{"grammar", large.grammar}}.dump());
    ++tried;
  }
  for (const char* grammar : kLeftRecursive) {
    crashes.Try(grammar, json{{"grammar", grammar}}.dump());
    ++tried;
  }
  crashes.Try("a pattern", json{{"json-schema", {{"type", "string"}, {"pattern", ManyStars(5000)}}}}.dump());
  crashes.ExpectNone();
  EXPECT_EQ(crashes.taken(), tried + 1);
}

TEST(LlamaGrammar, ErrorsNameTheExceededLimit) {
  wasinn_code code = WASINN_OK;
  for (const std::string& grammar : {LargeGrammars()[0].grammar, Doubling(40), Deep(21000, "[a-z]")}) {
    EXPECT_THAT(AnswerTo(json{{"grammar", grammar}}.dump(), &code),
                ::testing::MatchesRegex("grammar: it takes more than [0-9]+ (bytes of memory|steps of work)"));
    EXPECT_EQ(code, WASINN_ERROR_TOO_LARGE);
  }
  for (const char* endless : {"root ::= \"a\"{5,2}", "root ::= \"a\"{ 2000 , 1 }", "root ::= (\"a\"{1,0})"}) {
    EXPECT_THAT(AnswerTo(json{{"grammar", endless}}.dump(), &code), HasSubstr("the smaller number first"));
    EXPECT_EQ(code, WASINN_ERROR_INVALID_ARGUMENT) << endless;
  }
}

TEST(LlamaGrammar, UsualSizesAreAccepted) {
  wasinn_code code = WASINN_OK;
  const std::string words = [] {
    std::string all = "root ::= \"w\"";
    for (int i = 0; i < 1000; ++i) all += " | \"w" + std::to_string(i) + "\"";
    return all;
  }();
  for (const std::string& grammar :
       {std::string("root ::= [a-z]+"), std::string("root ::= \"a\"{0,1999} \"b\"{10} (\"c\" | \"d\"){2,}"),
        std::string(
            "root ::= \"[\" ws (value (\",\" ws value)*)? \"]\"\nvalue ::= \"1\" | root\nws ::= [ \\t\\n]{0,20}"),
        std::string("# a comment with {5,2}\nroot ::= . <[1]>* other\nother ::=\n  \"a\" |\n  \"b\""), Doubling(8),
        words, Deep(50, "\"a\" root | \"b\""), Deep(500, "[a-z]"),
        "root ::= " + std::string(10000, '(') + "\"a\"" + std::string(10000, ')')}) {
    EXPECT_EQ(AnswerTo(json{{"grammar", grammar}}.dump(), &code), "") << grammar.substr(0, 100);
    EXPECT_EQ(code, WASINN_OK) << grammar.substr(0, 100);
  }
}

// One that takes long, so that its deadline passes.
TEST(LlamaGrammar, IsCancelledWhileATokenIsChecked) {
  auto&& [host, model, context] =
      Opened(TinyModel(), LlamaOptions(R"({"n-predict": -1, "ctx-size": 4096, "temp": 0})"));
  ASSERT_TRUE(SetPrompt(&context, "the"));
  // Each token takes some of the work that one may take.
  ASSERT_TRUE(SetOptions(
      &context, json{{"json-schema", {{"type", "string"}, {"pattern", ManyStars(60)}}}, {"ignore-eos", true}}.dump()));
  ExpectCancellable(&context);
}

TEST(LlamaGrammar, IsChargedToItsGuest) {
  const Host host;
  const LoadedModel model(host, TinyModel(), LlamaOptions(R"({"n-predict": 2, "temp": 0})"));
  const auto most_of = [&](const std::string& options) {
    Account account;
    Context context(model, 0, "{}", &account);
    EXPECT_TRUE(SetPrompt(&context, "the"));
    EXPECT_TRUE(SetOptions(&context, options));
    const Result computed = context.Compute();
    EXPECT_TRUE(computed) << computed.message;
    return account.most.load();
  };
  const uint64_t without = most_of("{}");
  const std::string large = "root ::= " + Repeated("[a-z ]{0,1999} ", 20);
  EXPECT_GT(most_of(json{{"grammar", large}}.dump()), without + (2U << 20));
  Account poor;
  poor.limit = without + (1U << 20);
  Context context(model, 0, "{}", &poor);
  ASSERT_TRUE(SetPrompt(&context, "the"));
  ASSERT_TRUE(SetOptions(&context, json{{"grammar", large}}.dump()));
  EXPECT_EQ(context.Compute().code, WASINN_ERROR_TOO_LARGE);
  ASSERT_TRUE(SetOptions(&context, "{}"));
  EXPECT_TRUE(context.Compute());
  EXPECT_LE(poor.used, poor.limit);
}

// No usual vocabulary has tokens of 4,000 characters: no grammar goes on with them.
TEST(LlamaGrammar, SurvivesLongTokens) {
  GgufWriter writer = TinyLlamaWriter();
  std::vector<std::string> tokens = TinyVocabulary();
  tokens.back() = std::string(4000, 'e');
  writer.SetTexts("tokenizer.ggml.tokens", tokens);
  Crashes crashes([](const std::string& bytes) {
    auto&& [host, model, context] = Opened(bytes, LlamaOptions(R"({"n-predict": 3, "temp": 0})"));
    if (!SetPrompt(&context, "the")) return false;
    if (!SetOptions(&context, json{{"grammar", WideAndRecursive(100)}}.dump())) return false;
    const std::string text = Complete(&context);
    const bool is_allowed = !text.empty() && text.find_first_not_of("eb") == std::string::npos;
    if (!is_allowed) std::cerr << text << "\n";
    return is_allowed;
  });
  crashes.Try("a long token", writer.Write());
  crashes.ExpectNone();
  EXPECT_EQ(crashes.taken(), 1u);
}

std::string Properties(size_t n, const char* each) {
  std::string text;
  for (size_t i = 0; i < n; ++i) text += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + "\":" + each;
  return R"({"type":"object","properties":{)" + text + "}}";
}

// Each object has the next one's properties twice.
std::string Levels(int n) {
  std::string text = R"({"$ref":"#/$defs/a0","$defs":{)";
  for (int i = 0; i < n; ++i) {
    const std::string next = R"({"$ref":"#/$defs/a)" + std::to_string(i + 1) + "\"}";
    text +=
        "\"a" + std::to_string(i) + R"(":{"type":"object","properties":{"p":{"allOf":[)" + next + "," + next + "]}}},";
  }
  return text + "\"a" + std::to_string(n) + R"(":{"type":"object","properties":{"p":{}}}}})";
}

TEST(LlamaGrammar, ASchemaThatWouldBecomeLargeTakesLittle) {
  std::string strings = R"({"type":"object","required":["p0"],"properties":{)", refs = R"({"allOf":[)";
  for (int i = 0; i < 200; ++i) {
    strings += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + R"(":{"type":"string","maxLength":)" +
               std::to_string(1000 + i) + "}";
    refs += std::string(i == 0 ? "" : ",") + R"({"$ref":"#/$defs/a"})";
  }
  strings += "}}";
  refs += R"(],"$defs":{"a":)" + Properties(100, "{}") + "}}";
  size_t tried = 0;
  Crashes crashes(TakesLittleMemory);
  for (const auto& [name, schema] :
       {std::pair<const char*, std::string>{"maxLength", strings},
        {"properties", Properties(4000, "{}")},
        {"allOf", refs},
        {"maxItems", R"({"type":"array","items":{"type":"array","items":)" +
                         Properties(200, "{\"type\":\"array\",\"maxItems\":1999}") +
                         R"(,"maxItems":1999},"maxItems":1999})"},
        {"a reference to itself", R"({"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#/$defs/a"}}})"},
        {"two that refer to each other",
         R"({"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}})"},
        {"an array that holds itself", R"({"allOf":[{"$ref":"#/allOf/0"}]})"},
        {"in anyOf", R"({"allOf":[{"anyOf":[{"$ref":"#/allOf/0/anyOf/0"}]}]})"},
        {"in anyOf of a definition",
         R"({"allOf":[{"$ref":"#/$defs/a"}],"$defs":{"a":{"anyOf":[{"$ref":"#/$defs/a"}]}}})"},
        {"an object that is its own part",
         R"({"$ref":"#/$defs/a","$defs":{"a":{"type":"object","properties":{"p":{"allOf":[{"$ref":"#/$defs/a"}]}}}}})"},
        {"twice as many at each level", Levels(40)},
        {"pattern", R"({"type":"string","pattern":"^)" + Repeated("[a-z]{0,1999}", 1500) + R"($"})"}}) {
    ASSERT_LE(schema.size(), 64u << 10) << name;
    crashes.Try(name, json{{"json-schema", schema}}.dump());
    ++tried;
  }
  crashes.ExpectNone();
  EXPECT_EQ(crashes.taken(), tried);
  wasinn_code code = WASINN_OK;
  EXPECT_EQ(AnswerTo(json{{"json-schema", Properties(40, R"({"type":"string","maxLength":50})")}}.dump(), &code), "");
  EXPECT_EQ(code, WASINN_OK) << "a usual one";
  AnswerTo(R"({"json-schema": {"type":"object","properties":{"next":{"$ref":"#/$defs/node"},
               "all":{"allOf":[{"$ref":"#/$defs/node"}]}},
               "$defs":{"node":{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#/$defs/node"}}}}}})",
           &code);
  EXPECT_EQ(code, WASINN_OK) << "a list";
}

// Each level is built once for each of its types.
std::string ManyTypes(size_t types, size_t levels, const std::string& type) {
  std::string schema = R"({"type":"string"})", list;
  for (size_t i = 0; i < types; ++i) list += (i == 0 ? "" : ",") + type;
  for (size_t i = 0; i < levels; ++i) {
    schema = R"({"type":[)" + list + R"(],"properties":{"a":)" + schema + R"(},"required":["a"]})";
  }
  return schema;
}

// As ManyTypes, of arrays.
std::string ManyArrays(size_t levels) {
  std::string schema = R"({"type":"string"})";
  for (size_t i = 0; i < levels; ++i) schema = R"({"type":["array","array","array","array"],"items":)" + schema + "}";
  return schema;
}

// One target under many names. `of_reference`: what makes a number one of them.
std::string ManyNames(size_t n, const std::string& target, const std::function<std::string(size_t)>& of_reference) {
  std::string schema = R"({"d":[)" + target + R"(],"anyOf":[)";
  for (size_t i = 0; i < n; ++i) schema += (i == 0 ? "" : ",") + (R"({"$ref":"#/d/)" + of_reference(i) + "\"}");
  return schema + "]}";
}

// Objects in an object, all of whose properties' names are hyphens to llama.cpp: "!!!", "!!%" and so on.
std::string ManyHyphens(size_t objects, size_t properties) {
  constexpr std::string_view kSigns = "!%&()*,.:;<=>?@^_`{|}~+";
  size_t names = 0;
  const auto next = [&] {
    const size_t i = names++;
    return std::string("\"") + kSigns[i % 23] + kSigns[i / 23 % 23] + kSigns[i / 529 % 23] + "\":";
  };
  std::string schema = R"({"type":"object","properties":{)";
  for (size_t i = 0; i < objects; ++i) {
    schema += (i == 0 ? "" : ",") + next() + R"({"type":"object","properties":{)";
    for (size_t j = 0; j < properties; ++j) schema += (j == 0 ? "" : ",") + next() + "{}";
    schema += "}}";
  }
  return schema + "}}";
}

TEST(LlamaGrammar, ARepeatedSchemaTakesLittle) {
  std::string ones = R"({"const":1})", long_name = std::string(30000, 'x');
  for (int i = 0; i < 2000; ++i) ones += R"(,{"const":1})";
  const auto number = [](const std::string& after, size_t i) {
    const auto letter = [](size_t at) { return std::string(1, static_cast<char>('a' + at % 26)); };
    return "0" + after + letter(i) + letter(i / 26);
  };
  Crashes crashes(TakesLittleMemory);
  size_t tried = 0;
  for (const auto& [name, schema] : std::vector<std::pair<std::string, std::string>>{
           {"types", ManyTypes(10, 12, R"("object")")},
           {"types that are any", ManyTypes(10, 12, "null")},
           {"types in types", ManyTypes(1, 12, R"([["object","object"],["object","object","object"]])")},
           {"arrays", ManyArrays(25)},
           {"many types of a long text",
            R"({"description":")" + long_name + R"(","type":["string")" + Repeated(",\"string\"", 3000) + "]}"},
           {"in a container whose property looks like a reference",
            R"({"type":"object","properties":{"$ref":{},"b":)" + Properties(4000, "{}") + "}}"},
           {"a reference's texts",
            ManyNames(300, R"({"anyOf":[)" + ones + "]}", [&](size_t i) { return number("", i); })},
           {"a reference to a pattern that is wrong",
            ManyNames(2000, R"({"type":"string","pattern":"^)" + Repeated("a{2}", 4000) + ")$\"}",
                      [](size_t) { return std::string("0"); })},
           {"a long name", R"({"type":"object","properties":{")" + long_name + R"(":{"anyOf":[)" + ones + "]}}}"},
           {"names that become the same", ManyHyphens(20, 50)},
           {"many of them", ManyHyphens(60, 60)}}) {
    ASSERT_LE(schema.size(), 64u << 10) << name;
    crashes.Try(name, json{{"json-schema", schema}}.dump());
    ++tried;
  }
  crashes.ExpectNone();
  EXPECT_EQ(crashes.taken(), tried);
  wasinn_code code = WASINN_OK;
  const auto nullable = json{{"json-schema", ManyTypes(1, 10, R"("object","null")")}}.dump();
  EXPECT_EQ(AnswerTo(nullable, &code), "");
  EXPECT_EQ(code, WASINN_OK) << "what may be null";
  for (const auto& [name, schema] : std::vector<std::pair<std::string, std::string>>{
           {"a choice", R"({"anyOf":[)" + ones + "]}"},
           {"one name in many objects", R"({"type":"array","prefixItems":[)" + Properties(20, R"({"type":"null"})") +
                                            Repeated("," + Properties(20, R"({"type":"null"})"), 30) + "]}"},
           {"names with other letters", ManyHyphens(3, 10)}}) {
    AnswerTo(json{{"json-schema", schema}}.dump(), &code);
    EXPECT_EQ(code, WASINN_OK) << name;
  }
}

}  // namespace
}  // namespace wasinn::test
