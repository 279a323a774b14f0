// The command line of the chat guest.
#pragma once

#include <string>
#include <string_view>

struct Options {
  std::string model = "lm";
  std::string config;  // for the framework, a JSON object; "" if no option was given
  std::string prompt;  // "" for a conversation
};

// `text` as a string of JSON.
std::string Quoted(std::string_view text);

// Says on stderr what it cannot make sense of.
bool ParseOptions(int argc, char** argv, Options* options);
