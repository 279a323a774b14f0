// Small things about strings that several flags need.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wasinn::settings {

// ASCII only: for units and the words of flags.
bool EqualsIgnoringCase(std::string_view a, std::string_view b);

// "a:b:" by ':' is "a", "b", "".
std::vector<std::string> Split(std::string_view text, char separator);

// The last component of a path, also of "dir/" and of ".".
std::string LastComponent(const std::string& path);

// Of a model that a server has, "grpc://host:8001/model", and no path of files.
bool IsAddress(std::string_view path);
// For messages about a path that does not exist: "" unless it is an address without its scheme, as "host:8001/model".
std::string_view AddressHint(std::string_view path);

// Names in modules and models are other people's: control characters, which a terminal would obey, marks of direction, and what is
// no UTF-8 come out as "\\x1b". Newlines stay.
std::string Printable(std::string_view text);

// Of a name, or what else is to stay in one line: newlines are escaped too.
std::string PrintableName(std::string_view name);

}  // namespace wasinn::settings
