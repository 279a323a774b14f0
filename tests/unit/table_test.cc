// How the core reads a backend's table: fields exist as far as both sides' sizes go.
#include "core/models/backend.h"
#include "support/test.h"

namespace wasinn::core {
namespace {

// A function that is there, and is not called.
template <typename Function>
void Put(Function& function) {
  function = reinterpret_cast<Function>(1);
}

constexpr wasinn_format kFormat = {.struct_size = sizeof(wasinn_format), .name = "ggml"};
constexpr const wasinn_format* kFormats[] = {&kFormat};

wasinn_backend WholeTable() {
  wasinn_backend table{.struct_size = sizeof(table),
                       .abi_major = WASINN_BACKEND_ABI_MAJOR,
                       .name = "made",
                       .version = "1",
                       .formats = kFormats,
                       .n_formats = 1,
                       .install = ""};
  Put(table.open), Put(table.close), Put(table.backend_info), Put(table.load), Put(table.unload), Put(table.info);
  Put(table.slot_new), Put(table.slot_free), Put(table.bind_input), Put(table.unbind_input), Put(table.compute),
      Put(table.output);
  Put(table.cancel), Put(table.finish);
  table.bind_align = 16;
  return table;
}

std::string ProblemOf(const wasinn_backend& table) {
  const Result<wasinn_backend> read = Backend::ReadTable(table);
  return read ? "" : std::string(read.error().message());
}

TEST(BackendTable, IsCopied) {
  wasinn_backend table = WholeTable();
  const Result<wasinn_backend> read = Backend::ReadTable(table);
  ASSERT_TRUE(read);
  std::memset(&table, 0xff, sizeof table);
  EXPECT_STREQ(read->name, "made");
  EXPECT_NE(read->compute, table.compute);
  EXPECT_EQ(read->bind_align, 16u);
}

TEST(BackendTable, OfAnOlderLibraryHasNothingBehindItsSize) {
  wasinn_backend table = WholeTable();
  table.struct_size = offsetof(wasinn_backend, finish) + 4;  // half of a function is none
  const Result<wasinn_backend> read = Backend::ReadTable(table);
  ASSERT_TRUE(read);
  EXPECT_NE(read->cancel, nullptr);
  EXPECT_EQ(read->finish, nullptr);
  EXPECT_EQ(read->bind_align, 0u);
}

TEST(BackendTable, WithoutWordsForMessagesHasEmptyOnes) {
  wasinn_backend table = WholeTable();
  table.version = table.install = nullptr;
  const Result<wasinn_backend> read = Backend::ReadTable(table);
  ASSERT_TRUE(read);
  EXPECT_STREQ(read->version, "");
  EXPECT_STREQ(read->install, "");
}

TEST(BackendTable, NeedsASize) {
  wasinn_backend table = WholeTable();
  for (const uint32_t size : {0u, 4u, 7u}) {
    table.struct_size = size;
    EXPECT_EQ(ProblemOf(table), "its wasinn_backend has struct_size " + std::to_string(size) +
                                    ": expected its sizeof, " + std::to_string(sizeof table) + " in this version");
  }
}

struct Required {
  const char* name;
  size_t offset;
};
#define REQUIRED(name) \
  Required { #name, offsetof(wasinn_backend, name) }
constexpr Required kRequired[] = {
    REQUIRED(name),       REQUIRED(formats),      REQUIRED(open),    REQUIRED(close),    REQUIRED(backend_info),
    REQUIRED(load),       REQUIRED(unload),       REQUIRED(info),    REQUIRED(slot_new), REQUIRED(slot_free),
    REQUIRED(bind_input), REQUIRED(unbind_input), REQUIRED(compute), REQUIRED(output)};
#undef REQUIRED

TEST(BackendTable, WithoutWhatIsRequiredIsRefusedByItsName) {
  for (const Required& required : kRequired) {
    SCOPED_TRACE(required.name);
    const std::string lacks = " bytes has no '" + std::string(required.name) + "'";
    wasinn_backend table = WholeTable();
    std::memset(reinterpret_cast<char*>(&table) + required.offset, 0, sizeof(void*));
    EXPECT_EQ(ProblemOf(table), "its table of " + std::to_string(sizeof table) + lacks);
    table = WholeTable();
    table.struct_size = static_cast<uint32_t>(required.offset);
    EXPECT_EQ(ProblemOf(table), "its table of " + std::to_string(required.offset) + lacks) << "not within its size";
  }
}

}  // namespace
}  // namespace wasinn::core
