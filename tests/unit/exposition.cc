#include "unit/exposition.h"

#include "support/test.h"

namespace wasinn::testing {
namespace {

constexpr std::string_view kWord = "abcdefghijklmnopqrstuvwxyz_";

// Takes what begins `line`, if it does.
bool Take(std::string_view& line, std::string_view beginning) {
  if (!line.starts_with(beginning)) return false;
  line.remove_prefix(beginning.size());
  return true;
}

std::string TakeWord(std::string_view& line) {
  const std::string word(line.substr(0, line.find_first_not_of(kWord)));
  line.remove_prefix(word.size());
  return word;
}

// A quoted value, in which a quote, a backslash and a line's end are escaped, and nothing else is.
bool TakeQuoted(std::string_view& line) {
  if (!Take(line, "\"")) return false;
  while (!line.empty() && line[0] != '"') {
    if (line[0] == '\\' && (line.size() < 2 || std::string_view("\\\"n").find(line[1]) == line.npos)) return false;
    line.remove_prefix(line[0] == '\\' ? 2 : 1);
  }
  return Take(line, "\"");
}

// {name="value",name="value"}
bool TakeLabels(std::string_view& line) {
  if (!Take(line, "{")) return true;
  do {
    if (TakeWord(line).empty() || !Take(line, "=") || !TakeQuoted(line)) return false;
  } while (Take(line, ","));
  return Take(line, "}");
}

struct Family {
  std::string name, type;
};

bool IsOf(const Family& family, const std::string& name) {
  if (family.type != "histogram") return name == family.name;
  return name == family.name + "_bucket" || name == family.name + "_sum" || name == family.name + "_count";
}

// For one series: buckets never fall, bounds rise, and the last bucket has all.
void CheckHistograms(const std::map<std::string, double>& samples, const std::vector<std::string>& in_order) {
  constexpr std::string_view kSuffix = "_bucket{", kBound = "le=\"";
  double before = 0, bound = 0;
  for (const std::string& sample : in_order) {
    const size_t suffix = sample.find(kSuffix), le = sample.rfind(kBound);
    if (suffix == sample.npos || le == sample.npos) continue;
    const std::string text = sample.substr(le + kBound.size());
    const double this_bound = text.starts_with("+Inf") ? INFINITY : std::stod(text);
    EXPECT_GT(this_bound, bound) << sample;
    EXPECT_GE(samples.at(sample), before) << sample;
    before = samples.at(sample);
    bound = this_bound;
    if (!std::isinf(bound)) continue;
    const std::string labels = sample.substr(suffix + kSuffix.size(), le - suffix - kSuffix.size() - 1);
    EXPECT_EQ(samples.at(sample.substr(0, suffix) + "_count{" + labels + "}"), before) << sample;
    before = bound = 0;
  }
}

}  // namespace

std::map<std::string, double> ReadMetrics(std::string_view text) {
  EXPECT_TRUE(text.ends_with('\n'));
  std::map<std::string, double> samples;
  std::vector<std::string> in_order;
  std::set<std::string> families;
  Family family;
  std::istringstream lines{std::string(text)};
  for (std::string line; std::getline(lines, line);) {
    std::string_view rest = line;
    if (Take(rest, "# HELP ")) {
      family = {TakeWord(rest), ""};
      EXPECT_TRUE(families.insert(family.name).second) << "twice: " << line;
      EXPECT_TRUE(rest.ends_with('.') && rest.find('\\') == rest.npos) << line;
    } else if (Take(rest, "# TYPE ")) {
      EXPECT_EQ(TakeWord(rest), family.name) << line;
      family.type = rest.substr(1);
      EXPECT_TRUE(family.type == "counter" || family.type == "gauge" || family.type == "histogram") << line;
      EXPECT_EQ(family.type == "counter", family.name.ends_with("_total")) << line;
    } else {
      const std::string name = TakeWord(rest);
      EXPECT_TRUE(IsOf(family, name)) << line;
      EXPECT_TRUE(TakeLabels(rest)) << line;
      const std::string sample = line.substr(0, line.size() - rest.size());
      EXPECT_TRUE(Take(rest, " ")) << line;
      EXPECT_TRUE(samples.emplace(sample, std::stod(std::string(rest))).second) << "twice: " << line;
      EXPECT_EQ(rest.find_first_not_of("0123456789.e+-"), rest.npos) << line;
      in_order.push_back(sample);
    }
  }
  CheckHistograms(samples, in_order);
  return samples;
}

}  // namespace wasinn::testing
