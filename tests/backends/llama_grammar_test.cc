// Grammars and schemas of guests that would become too much: refused before llama.cpp sees them.
#include "llama/grammar_size.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <thread>

#include "backends/crashes.h"
#include "backends/expect.h"
#include "backends/llama_guest.h"
#include "common/error.h"

namespace wasinn::test {
namespace {

using ::testing::HasSubstr;

std::string Repeated(const std::string& text, size_t n) {
  std::string all;
  for (size_t i = 0; i < n; ++i) all += text;
  return all;
}

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
      {"in many ways behind what may be nothing", "root ::= (" + std::string("\"x\"?") + " r0)\n" + Doubling(40)}};
}

wasinn_code CodeOf(const std::string& grammar) {
  try {
    llama::GrammarBytes(grammar);
    return WASINN_OK;
  } catch (const backend::Error& error) {
    return error.code();
  }
}

TEST(LlamaGrammarSize, RefusesWhatBecomesLarge) {
  for (const Large& large : LargeGrammars()) {
    EXPECT_LE(large.grammar.size(), 64u << 10) << large.name << ": what a guest may send";
    EXPECT_EQ(CodeOf(large.grammar), WASINN_TOO_LARGE) << large.name;
  }
  for (const char* endless : {"root ::= \"a\"{5,2}", "root ::= \"a\"{ 2000 , 1 }", "root ::= (\"a\"{1,0})"}) {
    EXPECT_EQ(CodeOf(endless), WASINN_INVALID_ARGUMENT) << endless;
  }
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

TEST(LlamaGrammarSize, RefusesRulesThatBeginWithThemselves) {
  for (const char* grammar : kLeftRecursive) EXPECT_EQ(CodeOf(grammar), WASINN_INVALID_ARGUMENT) << grammar;
  try {
    llama::GrammarBytes(kLeftRecursive[5]);
  } catch (const backend::Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("rule x may begin with itself"));
  }
  for (const char* grammar : {"root ::= \"a\" root | \"b\"", "root ::= x root \"a\" | \"b\"\nx ::= \"x\" x?",
                              "root ::= root{0} \"a\"", "root ::= (\"a\"?)* \"b\"", "root ::= <[1]> root | \"b\""}) {
    EXPECT_EQ(CodeOf(grammar), WASINN_OK) << grammar;
  }
  // As deep as 64 KiB can say it, on a usual stack.
  std::string chain;
  for (int i = 0; i < 4000; ++i) chain += "r" + std::to_string(i) + "::=r" + std::to_string(i + 1) + "\n";
  EXPECT_EQ(CodeOf(chain + "r4000::=\"a\"\nroot::=r0"), WASINN_OK);
  EXPECT_EQ(CodeOf(chain + "r4000::=r0\nroot::=r0"), WASINN_INVALID_ARGUMENT);
  EXPECT_EQ(CodeOf("root ::= " + std::string(30000, '(') + "\"a\"" + std::string(30000, ')')), WASINN_OK);
}

TEST(LlamaGrammarSize, LetsUsualOnesBe) {
  for (const char* grammar :
       {"root ::= [a-z]+", "root ::= \"a\"{0,1999} \"b\"{10} (\"c\" | \"d\"){2,}", "root ::= [^\"\\\\] \"{5,2}\"",
        "root ::= \"[\" ws (value (\",\" ws value)*)? \"]\"\nvalue ::= \"1\" | root\nws ::= [ \\t\\n]{0,20}",
        "# a comment with {5,2}\nroot ::= . <[1]>* !<[2]> other\nother ::=\n  \"a\" |\n  \"b\""}) {
    EXPECT_EQ(CodeOf(grammar), WASINN_OK) << grammar;
  }
  EXPECT_EQ(CodeOf(Doubling(10)), WASINN_OK);
  // A name of 1,000 words.
  std::string words = "root ::= \"w\"";
  for (int i = 0; i < 1000; ++i) words += " | \"w" + std::to_string(i) + "\"";
  EXPECT_EQ(CodeOf(words), WASINN_OK);
  EXPECT_GT(llama::GrammarBytes("root ::= \"a\"{0,1999}"), 1999u * 4 * 8);
}

// What the backend answers, in a child that may take no more than half a gigabyte beside what it has.
std::string AnswerTo(const std::string& options, wasinn_code* code) {
  const Host host;
  const Model model(host, TinyLlamaWriter().Write(), LlamaOptions(R"({"n-predict": 2, "temp": 0})"));
  Context context(model);
  EXPECT_TRUE(SetPrompt(&context, "the"));
  EXPECT_TRUE(SetOptions(&context, options));
  const Result computed = context.Compute();
  *code = computed.code;
  return computed.message;
}

bool IsRefused(const std::string& options) {
  rlimit limit = {};
  getrlimit(RLIMIT_AS, &limit);
#if !defined(WASINN_ADDRESS_SANITIZER) && !defined(__SANITIZE_THREAD__)
  alarm(60);
  limit.rlim_cur = rlim_t{3} << 30;  // stacks of 256 MiB among it, of which little is touched
  setrlimit(RLIMIT_AS, &limit);
#endif
  wasinn_code code = WASINN_OK;
  AnswerTo(options, &code);
  return code == WASINN_OK;
}

TEST(LlamaGrammar, ThatBecomesLargeIsRefusedBeforeItDoes) {
  Crashes crashes(IsRefused);
  size_t tried = 0;
  for (const Large& large : LargeGrammars()) {
    crashes.Try(large.name, nlohmann::json{{"grammar", large.grammar}}.dump());
    ++tried;
  }
  crashes.Try("endless", R"({"grammar": "root ::= \"a\"{5,2}"})");
  for (const char* grammar : kLeftRecursive) {
    crashes.Try(grammar, nlohmann::json{{"grammar", grammar}}.dump());
    ++tried;
  }
  crashes.ExpectNone();
  EXPECT_EQ(crashes.loaded(), 0u);
  EXPECT_EQ(crashes.tried(), tried + 1);
  wasinn_code code = WASINN_OK;
  EXPECT_THAT(AnswerTo(nlohmann::json{{"grammar", LargeGrammars()[0].grammar}}.dump(), &code),
              HasSubstr("repetitions, written out"));
  EXPECT_EQ(code, WASINN_TOO_LARGE);
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

TEST(LlamaGrammar, OfASchemaThatBecomesLargeIsRefusedBeforeItDoes) {
  std::string strings = R"({"type":"object","required":["p0"],"properties":{)", refs = R"({"allOf":[)";
  for (int i = 0; i < 200; ++i) {
    strings += (i == 0 ? "\"p" : ",\"p") + std::to_string(i) + R"(":{"type":"string","maxLength":)" +
               std::to_string(1000 + i) + "}";
    refs += std::string(i == 0 ? "" : ",") + R"({"$ref":"#/$defs/a"})";
  }
  strings += "}}";
  refs += R"(],"$defs":{"a":)" + Properties(100, "{}") + "}}";
  Crashes crashes(IsRefused);
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
    crashes.Try(name, nlohmann::json{{"json-schema", schema}}.dump());
  }
  crashes.ExpectNone();
  EXPECT_EQ(crashes.loaded(), 0u);
  wasinn_code code = WASINN_OK;
  AnswerTo(nlohmann::json{{"json-schema", Properties(40, R"({"type":"string","maxLength":50})")}}.dump(), &code);
  EXPECT_EQ(code, WASINN_OK) << "a usual one";
  AnswerTo(R"({"json-schema": {"type":"object","properties":{"next":{"$ref":"#/$defs/node"},
               "all":{"allOf":[{"$ref":"#/$defs/node"}]}},
               "$defs":{"node":{"type":"object","properties":{"v":{"type":"integer"},"next":{"$ref":"#/$defs/node"}}}}}})",
           &code);
  EXPECT_EQ(code, WASINN_OK) << "a list";
}

}  // namespace
}  // namespace wasinn::test
