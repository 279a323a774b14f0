// The digits network in every format, on every framework that this build has; and what the framework itself answers.
#pragma once

#include "digits.h"
#include "support/test.h"
#include "support/this_build.h"

namespace wasinn::testing {

struct Format {
  const char* name;
  const char* framework;  // its backend
  const char* model;      // a file or folder of models/
  // A model that guests bring as bytes, and wasi-nn's number of its encoding. Models without one are only loaded by
  // name.
  std::vector<const char*> files;
  int encoding = -1;
  const char* output = "probabilities";  // the input is "image" everywhere
  const char* type = "f32";
  // The framework's own names, if they differ.
  const char* native_input = "image";
  const char* native_output = "probabilities";

  // The files as a guest that has models/ at /models names them; "" for none.
  std::string guest_files() const {
    std::string paths;
    for (const char* file : files) paths.append(paths.empty() ? "/models/" : ",/models/").append(file);
    return paths;
  }
  std::string path() const { return InSources("models/") + model; }
  // Settings of a host that has it by this name, in TOML; lines of the model's configuration may follow.
  std::string Settings(const std::string& name) const {
    return "[models." + name + "]\npath = \"" + path() + "\"\nbackend = \"" + framework + "\"\n[models." + name +
           ".config]\n";
  }
};

// In the name of a test, which is else its bytes.
inline void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

// Those whose frameworks this build has.
std::vector<Format> BuiltFormats();
// Those of them that a guest may bring as bytes.
std::vector<Format> FormatsWithBytes();

// All held-out images as this format takes them, one after the other; each has [1,1,8,8] elements.
Bytes InputsOf(const Format& format, const HeldOut& held_out);

// How many of the outputs (one for each label) are largest at the label.
size_t CountRight(const Format& format, const Bytes& outputs, const std::vector<size_t>& labels);

// The outputs of the framework, called directly in a program of its own, for a file of tensors of these dimensions.
// Files of its own go into `folder`.
Bytes RunReference(const Format& format, const std::filesystem::path& inputs, const std::filesystem::path& folder,
                   const std::string& dims = "1,1,8,8");

}  // namespace wasinn::testing
