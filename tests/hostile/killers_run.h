// A killer, brought by a guest of the command's.
#pragma once

#include <gtest/gtest.h>

#include "hostile/killers.h"

namespace wasinn::testing {

// `guest`: killers, or the same as a component. It must get the killer's error, or `error` in its place, and go on.
void ExpectAnError(const Killer& killer, const std::string& guest, const std::string& error);

inline std::string NameOfKiller(const ::testing::TestParamInfo<Killer>& info) { return info.param.name; }

}  // namespace wasinn::testing
