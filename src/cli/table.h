// Text in columns.
#pragma once

#include <string>
#include <vector>

namespace wasinn::cli {

class Table {
 public:
  explicit Table(std::vector<std::string> header) { Add(std::move(header)); }
  // `row` must have as many cells as the header.
  void Add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  // Columns as wide as their widest cell, two spaces between them, nothing after the last.
  std::string ToString() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace wasinn::cli
