// The text of the puppet: each function of wasi:nn lowered, wrapped and lifted again.
#include <string>
#include <string_view>
#include <utility>

#include "component/puppet.h"

namespace wasinn::testing {
namespace {

struct Function {
  const char* name;
  const char* interface;
  const char* wit;
  int params;  // of the canonical ABI, with the pointer for results where there is one
  bool result;
};

constexpr Function kCommon[] = {
    {"tensor-new", "tensor", "[constructor]tensor", 5, true},
    {"tensor-dimensions", "tensor", "[method]tensor.dimensions", 2, false},
    {"tensor-ty", "tensor", "[method]tensor.ty", 1, true},
    {"tensor-data", "tensor", "[method]tensor.data", 2, false},
    {"load", "graph", "load", 5, false},
    {"load-by-name", "graph", "load-by-name", 3, false},
    {"init", "graph", "[method]graph.init-execution-context", 2, false},
    {"error-code", "errors", "[method]error.code", 1, true},
    {"error-data", "errors", "[method]error.data", 2, false},
};
constexpr Function kExt[] = {
    {"last-error", "inspect", "last-error", 1, false},
    {"describe", "inspect", "describe", 2, false},
    {"start", "generate", "start", 4, false},
    {"next", "generate", "next", 2, false},
    {"output", "generate", "output", 4, false},
    {"finish", "generate", "finish", 2, false},
    {"load-as", "configure", "load-as", 6, false},
    {"load-with", "configure", "load-by-name", 5, false},
    {"select", "configure", "select-outputs", 4, false},
};
constexpr Function kWhole[] = {
    {"compute", "inference", "[method]graph-execution-context.compute", 4, false},
};
constexpr Function kSteps[] = {
    {"set-input", "inference", "[method]graph-execution-context.set-input", 5, false},
    {"compute", "inference", "[method]graph-execution-context.compute", 2, false},
    {"get-output", "inference", "[method]graph-execution-context.get-output", 4, false},
};
constexpr Function kErrorNew = {"error-new", "errors", "[constructor]error", 3, true};

// Resources: what a guest drops.
struct Resource {
  const char* name;
  const char* interface;
  const char* wit;
};
constexpr Resource kResources[] = {{"tensor-drop", "tensor", "tensor"},
                                   {"graph-drop", "graph", "graph"},
                                   {"context-drop", "inference", "graph-execution-context"},
                                   {"error-drop", "errors", "error"}};

constexpr char kTensor[] = R"(
  (import "wasi:nn/tensor@VERSION" (instance $tensor
    (export "tensor" (type $tensor (sub resource)))
    (type $cases (enum "FP16" "FP32" "FP64" "BF16" "U8" "I32" "I64"))
    (export "tensor-type" (type $tensor-type (eq $cases)))
    (export "[constructor]tensor" (func (param "dimensions" (list u32)) (param "ty" $tensor-type)
                                        (param "data" (list u8)) (result (own $tensor))))
    (export "[method]tensor.dimensions" (func (param "self" (borrow $tensor)) (result (list u32))))
    (export "[method]tensor.ty" (func (param "self" (borrow $tensor)) (result $tensor-type)))
    (export "[method]tensor.data" (func (param "self" (borrow $tensor)) (result (list u8))))))
  (alias export $tensor "tensor" (type $tensor-resource)))";
constexpr char kErrorsHead[] = R"(
  (import "wasi:nn/errors@VERSION" (instance $errors
    (export "error" (type $error (sub resource)))
    (type $cases (enum "invalid-argument" "invalid-encoding" "timeout" "runtime-error" "unsupported-operation"
                       "too-large" "not-found" "security" "unknown"))
    (export "error-code" (type $error-code (eq $cases))))";
constexpr char kErrorsNew[] = R"(
    (export "[constructor]error" (func (param "code" $error-code) (param "data" string) (result (own $error)))))";
constexpr char kErrorsTail[] = R"(
    (export "[method]error.code" (func (param "self" (borrow $error)) (result $error-code)))
    (export "[method]error.data" (func (param "self" (borrow $error)) (result string)))))
  (alias export $errors "error" (type $error-resource)))";
constexpr char kInferenceHead[] = R"(
  (import "wasi:nn/inference@VERSION" (instance $inference
    (alias outer 1 $error-resource (type $error'))
    (export "error" (type $error (eq $error')))
    (alias outer 1 $tensor-resource (type $tensor'))
    (export "tensor" (type $tensor (eq $tensor')))
    (export "graph-execution-context" (type $context (sub resource))))";
constexpr char kInferenceWhole[] = R"(
    (type $named (tuple string (own $tensor)))
    (export "named-tensor" (type $named-tensor (eq $named)))
    (export "[method]graph-execution-context.compute"
      (func (param "self" (borrow $context)) (param "inputs" (list $named-tensor))
            (result (result (list $named-tensor) (error (own $error)))))))))";
constexpr char kInferenceSteps[] = R"(
    (export "[method]graph-execution-context.set-input"
      (func (param "self" (borrow $context)) (param "name" string) (param "tensor" (own $tensor))
            (result (result (error (own $error))))))
    (export "[method]graph-execution-context.compute"
      (func (param "self" (borrow $context)) (result (result (error (own $error))))))
    (export "[method]graph-execution-context.get-output"
      (func (param "self" (borrow $context)) (param "name" string)
            (result (result (own $tensor) (error (own $error)))))))))";
constexpr char kGraph[] = R"(
  (alias export $inference "graph-execution-context" (type $context-resource))
  (import "wasi:nn/graph@VERSION" (instance $graph
    (alias outer 1 $error-resource (type $error'))
    (export "error" (type $error (eq $error')))
    (alias outer 1 $tensor-resource (type $tensor'))
    (export "tensor" (type $tensor (eq $tensor')))
    (alias outer 1 $context-resource (type $context'))
    (export "graph-execution-context" (type $context (eq $context')))
    (export "graph" (type $graph (sub resource)))
    (type $encodings (enum "openvino" "onnx" "tensorflow" "pytorch" "tensorflowlite" "ggml" "autodetect"))
    (export "graph-encoding" (type $graph-encoding (eq $encodings)))
    (type $targets (enum "cpu" "gpu" "tpu"))
    (export "execution-target" (type $execution-target (eq $targets)))
    (export "[method]graph.init-execution-context"
      (func (param "self" (borrow $graph)) (result (result (own $context) (error (own $error))))))
    (export "load" (func (param "builder" (list (list u8))) (param "encoding" $graph-encoding)
                         (param "target" $execution-target) (result (result (own $graph) (error (own $error))))))
    (export "load-by-name" (func (param "name" string) (result (result (own $graph) (error (own $error))))))))
  (alias export $graph "graph" (type $graph-resource))
  (alias export $graph "execution-target" (type $execution-target')))";
constexpr char kInspect[] = R"(
  (import "wasinn:ext/inspect@0.1.0" (instance $inspect
    (alias outer 1 $graph-resource (type $graph'))
    (export "graph" (type $graph (eq $graph')))
    (export "last-error" (func (result string)))
    (export "describe" (func (param "model" (borrow $graph)) (result string))))))";
constexpr char kGenerate[] = R"(
  (import "wasinn:ext/generate@0.1.0" (instance $generate
    (alias outer 1 $error-resource (type $error'))
    (export "error" (type $error (eq $error')))
    (alias outer 1 $tensor-resource (type $tensor'))
    (export "tensor" (type $tensor (eq $tensor')))
    (alias outer 1 $context-resource (type $context'))
    (export "graph-execution-context" (type $context (eq $context')))
    (type $named (tuple string (own $tensor)))
    (export "named-tensor" (type $named-tensor (eq $named)))
    (export "start" (func (param "context" (borrow $context)) (param "inputs" (list $named-tensor))
                          (result (result (error (own $error))))))
    (export "next" (func (param "context" (borrow $context))
                         (result (result (option (list u8)) (error (own $error))))))
    (export "output" (func (param "context" (borrow $context)) (param "name" string)
                           (result (result (own $tensor) (error (own $error))))))
    (export "finish" (func (param "context" (borrow $context)) (result (result (error (own $error)))))))))";
constexpr char kConfigure[] = R"(
  (import "wasinn:ext/configure@0.1.0" (instance $configure
    (alias outer 1 $error-resource (type $error'))
    (export "error" (type $error (eq $error')))
    (alias outer 1 $graph-resource (type $graph'))
    (export "graph" (type $graph (eq $graph')))
    (alias outer 1 $context-resource (type $context'))
    (export "graph-execution-context" (type $context (eq $context')))
    (alias outer 1 $execution-target' (type $target'))
    (export "execution-target" (type $execution-target (eq $target')))
    (type $builder (list u8))
    (export "graph-builder" (type $graph-builder (eq $builder)))
    (export "load-as" (func (param "builders" (list $graph-builder)) (param "format" string)
                            (param "target" $execution-target) (result (result (own $graph) (error (own $error))))))
    (export "load-by-name" (func (param "name" string) (param "config" string)
                                 (result (result (own $graph) (error (own $error))))))
    (export "select-outputs" (func (param "context" (borrow $context)) (param "names" (list string))
                                   (result (result (error (own $error)))))))))";
// Values that are lowered into memory come one after the other.
constexpr char kMemory[] = R"(
  (core module $Memory
    (memory (export "memory") PAGES)
    (global $next (export "next") (mut i32) (i32.const 0x80000))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $next) (i32.const 15)) (i32.const -16)))
      (global.set $next (i32.add (local.get $at) (local.get 3)))
      (local.get $at)))
  (core instance $memory (instantiate $Memory))
  (alias core export $memory "memory" (core memory $bytes))
  (alias core export $memory "realloc" (core func $realloc)))";
constexpr char kPeekAndPoke[] = R"(
    (func (export "peek") (param i32) (result i32) (i32.load (local.get 0)))
    (func (export "poke") (param i32 i32) (result i32) (i32.store8 (local.get 0) (local.get 1)) (i32.const 0))
    (func (export "fill") (param i32 i32 i32) (result i32)
      (memory.fill (local.get 0) (local.get 1) (local.get 2)) (i32.const 0))
    (func (export "repeat-tensor-new") (param $times i32) (param $size i32) (result i32)
      (loop $again
        (call $tensor-drop (call $tensor-new (i32.const 0) (i32.const 0) (i32.const 4) (i32.const 64) (local.get $size)))
        (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
      (i32.const 0))
    (func (export "repeat-tensor-data") (param $times i32) (param $tensor i32) (result i32)
      (loop $again
        (global.set $next (i32.const 0x80000))
        (call $tensor-data (local.get $tensor) (i32.const 0))
        (br_if $again (local.tee $times (i32.sub (local.get $times) (i32.const 1)))))
      (i32.const 0)))";

std::string Repeat(const char* text, int times) {
  std::string result;
  for (int i = 0; i < times; ++i) result += text;
  return result;
}

void Replace(std::string* text, std::string_view what, std::string_view by) {
  for (size_t at = 0; (at = text->find(what, at)) != text->npos; at += by.size()) text->replace(at, what.size(), by);
}

// The parts of the text that every function has.
struct Parts {
  std::string lowered, arguments, imports, bodies, lifted;

  void Lift(const std::string& name, int params) {
    lifted += "\n  (alias core export $puppet \"" + name + "\" (core func $puppet-" + name + "))\n  (func (export \"" +
              name + "\")";
    for (int i = 0; i < params; ++i) lifted += " (param \"p" + std::to_string(i) + "\" u32)";
    lifted += " (result u32) (canon lift (core func $puppet-" + name + ")))";
  }

  void Wrap(const std::string& name, int params, bool result) {
    arguments += "\n    (export \"" + name + "\" (func $" + name + "))";
    const std::string types = "(param" + Repeat(" i32", params) + ")";
    imports +=
        "\n    (import \"nn\" \"" + name + "\" (func $" + name + " " + types + (result ? " (result i32)" : "") + "))";
    Lift(name, params);
  }

  void Body(const std::string& name, int params, bool result) {
    bodies += "\n    (func (export \"" + name + "\") (param" + Repeat(" i32", params) + ") (result i32) (call $" + name;
    for (int i = 0; i < params; ++i) bodies += " (local.get " + std::to_string(i) + ")";
    bodies += result ? "))" : ") (i32.const 0))";
  }

  void Add(const Function& function) {
    const std::string name = function.name;
    lowered += "\n  (alias export $" + std::string(function.interface) + " \"" + function.wit + "\" (func $" + name +
               "-wit))\n  (core func $" + name + " (canon lower (func $" + name +
               "-wit) string-encoding=ENCODING (memory $bytes) (realloc $realloc)))";
    Wrap(name, function.params, function.result);
    Body(name, function.params, function.result);
  }

  void Add(const Resource& resource) {
    const std::string name = resource.name;
    lowered += "\n  (alias export $" + std::string(resource.interface) + " \"" + resource.wit + "\" (type $" + name +
               "-type))\n  (core func $" + name + " (canon resource.drop $" + name + "-type))";
    Wrap(name, 1, false);
    Body(name, 1, false);
  }
};

}  // namespace

std::string PuppetText(std::string_view version, int pages, std::string_view encoding) {
  Parts parts;
  for (const Function& function : kCommon) parts.Add(function);
  if (version == kOctober) {
    for (const Function& function : kWhole) parts.Add(function);
    for (const Function& function : kExt) parts.Add(function);
  } else {
    for (const Function& function : kSteps) parts.Add(function);
  }
  if (version == kJune) parts.Add(kErrorNew);
  for (const Resource& resource : kResources) parts.Add(resource);
  for (const auto& [name, params] :
       {std::pair{"peek", 1}, {"poke", 2}, {"fill", 3}, {"repeat-tensor-new", 2}, {"repeat-tensor-data", 2}}) {
    parts.Lift(name, params);
  }
  std::string text = "(component";
  text += kTensor;
  text += kErrorsHead;
  if (version == kJune) text += kErrorsNew;
  text += kErrorsTail;
  text += kInferenceHead;
  text += version == kOctober ? kInferenceWhole : kInferenceSteps;
  text += kGraph;
  if (version == kOctober) text += std::string(kInspect) + kGenerate + kConfigure;
  text += kMemory;
  text += parts.lowered + "\n  (core module $Puppet\n    (import \"memory\" \"memory\" (memory 1))";
  text += "\n    (import \"memory\" \"next\" (global $next (mut i32)))";
  text += parts.imports + parts.bodies + kPeekAndPoke + ")";
  text += "\n  (core instance $puppet (instantiate $Puppet (with \"memory\" (instance $memory)) (with \"nn\" (instance";
  text += parts.arguments + "))))" + parts.lifted + ")";
  Replace(&text, "VERSION", version);
  Replace(&text, "PAGES", std::to_string(pages));
  Replace(&text, "ENCODING", encoding);
  return text;
}

}  // namespace wasinn::testing
