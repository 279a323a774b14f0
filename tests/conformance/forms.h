// The forms of wasi-nn that guests are written against, and the guest programs that speak
// them.
#pragma once

#include "formats.h"
#include "support/test.h"

namespace wasinn::testing {

struct Form {
  const char* name;
  const char* guest;    // guests are called PROGRAM-GUEST
  const char* dialect;  // of the command
  // Its numbers of the encodings that differ.
  int autodetect;
  int ggml;
  bool component = false;
};

// Those of core modules, which every engine runs; and those of components: none, where they cannot be built.
std::vector<Form> ModuleForms();
std::vector<Form> ComponentForms();

// A test's parameter: a model's format over a form of wasi-nn.
struct Case {
  Format format;
  Form form;
};

// FORMAT_FORM.
inline std::string NameOf(const Case& c) { return std::string(c.format.name) + "_" + c.form.name; }
// In the name of a test, which is else its bytes.
inline void PrintTo(const Case& c, std::ostream* out) { *out << NameOf(c); }

std::vector<Case> Cases(const std::vector<Format>& formats, const std::vector<Form>& forms);

// A language model: llama.cpp's, or none if this build is without it.
std::vector<Format> TextFormats();

}  // namespace wasinn::testing
