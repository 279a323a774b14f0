#include "torch/definition_check.h"

#include <fmt/format.h>
#include <torch/csrc/jit/frontend/parser.h>
#include <torch/csrc/jit/frontend/tree_views.h>

#include <memory>

#include "common/error.h"

namespace wasinn::torch {

namespace jit = ::torch::jit;

namespace {

[[noreturn]] void Refuse(const std::string& name, const char* what) {
  throw backend::Error(
      WASINN_SECURITY,
      fmt::format("'{}' has {}, which would run while the model is loaded: not loaded from a guest", name, what));
}

bool IsLiteral(const jit::Expr& expression);

template <typename List>
bool AreLiterals(const List& list, int from = 0) {
  int at = 0;
  for (const auto& item : list) {
    if (at++ >= from && !IsLiteral(item)) return false;
  }
  return true;
}

bool IsVar(const jit::Expr& expression, std::string_view name) {
  return expression.kind() == jit::TK_VAR && jit::Var(expression).name().name() == name;
}

// float('inf'), annotate(T, []), torch.device("cpu"): how PyTorch writes literals that Python has no word for.
bool IsCallForLiteral(const jit::Apply& call) {
  if (call.attributes().size() != 0) return false;
  const jit::Expr callee = call.callee();
  if (IsVar(callee, "annotate")) return call.inputs().size() == 2 && AreLiterals(call.inputs(), /*from=*/1);
  if (IsVar(callee, "float")) return AreLiterals(call.inputs());
  if (callee.kind() != '.') return false;
  const jit::Select select(callee);
  return IsVar(select.value(), "torch") && select.selector().name() == "device" && AreLiterals(call.inputs());
}

bool IsLiteral(const jit::Expr& expression) {
  switch (expression.kind()) {
    case jit::TK_CONST:
    case jit::TK_STRINGLITERAL:
    case jit::TK_TRUE:
    case jit::TK_FALSE:
    case jit::TK_NONE:
      return true;
    case jit::TK_UNARY_MINUS:
      return IsLiteral(jit::Expr(expression.tree()->tree(0)));
    case jit::TK_LIST_LITERAL:
      return AreLiterals(jit::ListLiteral(expression).inputs());
    case jit::TK_TUPLE_LITERAL:
      return AreLiterals(jit::TupleLiteral(expression).inputs());
    case jit::TK_DICT_LITERAL:
      return AreLiterals(jit::DictLiteral(expression).key_inputs()) &&
             AreLiterals(jit::DictLiteral(expression).value_inputs());
    case jit::TK_VAR:
      return IsVar(expression, "inf") || IsVar(expression, "nan");
    case '.':  // CONSTANTS.c0
      return IsVar(jit::Select(expression).value(), "CONSTANTS");
    case jit::TK_APPLY:
      return IsCallForLiteral(jit::Apply(expression));
    default:
      return false;
  }
}

// Wherever functions are: in classes, interfaces, files and other functions.
void CheckDefaults(const std::string& name, const jit::TreeRef& tree) {
  if (tree->kind() == jit::TK_PARAM) {
    const jit::Maybe<jit::Expr> value = jit::Param(tree).defaultValue();
    if (value.present() && !IsLiteral(value.get())) Refuse(name, "a default value that is no literal");
  }
  for (const jit::TreeRef& child : tree->trees()) CheckDefaults(name, child);
}

void CheckClass(const std::string& name, const jit::ClassDef& definition) {
  for (const jit::Stmt& statement : definition.body()) {
    if (statement.kind() == jit::TK_DEF || statement.kind() == jit::TK_PASS) continue;
    if (statement.kind() != jit::TK_ASSIGN) Refuse(name, "a statement in a class");
    const jit::Assign assign(statement);
    // __annotations__["0"] = T: a type.
    if (assign.lhs().kind() == jit::TK_SUBSCRIPT || !assign.rhs().present()) continue;
    if (!IsLiteral(assign.rhs().get())) Refuse(name, "a value in a class that is no literal");
  }
}

// As PyTorch's importer goes through a file.
void SkipVersion(jit::Lexer* lexer) {
  if (lexer->cur().kind != jit::TK_IDENT || lexer->cur().text() != "op_version_set") return;
  while (lexer->cur().kind != jit::TK_NEWLINE && lexer->cur().kind != jit::TK_EOF) lexer->next();
  lexer->nextIf(jit::TK_NEWLINE);
}

void SkipImports(jit::Lexer* lexer) {
  while (lexer->nextIf(jit::TK_IMPORT)) {
    while (lexer->cur().kind != jit::TK_NEWLINE && lexer->cur().kind != jit::TK_EOF) lexer->next();
    lexer->nextIf(jit::TK_NEWLINE);
  }
}

}  // namespace

void CheckDefinitions(const std::string& name, std::string_view text) {
  jit::Parser parser(std::make_shared<jit::Source>(std::string(text), name, 1));
  jit::Lexer& lexer = parser.lexer();
  SkipVersion(&lexer);
  for (SkipImports(&lexer); lexer.cur().kind != jit::TK_EOF; SkipImports(&lexer)) {
    jit::TreeRef tree;
    if (lexer.cur().kind == jit::TK_CLASS_DEF) {
      tree = parser.parseClass();
      CheckClass(name, jit::ClassDef(tree));
    } else if (lexer.cur().kind == jit::TK_DEF) {
      tree = parser.parseFunction(/*is_method=*/false);
    } else {
      Refuse(name, "something else than classes and functions");
    }
    CheckDefaults(name, tree);
  }
}

}  // namespace wasinn::torch
