// Where expectations that fail are told.
#pragma once

#include <functional>
#include <string>

namespace wasinn::check {

using TellFn = std::function<void(const char* file, int line, const std::string& text)>;
// Whoever runs checks says it first, when nothing runs. Called from any thread.
void TellFailuresTo(TellFn tell);
void Tell(const char* file, int line, const std::string& text);

}  // namespace wasinn::check
