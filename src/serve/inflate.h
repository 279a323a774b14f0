// Bodies of requests that came compressed.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "serve/request_body.h"

namespace wasinn::serve {

// Whether a header Content-Encoding names a form that InflateBody knows.
bool CanInflate(std::string_view encoding);

enum class Inflated : uint8_t { kDone, kBroken, kTooLarge, kNoRoom };

// `body` becomes what it was before it was compressed ("gzip", "deflate"), of no more than `most` bytes, all of them charged to `budget`
// before they are held. That takes its time: for a worker.
Inflated InflateBody(RequestBytes& body, uint64_t most, const std::shared_ptr<MemoryBudget>& budget);

}  // namespace wasinn::serve
