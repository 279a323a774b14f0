// Helpers for checks of the contract. Each check is one CHECK_OF in a contract_*.cc.
#pragma once

#include <memory>
#include <vector>

#include "check/contract.h"
#include "check/expect.h"

namespace wasinn::check {

class Contract {
 public:
  explicit Contract(Session& session) : session_(session), model_(session.model()) {}
  virtual ~Contract() = default;
  Contract(const Contract&) = delete;
  Contract& operator=(const Contract&) = delete;

  template <typename Which>
  static void RunOne(Session& session) {
    Which check(session);
    if (check.model_ == nullptr) return;
    check.Run();
    EXPECT_EQ(check.account_.used.load(), 0u) << "bytes that were charged and not given back with the slots";
  }
  virtual void Run() = 0;

 protected:
  const Subject& subject() const { return session_.subject(); }
  const Host& host() const { return session_.host(); }
  const wasinn_backend& table() const { return host().table(); }
  const Model& model() const { return *model_; }
  uint32_t n_inputs() const { return static_cast<uint32_t>(subject().inputs.size()); }

  bool needs_inputs() const;  // at least one
  bool IsBindable(uint32_t output) const;

  std::vector<Tensor> Inputs(int variant, int64_t rows = 2) const;
  const std::vector<Tensor>& Expected(const std::vector<Tensor>& inputs) const { return session_.Expected(inputs); }

  static void Set(Context* context, const std::vector<Tensor>& inputs);
  // The memory must outlive the context's use of it.
  static void Bind(Context* context, const std::vector<std::unique_ptr<Borrowed>>& lent);
  static std::vector<std::unique_ptr<Borrowed>> Lend(const std::vector<Tensor>& inputs);
  static void ExpectShows(Context* context, const std::vector<Tensor>& outputs);
  void ExpectComputes(Context* context, const std::vector<Tensor>& inputs) const;
  // Expects that it does not compute without input `index`, which the error names, and has no output.
  void ExpectLacks(Context* context, uint32_t index) const;
  void ExpectNoOutput(Context* context) const;

  Account account_;

 private:
  Session& session_;
  const Model* const model_;
};

struct Registered {
  Registered(std::vector<Check>& list, const Check& check) { list.push_back(check); }
};
std::vector<Check>& MutableChecks();
std::vector<Check>& MutableChecksOfShapes();

}  // namespace wasinn::check

// CHECK_OF(Contract, Name, "what is expected") { … }: adds to a list, Contract or ContractOfShapes.
// NOLINTBEGIN(cppcoreguidelines-macro-usage): a name, once
#define CHECK_LIST_Contract MutableChecks
#define CHECK_LIST_ContractOfShapes MutableChecksOfShapes
#define CHECK_OF(list, name, expects)                                                  \
  class name final : public ::wasinn::check::Contract {                                \
   public:                                                                             \
    using Contract::Contract;                                                          \
    void Run() override;                                                               \
  };                                                                                   \
  const ::wasinn::check::Registered name##_(::wasinn::check::CHECK_LIST_##list(),      \
                                            {#name, expects, Contract::RunOne<name>}); \
  void name::Run()
// NOLINTEND(cppcoreguidelines-macro-usage)
