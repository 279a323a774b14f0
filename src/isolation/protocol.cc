#include "isolation/protocol.h"

#include <algorithm>

namespace wasinn::isolation {

void WriteDesc(Writer& writer, uint32_t dtype, std::span<const int64_t> dims, uint64_t bytes) {
  writer.Number(dtype);
  writer.Number(static_cast<uint32_t>(dims.size()));
  writer.Bytes(dims.data(), dims.size_bytes());
  writer.Number(bytes);
}

bool ReadDesc(Reader& reader, TensorDesc& desc) {
  desc.dtype = reader.Number<uint32_t>();
  desc.rank = reader.Number<uint32_t>();
  if (desc.rank > WASINN_MAX_RANK || desc.dtype > WASINN_BOOL) return false;
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

bool Ios::ReadOne(Reader& reader, uint32_t flags) {
  auto one = std::make_unique<Io>();
  wasinn_io& io = one->io;
  io = {.struct_size = sizeof(wasinn_io),
        .dtype = reader.Number<uint32_t>(),
        .flags = reader.Number<uint32_t>() & flags,
        .rank = reader.Number<int32_t>(),
        .dims = nullptr,
        .name = nullptr,
        .type_name = nullptr};
  if (io.dtype > WASINN_BOOL || io.rank < -1 || io.rank > WASINN_MAX_RANK) return false;
  for (int32_t i = 0; i < io.rank; ++i) one->dims.push_back(std::max<int64_t>(reader.Number<int64_t>(), -1));
  one->name = reader.Text();
  one->type_name = reader.Text();
  io.dims = one->dims.data();
  io.name = one->name.c_str();
  io.type_name = one->type_name.empty() ? nullptr : one->type_name.c_str();
  pointers_.push_back(&io);
  ios_.push_back(std::move(one));
  return reader.ok();
}

bool Ios::Read(Reader& reader, uint32_t flags) {
  const auto count = reader.Number<uint32_t>();
  for (uint32_t i = 0; i < count; ++i) {
    if (!ReadOne(reader, flags)) return false;
  }
  return reader.ok();
}

void Setting::Write(Writer& writer) const {
  for (const std::string* text : {&backend, &library, &config}) writer.Text(*text);
  writer.Number(threads);
  writer.Number(log_level);
  writer.Number(max_model_bytes);
  writer.Number(max_tensor_bytes);
}

void Setting::Read(Reader& reader) {
  for (std::string* text : {&backend, &library, &config}) *text = reader.Text();
  threads = reader.Number<uint32_t>();
  log_level = reader.Number<uint32_t>();
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
