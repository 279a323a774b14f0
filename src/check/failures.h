// Where expectations that fail are told, and checks that have nothing to look at.
#pragma once

#include <wasinn/backend.h>

#include <functional>
#include <string>

namespace wasinn::check {

using TellFn = std::function<void(const char* file, int line, const std::string& text)>;
// Whoever runs checks says it first, when nothing runs. Called from any thread.
void TellFailuresTo(TellFn tell);
void Tell(const char* file, int line, const std::string& text);
// Likewise: the backend or the model lacks what a check is about.
void TellNothingToCheckTo(std::function<void(const std::string& why)> tell);
void TellNothingToCheck(const std::string& why);

// "invalid_argument" and so on.
std::string CodeName(wasinn_code code);

}  // namespace wasinn::check
