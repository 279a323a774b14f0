// Inputs: setting, binding and unbinding them, and their owners.
#include <algorithm>
#include <memory>
#include <thread>
#include <vector>

#include "check/contract_check.h"
#include "check/failures.h"

namespace wasinn::check {
namespace {

CHECK_OF(Contract, ComputesOnlyWithItsInputs,
         "compute fails, naming the input, until every input that is not optional is there") {
  const std::vector<Tensor> inputs = Inputs(0);
  for (uint32_t missing = 0; missing < n_inputs(); ++missing) {
    if ((model().input(missing).flags & WASINN_IO_OPTIONAL) != 0) continue;
    Context context(model(), 0, "{}", &account_);
    ExpectNoOutput(&context);
    for (uint32_t i = 0; i < n_inputs(); ++i) {
      if (i == missing) continue;
      ASSERT_TRUE(context.Set(i, inputs[i])) << "input " << i << " is refused";
    }
    ExpectLacks(&context, missing);
    ASSERT_TRUE(context.Set(missing, inputs[missing])) << "input " << missing << " is refused";
    ExpectComputes(&context, inputs);
  }
}

CHECK_OF(Contract, InputsStayUntilTheyAreSetAgain, "inputs stay as they are from one compute to the next") {
  Context context(model(), 0, "{}", &account_);
  std::vector<Tensor> inputs = Inputs(0);
  Set(&context, inputs);
  for (int variant = 0; variant < 3; ++variant) {
    for (uint32_t i = 0; i < n_inputs(); ++i) {
      inputs[i] = Inputs(variant)[i];
      ASSERT_TRUE(context.Set(i, inputs[i])) << "input " << i << " is refused";
      for (int n = 0; n < 2; ++n) ExpectComputes(&context, inputs);
    }
  }
}

CHECK_OF(Contract, ContextsKnowNothingOfEachOther, "the inputs of one slot reach no other") {
  Context first(model(), 0, "{}", &account_);
  Set(&first, Inputs(0));
  {
    Context second(model(), 0, "{}", &account_);
    Set(&second, Inputs(1));
    ExpectComputes(&first, Inputs(0));
    ExpectComputes(&second, Inputs(1));
    ExpectShows(&first, Expected(Inputs(0)));
    Set(&second, Inputs(2));
    ExpectComputes(&first, Inputs(0));
  }
  ExpectComputes(&first, Inputs(0));
  Context next(model(), 0, "{}", &account_);
  ExpectNoOutput(&next);
  if (needs_inputs()) {
    EXPECT_FALSE(next.Compute()) << "a new slot computes with what another one left";
  }
}

CHECK_OF(Contract, ContextsComputeAtOnce, "slots of one graph compute on several threads at once") {
  std::vector<std::vector<Tensor>> inputs, expected;
  for (int variant = 0; variant < 3; ++variant) {
    inputs.push_back(Inputs(variant));
    expected.push_back(Expected(inputs.back()));
  }
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (size_t t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (size_t made = 0; made < 2; ++made) {
        Context context(model(), 0, "{}", &account_);
        for (size_t i = 0; i < 20; ++i) {
          const size_t variant = (t + i) % inputs.size();
          Set(&context, inputs[variant]);
          const Result computed = context.Compute();
          ASSERT_TRUE(computed) << "compute fails: " << computed.message;
          ExpectShows(&context, expected[variant]);
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

CHECK_OF(Contract, BoundMemoryIsAsGoodAsACopy,
         "results do not depend on the owner of an input's memory, and inputs are not written to") {
  Context context(model(), 0, "{}", &account_);
  const auto first = Lend(Inputs(0)), second = Lend(Inputs(1));
  Bind(&context, first);
  for (int n = 0; n < 2; ++n) ExpectComputes(&context, Inputs(0));
  Bind(&context, second);
  ExpectComputes(&context, Inputs(1));
  Set(&context, Inputs(2));
  ExpectComputes(&context, Inputs(2));
  Bind(&context, first);
  ExpectComputes(&context, Inputs(0));
  // Only some of them.
  std::vector<Tensor> mixed = Inputs(0);
  mixed[0] = Inputs(2)[0];
  ASSERT_TRUE(context.Set(0, mixed[0])) << "input 0 is refused";
  ExpectComputes(&context, mixed);
  for (uint32_t i = 0; i < n_inputs(); ++i) {
    EXPECT_EQ(first[i]->Read(), Inputs(0)[i].bytes) << "memory that was bound as input " << i << " was written to";
    EXPECT_EQ(second[i]->Read(), Inputs(1)[i].bytes) << "memory that was bound as input " << i << " was written to";
  }
}

// Between two computes, without another call, except for a prompt's.
CHECK_OF(Contract, BytesOfBoundMemoryMayChange, "bytes of bound memory are read again in each compute") {
  Context context(model(), 0, "{}", &account_);
  const auto lent = Lend(Inputs(0));
  Bind(&context, lent);
  for (int variant = 0; variant < 3; ++variant) {
    const std::vector<Tensor> inputs = Inputs(variant);
    for (uint32_t i = 0; i < n_inputs(); ++i) {
      lent[i]->Write(inputs[i].bytes);
      if ((model().input(i).flags & WASINN_IO_OPAQUE) == 0) continue;
      ASSERT_TRUE(context.Bind(i, lent[i]->view())) << "input " << i << " cannot be bound again";
    }
    ExpectComputes(&context, inputs);
  }
}

CHECK_OF(Contract, UnboundMemoryIsForgotten, "memory that was unbound is not read again, and its input is unset") {
  const std::vector<Tensor> inputs = Inputs(0);
  for (uint32_t i = 0; i < n_inputs(); ++i) {
    Context context(model(), 0, "{}", &account_);
    const auto lent = Lend(inputs);
    Bind(&context, lent);
    ExpectComputes(&context, inputs);
    context.Unbind(i);
    lent[i]->Revoke();
    ExpectShows(&context, Expected(inputs));
    if ((model().input(i).flags & WASINN_IO_OPTIONAL) == 0) {
      ExpectLacks(&context, i);
    } else {
      const Result computed = context.Compute();
      EXPECT_TRUE(computed) << "compute without input " << i << ", which is optional, fails: " << computed.message;
    }
    ASSERT_TRUE(context.Set(i, inputs[i])) << "input " << i << " is refused";
    ExpectComputes(&context, inputs);
  }
}

// As for a guest that calls compute_once, each time with its tensors elsewhere.
CHECK_OF(Contract, MemoryMayBeBoundForOneCompute, "memory may be bound for a single compute, each time another") {
  Context context(model(), 0, "{}", &account_);
  for (int n = 0; n < 6; ++n) {
    const auto lent = Lend(Inputs(n % 3));
    Bind(&context, lent);
    ExpectComputes(&context, Inputs(n % 3));
    for (uint32_t i = 0; i < n_inputs(); ++i) {
      context.Unbind(i);
      lent[i]->Revoke();
    }
    ExpectShows(&context, Expected(Inputs(n % 3)));
  }
}

CHECK_OF(Contract, AnInputThatCouldNotBeBoundIsUnset, "after a bind_input that failed the input is unset") {
  const std::vector<Tensor> inputs = Inputs(0);
  for (uint32_t i = 0; i < n_inputs(); ++i) {
    Context context(model(), 0, "{}", &account_);
    Set(&context, inputs);
    ExpectComputes(&context, inputs);
    const Borrowed lent(inputs[i]);
    wasinn_tensor wrong = lent.view();
    std::vector<int64_t> dims = inputs[i].dims;  // with more bytes
    for (int64_t& dim : dims) ++dim;
    wrong.dims = dims.data();
    const Result bound = context.Bind(i, wrong);
    if (bound && !subject().checks_inputs) {
      return ReportNothingToCheck("bind_input leaves it to the host that a tensor has the bytes of its dims");
    }
    EXPECT_EQ(bound.code, WASINN_ERROR_INVALID_ARGUMENT) << "bind_input of dims with more bytes than there are";
    ExpectLacks(&context, i);
    ASSERT_TRUE(context.Set(i, inputs[i])) << "input " << i << " is refused";
    ExpectComputes(&context, inputs);
  }
}

CHECK_OF(Contract, AContextMayGoWhileMemoryIsBound, "a slot may be freed while memory is bound") {
  const auto lent = Lend(Inputs(0));
  {
    Context computed(model(), 0, "{}", &account_), set(model(), 0, "{}", &account_);
    Bind(&set, lent);
    Bind(&computed, lent);
    ExpectComputes(&computed, Inputs(0));
  }
  for (const auto& one : lent) one->Revoke();
  Context next(model(), 0, "{}", &account_);
  Set(&next, Inputs(1));
  ExpectComputes(&next, Inputs(1));
}

CHECK_OF(Contract, IndicesThatItDoesNotHaveAreErrors, "an index that there is not is invalid_argument") {
  Context context(model(), 0, "{}", &account_);
  const std::vector<Tensor> inputs = Inputs(0);
  const auto lent = Lend(inputs);
  Set(&context, inputs);
  ExpectComputes(&context, inputs);
  Tensor none;
  // Outputs that are only known after a compute are not counted.
  const size_t beyond = std::max({size_t{7}, subject().inputs.size(), subject().outputs.size()});
  for (const uint32_t index : {static_cast<uint32_t>(beyond), UINT32_MAX}) {
    EXPECT_EQ(context.Set(index, inputs[0]).code, WASINN_ERROR_INVALID_ARGUMENT) << "setting input " << index;
    EXPECT_EQ(context.Bind(index, lent[0]->view()).code, WASINN_ERROR_INVALID_ARGUMENT) << "binding input " << index;
    EXPECT_EQ(context.Get(index, &none).code, WASINN_ERROR_INVALID_ARGUMENT) << "getting output " << index;
    if (table().take_output == nullptr) continue;
    EXPECT_EQ(Taken(&context, index).result().code, WASINN_ERROR_INVALID_ARGUMENT) << "taking output " << index;
  }
  ExpectComputes(&context, inputs);
}

CHECK_OF(ContractOfShapes, MayChange, "shapes may change from one compute to the next") {
  Context context(model(), 0, "{}", &account_);
  int variant = 0;
  for (const int64_t rows : {2, 2, 1, 300, 0, 3}) {
    const std::vector<Tensor> inputs = Inputs(++variant % 3, rows);
    Set(&context, inputs);
    ExpectComputes(&context, inputs);
  }
  for (const int64_t rows : {2, 2, 1, 300, 0, 3}) {
    const std::vector<Tensor> inputs = Inputs(++variant % 3, rows);
    const auto lent = Lend(inputs);
    Bind(&context, lent);
    ExpectComputes(&context, inputs);
    for (uint32_t i = 0; i < n_inputs(); ++i) context.Unbind(i);
  }
  Set(&context, Inputs(0, 5));
  ExpectComputes(&context, Inputs(0, 5));
}

}  // namespace
}  // namespace wasinn::check
