// Contexts of the core on the echo backend, or on one that is nearly the same, without a guest.
#pragma once

#include <wasinn/backend.h>

#include "core/inference/context.h"
#include "core/inference/shared_tensor.h"
#include "core/memory/buffer_pool.h"
#include "core/models/blob.h"
#include "support/echo.h"
#include "support/test.h"

namespace wasinn::testing {

const wasinn_backend& EchoTable();

struct Direct {
  explicit Direct(const char* directives, const wasinn_backend& table = EchoTable()) {
    auto backend = core::Backend::Open(table, logger, 1, "{}");
    const std::string text = EchoModel(directives);
    const std::shared_ptr<const core::Blob> blob =
        core::Blob::Copy({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
    graph = *core::Graph::Load(*backend, {&blob, 1}, {.encoding = "ggml"}, dog);
  }
  std::unique_ptr<core::Context> New() {
    auto context = core::Context::Create(graph, {}, {bytes, *pool, 1, dog, scheduler, share});
    EXPECT_TRUE(context);
    return std::move(*context);
  }
  core::TensorPtr Tensor(const std::vector<uint8_t>& data) {
    core::TensorDesc desc;
    desc.dtype = WASINN_DTYPE_U8;
    desc.rank = 1;
    desc.dims[0] = static_cast<int64_t>(data.size());
    core::CopyCount count;
    return *core::SharedTensor::Copy(desc, data, *pool, 1, core::Reservation(bytes), count);
  }
  core::Logger logger;
  core::Watchdog dog;
  core::Quota bytes{"bytes", "limit", UINT64_MAX};
  std::shared_ptr<core::BufferPool> pool = core::BufferPool::Create();
  core::Scheduler scheduler{1};
  core::Scheduler::Share share;
  std::shared_ptr<core::Graph> graph;
};

}  // namespace wasinn::testing
