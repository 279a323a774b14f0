// Small functions on strings for several flags.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wasinn::settings {

// ASCII only: for units and words of flags.
bool EqualsIgnoringCase(std::string_view a, std::string_view b);

// "a:b:" by ':' is "a", "b", "".
std::vector<std::string> Split(std::string_view text, char separator);

// The last component of a path, even for "dir/" and ".".
std::string LastComponent(const std::string& path);

// Whether it is the address of a server's model, "grpc://host:8001/model", and no path of files.
bool IsAddress(std::string_view path);
// For messages about a missing path: "" unless it is an address without a scheme, such as "host:8001/model".
std::string_view AddressHint(std::string_view path);

// Names in modules and models may come from others: control characters, which a terminal would obey, marks of
// direction, and invalid UTF-8 become "\\x1b". Newlines stay.
std::string Printable(std::string_view text);

// For a name or other text in one line: newlines are escaped, too.
std::string PrintableName(std::string_view name);

}  // namespace wasinn::settings
