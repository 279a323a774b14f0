#include "settings/shapes.h"

#include <string_view>
#include <utility>

#include "base/number.h"
#include "settings/text.h"

namespace wasinn::settings {

Parsed<Shapes::value_type> ParseShape(const std::string& text) {
  const size_t equals = text.rfind('=');
  const auto fail = [&] { return std::unexpected("'" + text + "' is not NAME=DIMxDIM..."); };
  if (equals == text.npos || equals == 0) return fail();
  std::vector<int64_t> dims;
  if (equals + 1 < text.size()) {
    for (const std::string& part : Split(std::string_view(text).substr(equals + 1), 'x')) {
      const auto dim = base::ParseNumber<int64_t>(part);
      if (!dim || *dim < 0) return fail();
      dims.push_back(*dim);
    }
  }
  return Shapes::value_type(text.substr(0, equals), std::move(dims));
}

}  // namespace wasinn::settings
