#include "pipeline/report/page_classes.h"

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "base/xml.h"
#include "pipeline/report/html.h"
#include "pipeline/report/page_parts.h"

namespace voxswap::pipeline {

namespace {

// Wilson's interval of 95 % for a part of n.
std::string interval_of(std::int64_t right, std::int64_t all) {
  constexpr double z = 1.959963984540054;
  const auto n = static_cast<double>(all), p = static_cast<double>(right) / n;
  const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
  const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
  return format("{:.3f} to {:.3f}", middle - half, middle + half);
}

double accuracy_of_last_epoch(const std::vector<AccuracyRow>& rows, const Confusion& one) {
  double accuracy = std::nan("");
  for (const AccuracyRow& row : rows)
    if (row.run == one.run && row.repeat == one.repeat && row.resolution == one.resolution)
      accuracy = row.accuracy;
  return accuracy;
}

std::string matrix_of(const Confusion& one, bool several) {
  Rows rows(1, {"Ground truth"});
  for (const std::string& name : one.classes) rows.front().push_back("Predicted " + name);
  rows.front().push_back("Right");
  for (std::size_t t = 0; t < one.classes.size(); ++t) {
    std::vector<std::string>& row = rows.emplace_back(1, one.classes[t]);
    std::int64_t all = 0;
    for (const std::int64_t count : one.counts[t]) {
      row.push_back(std::to_string(count));
      all += count;
    }
    row.push_back(all == 0 ? "no images"
                           : decimals(static_cast<double>(one.counts[t][t]) / static_cast<double>(all)));
  }
  const std::string heading =
      several ? format("<h3>{}, {}, repeat {}</h3>\n", xml_escaped(one.run), one.resolution, one.repeat) : "";
  return heading + table_section(rows, "confusion.csv", confusion_csv({one}));
}

}  // namespace

std::string classes_section(const ReportParts& parts) {
  if (parts.classes.empty()) return {};
  const std::vector<Confusion> all = confusions(parts.classes);
  Rows rows(1, {"Run", "Resolution", "Repeat", "Accuracy", "95 % interval", "Right", "Images",
                "After the last epoch"});
  for (const Confusion& one : all)
    rows.push_back({one.run, one.resolution, std::to_string(one.repeat), decimals(one.accuracy()),
                    interval_of(one.right(), one.all()), std::to_string(one.right()),
                    std::to_string(one.all()), decimals(accuracy_of_last_epoch(parts.accuracy, one))});
  std::string html =
      table_section(rows, "accuracies.csv") +
      "<p>Validation images, predicted with the weights of the epoch with the lowest validation loss. Wilson "
      "intervals.</p>\n";
  for (const Confusion& one : all) html += matrix_of(one, all.size() > 1);
  return html_section("classes", "Classes", html);
}

}  // namespace voxswap::pipeline
