// The core of the hostile suite on every framework over every form of wasi-nn: the same answers everywhere, and an
// honest inference after each part gives the bytes that it gave before.
#include "forms.h"
#include "support/this_build.h"
#include "wasinn_run.h"

namespace wasinn::testing {
namespace {

// The output of guests/attack.c; for inputs that take bytes of any shape, `shapes`. LOADS stands for the encodings
// under which the model's bytes are taken, OWN for the lines of the form's own functions.
constexpr char kModuleLines[] = R"(builders outside: 5 x 1
16 builders outside: 5 x 1
bytes of a model outside: 5 x 1
a graph's place outside: 5 x 1
a name outside: 5 x 1
a named graph's place outside: 5 x 1
a context's place outside: 5 x 1
a tensor outside: 5 x 1
dimensions outside: 5 x 1
data outside: 5 x 1
a buffer outside: 5 x 1
a size's place outside: 5 x 1
bytes of a model too long: 3 x 1
names too long: 3 x 1
buffers too long: 3 x 1
0, 17, 2^29 and 2^32-1 builders: 1 x 1, 3 x 7
honest inference: the same
forged handles: 48 x 1
results of failed calls are not written
types that are none: 3 x 1
ranks that are none: 4 x 1
shapes beyond all memory: SHAPES
inputs that are not there: 4 x NAMED
outputs that are not there: 4 x 1
honest inference: the same
encodings of these bytes: ENCODINGS
targets that are none: 4 x 1
compute without an input: refused
an output before it is computed: refused
a tensor of another type: refused
buffers too small: 4 x 7
the size that is needed: reported
honest inference: the same
OWN
honest inference: the same
graphs are bounded: yes
contexts: 14 x 0, 26 x 7
bytes of one more graph: 1 x 7
honest inference: the same
)";

// The lines of the functions that a form has for itself.
struct OwnLines {
  const char* form;
  const char* lines;
};
constexpr OwnLines kOwnLines[] = {
    {"wasmedge", R"(a configured name outside: 5 x 1
a configuration outside: 5 x 1
a configured graph's place outside: 5 x 1
configurations that are none: CONFIGURATIONS
unload, finalize: 0, 0
what was given back: 7 x 1
what never was: 3 x 1
)"},
    {"wamr_module", R"(records of builders outside: 5 x 1
shapes outside: 5 x 1
)"},
    {"ext", R"(names of tensors outside: 17 x 1
names that nothing has: NAMES
places of a whole call outside: 60 x 1
numbers of a whole call that nothing has: 24 x 1
places of a wait outside: 10 x 1
numbers of computes that nothing has: 4 x 1
computes that have not begun: 19 x 1
a compute that is begun twice: 0, 4, 4, 1, 0
places of texts outside: 20 x 1
places of outputs outside: 10 x 1
describing and setting what is not there: 28 x 1
)"},
};

// The output of guests/attack_component.c.
constexpr char kComponentLines[] = R"(honest inference: the same
a tensor of another type: refused
a byte less: ANY
no bytes: refused
a shape beyond all memory: ANY
another one: ANY
an input that is not there: NAMED
an input that is not there: NAMED
an input that is not there: NAMED
an input that is not there: NAMED
no input: refused
honest inference: the same
encodings of these bytes: ENCODINGS
a name that is not there: refused
no name: refused
honest inference: the same
graphs are bounded: yes
contexts: 14
other errors: 0
honest inference: the same
)";

std::string Replaced(std::string text, const std::string& word, const std::string& by) {
  for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
    text.replace(at, word.size(), by);
  return text;
}

class AttackTest : public ::testing::TestWithParam<Case> {
 protected:
  static const Format& format() { return GetParam().format; }
  static const Form& form() { return GetParam().form; }
  // Its input takes bytes of any length, whatever the shape says.
  static bool IsText() { return format().framework == std::string_view("llama"); }
  // Its only input may have any name.
  static bool HasAnyName() { return format().framework == std::string_view("torch"); }

  void SetUp() override {
    folder_.Write("host.toml", format().Settings("model") +
                                   (IsText() ? "temp = 0\nn-predict = 16\nthreads = 1\n" : "") +
                                   "[limits]\nmax_graphs = 24\nmax_contexts = 16\nmax_log_messages = 100000\n");
    HeldOut one = ReadHeldOut();
    one.images.resize(1);
    one.labels.resize(1);
    label_ = one.labels[0];
    const std::string prompt = "GNU General Public";
    input_ = IsText() ? Bytes(prompt.begin(), prompt.end()) : InputsOf(format(), one);
    folder_.Write("input", input_);
  }

  CommandResult Run() const {
    // WasmEdge's functions are in the module of the standard's.
    const bool wasmedge = form().name == std::string_view("wasmedge");
    std::vector<std::string> args = {format().type, IsText() ? std::to_string(input_.size()) : "1,1,8,8",
                                     "/files/input", format().guest_files()};
    if (form().component) args.insert(args.end(), {IsText() ? "prompt" : "image", format().output});
    return RunGuest({"--config", folder_.path() / "host.toml", "--dialect", form().dialect, "--dir",
                     folder_.path().string() + "::/files", "--dir", InSources("models") + "::/models"},
                    std::string("attack-") + (wasmedge ? "wasmedge" : form().guest), args);
  }

  // The numbers under which this form takes the model's bytes: those of its format and of none.
  static std::string Encodings() {
    std::set<int> numbers = {IsText() ? form().ggml : format().encoding, form().autodetect};
    // Without a dialect, both leave it to the bytes.
    if (form().autodetect == form().ggml) numbers.insert({5, 6});
    std::string words;
    for (const int number : numbers) words.append(words.empty() ? "" : " ").append(std::to_string(number));
    return words;
  }

  // The lines, and after them the honest output, which is right.
  void ExpectLines(const CommandResult& run, const std::string& lines) const {
    EXPECT_EQ(run.exit_code, 0) << run.err;
    ASSERT_TRUE(run.out.ends_with("\n"));
    const size_t last = run.out.rfind('\n', run.out.size() - 2) + 1;
    EXPECT_EQ(run.out.substr(0, last), lines) << run.err;
    const Bytes output = FromHex(run.out.substr(last));
    if (IsText()) {
      EXPECT_THAT(std::string(output.begin(), output.end()), ::testing::StartsWith(" License"));
    } else {
      EXPECT_EQ(CountRight(format(), output, {label_}), 1u) << run.out;
    }
  }

  const TestFolder folder_;
  Bytes input_;
  size_t label_ = 0;
};

TEST_P(AttackTest, Core) {
  std::string own;
  for (const OwnLines& lines : kOwnLines) {
    if (lines.form == std::string_view(form().name)) own = lines.lines;
  }
  // WAMR's module has no length but the shape's. Keys that llama.cpp's backend does not know are left, as WasmEdge
  // does.
  const bool any_shape = IsText() && form().name != std::string_view("wamr_module");
  std::string lines = Replaced(kModuleLines, "OWN\n", own);
  lines = Replaced(lines, "SHAPES", any_shape ? "7 x 0" : "7 x 1");
  lines = Replaced(lines, "CONFIGURATIONS", IsText() ? "2 x 0, 3 x 1" : "5 x 1");
  const bool by_name = form().name == std::string_view("ext");
  lines = Replaced(lines, "NAMED", by_name && HasAnyName() ? "0" : "1");
  lines = Replaced(lines, "NAMES", HasAnyName() ? "6 x 0, 12 x 1" : "18 x 1");
  ExpectLines(Run(), Replaced(lines, "ENCODINGS", Encodings()));
}

class ComponentAttackTest : public AttackTest {};

TEST_P(ComponentAttackTest, Core) {
  std::string lines = Replaced(kComponentLines, "ANY", IsText() ? "done" : "refused");
  lines = Replaced(lines, "NAMED", HasAnyName() ? "done" : "refused");
  ExpectLines(Run(), Replaced(lines, "ENCODINGS", Encodings()));
}

// One format of each framework that guests may bring along, for the attacks are the same on all.
std::vector<Format> OneOfEach() {
  std::vector<Format> formats;
  std::set<std::string> frameworks;
  for (const Format& format : FormatsWithBytes()) {
    if (frameworks.insert(format.framework).second) formats.push_back(format);
  }
  for (const Format& format : TextFormats()) formats.push_back(format);
  return formats;
}

// The pairs: the first format over each form on each engine, for these read the guest's memory; and each other
// format once.
std::vector<Case> ModuleCases() {
  const std::vector<Format> formats = OneOfEach();
  const std::vector<Form> forms = ModuleForms();
  if (!OnlyPairs()) return Cases(formats, forms);
  std::vector<Case> cases;
  for (const Form& form : forms) cases.push_back({formats.front(), form});
  for (size_t i = 1; i < formats.size(); ++i) {
    if (IsThisEnginesPart(i)) cases.push_back({formats[i], forms[i % forms.size()]});
  }
  return cases;
}

std::string ParamName(const ::testing::TestParamInfo<Case>& info) { return NameOf(info.param); }

INSTANTIATE_TEST_SUITE_P(, AttackTest, ::testing::ValuesIn(ModuleCases()), ParamName);
INSTANTIATE_TEST_SUITE_P(, ComponentAttackTest, ::testing::ValuesIn(Cases(OneOfEach(), ComponentForms())), ParamName);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(ComponentAttackTest);

}  // namespace
}  // namespace wasinn::testing
