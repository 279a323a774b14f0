// The files of the page for operators, which the build put into the program (page/embed.cmake).
#pragma once

#include <span>
#include <string_view>

namespace wasinn::serve {

struct PageFile {
  std::string_view name;  // "index.html"
  std::string_view bytes;
};

std::span<const PageFile> PageFiles();

}  // namespace wasinn::serve
