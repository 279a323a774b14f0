// A drawing of a graph as a file.
#pragma once

#include <expected>
#include <string>

namespace wasinn::cli {

// In the language of Graphviz to a file .dot; to a file .svg, .png or .pdf what Graphviz draws of it, whose program `dot` must be
// installed. The error is a line.
std::expected<void, std::string> WriteDrawing(const std::string& dot, const std::string& path);

// What WriteDrawing says of the file's name before there is anything to draw.
std::expected<void, std::string> CheckDrawing(const std::string& path);

}  // namespace wasinn::cli
