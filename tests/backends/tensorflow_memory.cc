// With oneDNN, which TensorFlow turns on by itself on some CPUs only, its tensors come from a pool of which nothing ever
// goes back, so no test could see what is held. Without it they come from malloc, on every CPU.
#include <cstdlib>

namespace wasinn::test {
namespace {

[[maybe_unused]] const int kIsSet = setenv("TF_ENABLE_ONEDNN_OPTS", "0", /*overwrite=*/0);

}  // namespace
}  // namespace wasinn::test
