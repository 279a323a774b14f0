// The command line of the chat guest.
#pragma once

#include <string>
#include <string_view>

struct Options {
  std::string model = "lm";
  std::string config;  // for the framework, a JSON object; "" if no option was given
  std::string prompt;  // "" for a conversation
  std::string system;  // its first message, of the role "system"; "" for none
  std::string media;   // parts of its first question, as JSON, with a comma after each
};

// `text` as a string of JSON.
std::string Quoted(std::string_view text);

// Reports arguments that are wrong on stderr.
bool ParseOptions(int argc, char** argv, Options* options);
