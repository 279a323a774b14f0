#include "core/isolation/protocol.h"

namespace wasinn::isolation {

void WriteComputeOptions(Writer& writer, const wasinn_compute_options& options) {
  writer.Number(options.deadline_ms);
  writer.Number(options.max_bytes);
  writer.Number(options.n_wanted);
  writer.Bytes(options.wanted, options.n_wanted * sizeof(uint32_t));
}

void WriteDesc(Writer& writer, uint32_t dtype, std::span<const int64_t> dims, uint64_t bytes) {
  writer.Number(dtype);
  writer.Number(static_cast<uint32_t>(dims.size()));
  writer.Bytes(dims.data(), dims.size_bytes());
  writer.Number(bytes);
}

bool ReadDesc(Reader& reader, TensorDesc& desc) {
  desc.dtype = reader.Number<uint32_t>();
  desc.rank = reader.Number<uint32_t>();
  if (desc.rank > WASINN_MAX_RANK || desc.dtype > WASINN_DTYPE_BOOL) return false;
  for (uint32_t i = 0; i < desc.rank; ++i) desc.dims[i] = reader.Number<int64_t>();
  desc.bytes = reader.Number<uint64_t>();
  return reader.ok();
}

void Ios::Write(Writer& writer, std::span<const wasinn_io* const> ios) {
  writer.Number(static_cast<uint32_t>(ios.size()));
  for (const wasinn_io* io : ios) {
    writer.Number(io->dtype);
    writer.Number(io->flags);
    writer.Number(io->rank);
    if (io->rank > 0) writer.Bytes(io->dims, sizeof(int64_t) * static_cast<size_t>(io->rank));
    writer.Text(io->name);
    writer.Text(io->type_name == nullptr ? "" : io->type_name);
  }
}

bool Ios::ReadOne(Reader& reader, uint32_t flags, wasinn_io& io) {
  io = {.struct_size = sizeof(wasinn_io),
        .dtype = reader.Number<uint32_t>(),
        .flags = reader.Number<uint32_t>() & flags,
        .rank = reader.Number<int32_t>(),
        .dims = nullptr,
        .name = nullptr,
        .type_name = nullptr};
  if (io.dtype > WASINN_DTYPE_BOOL || io.rank < -1 || io.rank > WASINN_MAX_RANK) return false;
  const auto rank = static_cast<size_t>(std::max(io.rank, 0));
  int64_t* dims = nullptr;
  if (rank > few_dims_.emplace_back().size()) {
    few_dims_.pop_back();
    dims = more_dims_.emplace_back(rank).data();
  } else {
    dims = few_dims_.back().data();
  }
  for (size_t i = 0; i < rank; ++i) dims[i] = std::max<int64_t>(reader.Number<int64_t>(), -1);
  io.dims = dims;
  io.name = reader.Text().data();
  const std::string_view type_name = reader.Text();
  io.type_name = type_name.empty() ? nullptr : type_name.data();
  return reader.ok();
}

bool Ios::Read(Reader& reader, uint32_t flags) {
  constexpr size_t kLeastBytes = 3 * sizeof(uint32_t) + 2 * (sizeof(uint32_t) + 1);
  const auto count = reader.Number<uint32_t>();
  if (count > reader.left() / kLeastBytes) return false;
  ios_.resize(count);
  for (wasinn_io& io : ios_) {
    if (!ReadOne(reader, flags, io)) return false;
    pointers_.push_back(&io);
  }
  return reader.ok();
}

void Setting::Write(Writer& writer) const {
  for (const std::string* text : {&backend, &library, &config, &cgroup}) writer.Text(*text);
  writer.Number(static_cast<uint32_t>(op_libraries.size()));
  for (const std::string& one : op_libraries) writer.Text(one);
  writer.Number(static_cast<uint8_t>(has_devices));
  writer.Number(threads);
  writer.Number(log_level);
  writer.Number(spin_us);
  writer.Number(max_model_bytes);
  writer.Number(max_tensor_bytes);
}

void Setting::Read(Reader& reader) {
  for (std::string* text : {&backend, &library, &config, &cgroup}) *text = reader.Text();
  op_libraries.clear();
  for (auto left = reader.Number<uint32_t>(); left > 0 && reader.ok(); --left) op_libraries.emplace_back(reader.Text());
  has_devices = reader.Number<uint8_t>() != 0;
  threads = reader.Number<uint32_t>();
  log_level = reader.Number<uint32_t>();
  spin_us = reader.Number<uint32_t>();
  max_model_bytes = reader.Number<uint64_t>();
  max_tensor_bytes = reader.Number<uint64_t>();
}

void Framework::Write(Writer& writer) const {
  for (const std::string* text : {&name, &version, &library, &devices}) writer.Text(*text);
}

bool Framework::Read(Reader& reader) {
  for (std::string* text : {&name, &version, &library, &devices}) *text = reader.Text();
  return reader.ok();
}

}  // namespace wasinn::isolation
