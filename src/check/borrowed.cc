#include "check/borrowed.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>

#include "check/expect.h"

namespace wasinn::check {

namespace {

constexpr size_t kAlign = WASINN_TENSOR_ALIGNMENT, kBehind = WASINN_TENSOR_TAIL;

size_t RoundedUp(size_t size, size_t to) { return (size + to - 1) / to * to; }

size_t PageSize() { return static_cast<size_t>(::sysconf(_SC_PAGESIZE)); }

// Readable pages, followed by one that is not.
char* MapPages(size_t size) {
  void* pages = ::mmap(nullptr, size + PageSize(), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED || ::mprotect(static_cast<char*>(pages) + size, PageSize(), PROT_NONE) != 0) {
    throw std::runtime_error("no memory to lend");
  }
  return static_cast<char*>(pages);
}

}  // namespace

Borrowed::Borrowed(const Tensor& tensor)
    : tensor_(tensor),
      size_(RoundedUp(tensor.bytes.size() + kAlign + kBehind, PageSize())),
      pages_(MapPages(size_)),
      data_(pages_ + size_ - kBehind - RoundedUp(tensor.bytes.size(), kAlign)) {
  Write(tensor.bytes);
}

Borrowed::~Borrowed() { ::munmap(pages_, size_ + PageSize()); }

wasinn_tensor Borrowed::view() const {
  return {.struct_size = sizeof(wasinn_tensor),
          .dtype = static_cast<uint32_t>(tensor_.dtype),
          .rank = static_cast<uint32_t>(tensor_.dims.size()),
          .dims = tensor_.dims.data(),
          .data = tensor_.bytes.empty() ? nullptr : data_,
          .bytes = tensor_.bytes.size(),
          .owner = nullptr,
          .release = nullptr};
}

void Borrowed::Write(const std::string& bytes) {
  ASSERT_EQ(bytes.size(), tensor_.bytes.size()) << "the number of bytes of lent memory";
  std::memcpy(data_, bytes.data(), bytes.size());
}

std::string Borrowed::Read() const { return {data_, tensor_.bytes.size()}; }

void Borrowed::Revoke() { ASSERT_EQ(::mprotect(pages_, size_, PROT_NONE), 0) << "revoking lent memory"; }

Taken::Taken(Context* context, uint32_t index) : result_(context->Take(index, &tensor_)) {
  if (result_) dims_.assign(tensor_.dims, tensor_.dims + tensor_.rank);
}

Taken::~Taken() {
  if (tensor_.release != nullptr) tensor_.release(tensor_.owner);
}

wasinn_tensor Taken::view() const {
  wasinn_tensor view = tensor_;
  view.dims = dims_.data();
  return view;
}

Tensor Taken::Read() const {
  return {static_cast<wasinn_dtype>(tensor_.dtype), dims_,
          std::string(static_cast<const char*>(tensor_.data), tensor_.bytes)};
}

}  // namespace wasinn::check
