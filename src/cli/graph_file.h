// Writes a drawing of a graph to a file.
#pragma once

#include <expected>
#include <string>

namespace wasinn::cli {

// Writes a file .dot in the language of Graphviz. For .svg, .png or .pdf the program `dot` of Graphviz must be
// installed, which draws it. The error is one line.
std::expected<void, std::string> WriteDrawing(const std::string& dot, const std::string& path);

// WriteDrawing's error about the file's name, before there is a graph.
std::expected<void, std::string> CheckDrawing(const std::string& path);

}  // namespace wasinn::cli
