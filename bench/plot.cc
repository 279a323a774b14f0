#include "bench/plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <utility>
#include <vector>

#include "settings/text.h"

namespace wasinn::bench {
namespace {

constexpr double kPanelWidth = 340, kPanelHeight = 220, kLeft = 80, kTop = 40, kGap = 110, kLegendLine = 20;
constexpr std::array kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};  // Okabe and Ito's

struct Line {
  std::string colour;
  bool dashed = false;
  std::vector<std::pair<double, double>> points;
};

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : settings::Printable(text)) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '\n':
        escaped += ' ';
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

// 1, 2 or 5 times a power of ten, so that there are at most five ticks.
double TickStep(double most) {
  const double least = most / 5;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (factor * power >= least) return factor * power;
  }
  return 10 * power;
}

// One diagram whose axes begin at zero.
class Panel {
 public:
  Panel(double left, std::string title, const std::vector<Line>& lines) : left_(left), title_(std::move(title)) {
    for (const Line& line : lines) {
      for (const auto& [x, y] : line.points) {
        most_x_ = std::max(most_x_, x);
        most_y_ = std::max(most_y_, y);
      }
    }
    const double step = TickStep(most_y_);
    most_y_ = std::ceil(most_y_ / step) * step;
    svg_ = fmt::format("<text x=\"{}\" y=\"{}\" font-weight=\"bold\">{}</text>\n", left_, kTop - 14, title_);
    AddAxes(step);
    for (const Line& line : lines) AddLine(line);
  }

  const std::string& svg() const { return svg_; }

 private:
  double X(double x) const { return left_ + kPanelWidth * x / most_x_; }
  double Y(double y) const { return kTop + kPanelHeight * (1 - y / most_y_); }

  void AddAxes(double step) {
    auto out = std::back_inserter(svg_);
    for (long i = 0; i <= std::lround(most_y_ / step); ++i) {
      const double y = static_cast<double>(i) * step;
      fmt::format_to(out, "<path d=\"M{:.1f} {:.1f}h{}\" stroke=\"#ddd\"/>", left_, Y(y), kPanelWidth);
      fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"end\">{:.10g}</text>\n", left_ - 6, Y(y) + 4,
                     y);
    }
    const double step_x = std::max(1.0, TickStep(most_x_));
    for (int i = 0; i * step_x <= most_x_; ++i) {
      const double x = i * step_x;
      fmt::format_to(out, "<text x=\"{:.1f}\" y=\"{}\" text-anchor=\"middle\">{:.10g}</text>\n", X(x),
                     kTop + kPanelHeight + 18, x);
    }
    fmt::format_to(out, "<path d=\"M{} {}v{}h{}\" fill=\"none\" stroke=\"#444\"/>\n", left_, kTop, kPanelHeight,
                   kPanelWidth);
    fmt::format_to(out, "<text x=\"{}\" y=\"{}\" text-anchor=\"middle\">guests at once</text>\n",
                   left_ + kPanelWidth / 2, kTop + kPanelHeight + 36);
  }

  void AddLine(const Line& line) {
    std::string points;
    for (const auto& [x, y] : line.points) points += fmt::format("{:.1f},{:.1f} ", X(x), Y(y));
    svg_ += fmt::format("<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"1.8\"{}/>\n", points,
                        line.colour, line.dashed ? " stroke-dasharray=\"5 4\"" : "");
    for (const auto& [x, y] : line.points) {
      svg_ += fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\" stroke=\"{}\"/>\n", X(x), Y(y),
                          line.dashed ? "#fff" : line.colour, line.colour);
    }
  }

  const double left_;
  const std::string title_;
  double most_x_ = 1, most_y_ = 1e-9;
  std::string svg_;
};

template <typename Value>
std::vector<Line> LinesOf(std::span<const Report> reports, Value value) {
  std::vector<Line> lines;
  for (size_t i = 0; i < reports.size(); ++i) {
    for (const bool native : {true, false}) {
      Line line{.colour = kColours[i % kColours.size()], .dashed = native, .points = {}};
      for (const Level& level : reports[i].levels) {
        line.points.emplace_back(static_cast<double>(level.guests), value(level, native));
      }
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::string Legend(std::span<const Report> reports, double top) {
  std::string svg;
  for (size_t i = 0; i < reports.size(); ++i) {
    const Report& report = reports[i];
    const double y = top + static_cast<double>(i) * kLegendLine;
    svg += fmt::format("<path d=\"M{} {}h24\" stroke=\"{}\" stroke-width=\"1.8\"/>", kLeft, y - 4,
                       kColours[i % kColours.size()]);
    svg += fmt::format("<text x=\"{}\" y=\"{}\">{} on {}, {} by {}; dashed: native</text>\n", kLeft + 32, y,
                       Escaped(report.model), Escaped(report.framework), report.engine, report.abi);
  }
  return svg;
}

}  // namespace

std::string ToSvg(std::span<const Report> reports) {
  const Panel rates(kLeft, "inferences per second", LinesOf(reports, [](const Level& level, bool native) {
                      return native ? level.native_per_s : level.guest_per_s;
                    }));
  const Panel latency(kLeft + kPanelWidth + kGap, "p99 of one inference, µs",
                      LinesOf(reports, [](const Level& level, bool native) {
                        return native ? level.native_us.p99 : level.guest_us.p99;
                      }));
  const double legend = kTop + kPanelHeight + 66;
  const double width = kLeft + 2 * kPanelWidth + kGap + 30;
  const double height = legend + static_cast<double>(reports.size()) * kLegendLine;
  return fmt::format(
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\" "
             "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
             width, height) +
         rates.svg() + latency.svg() + Legend(reports, legend) + "</svg>\n";
}

}  // namespace wasinn::bench
