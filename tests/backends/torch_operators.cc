// A library of custom operators, as makers of models ship one: wasinn_test::twice, and the class wasinn_test::Adder.
#include <torch/custom_class.h>
#include <torch/library.h>

namespace {

at::Tensor Twice(const at::Tensor& x) { return x.mul(2); }

struct Adder : torch::CustomClassHolder {
  explicit Adder(int64_t n) : by(n) {}
  at::Tensor Add(const at::Tensor& x) { return x.add(by); }
  const int64_t by;
};

}  // namespace

TORCH_LIBRARY(wasinn_test, library) {
  library.def("twice(Tensor x) -> Tensor", &Twice);
  library.class_<Adder>("Adder").def(torch::init<int64_t>()).def("add", &Adder::Add);
}
