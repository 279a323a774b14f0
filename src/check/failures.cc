#include "check/failures.h"

#include <utility>

namespace wasinn::check {
namespace {

TellFn& Told() {
  static TellFn told = [](const char*, int, const std::string&) {};
  return told;
}

std::function<void(const std::string&)>& ToldWhy() {
  static std::function<void(const std::string&)> told = [](const std::string&) {};
  return told;
}

}  // namespace

void TellFailuresTo(TellFn tell) { Told() = std::move(tell); }
void Tell(const char* file, int line, const std::string& text) { Told()(file, line, text); }

void TellNothingToCheckTo(std::function<void(const std::string&)> tell) { ToldWhy() = std::move(tell); }
void TellNothingToCheck(const std::string& why) { ToldWhy()(why); }

}  // namespace wasinn::check
