#include "cli/tables.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "base/text.h"
#include "base/units.h"

namespace voxswap::cli {

namespace {

constexpr const char* dimension_names[] = {"resolution", "batch", "depth"};

const char* name_of(pipeline::Dimension dimension) {
  return dimension_names[static_cast<std::size_t>(dimension)];
}

Json one_largest(const pipeline::Largest& largest) {
  Json json = {{"dimension", name_of(largest.dimension)},
               {"largest", largest.plan ? Json(largest.size) : Json()},
               {"up_to", largest.up_to.empty() ? Json() : Json(largest.up_to)},
               {"next", largest.next.empty() ? Json() : Json(largest.next)},
               {"limit", largest.next.empty() ? "" : largest.limit}};
  json["memory_host_bytes"] = largest.host_bytes;
  if (largest.plan) {
    json["predicted_step_seconds"] = largest.plan->predicted_seconds;
    json["compute_seconds"] = largest.compute_seconds;
    json["overhead"] = largest.plan->predicted_seconds / largest.compute_seconds;
    for (const pipeline::Largest::Swift& swift : largest.swift)
      json["at_most"].push_back({{"times_computing", swift.times},
                                 {"largest", swift.factor > 0 ? Json(swift.size) : Json()},
                                 {"up_to", swift.up_to.empty() ? Json() : Json(swift.up_to)},
                                 {"predicted_step_seconds", swift.step_seconds}});
    json["device_peak_bytes"] = largest.plan->peak_bytes;
    json["host_bytes"] = largest.plan->host_bytes;
    json["streamed_bytes"] = largest.plan->streamed_bytes;
    json["disk_bytes"] = largest.plan->disk_bytes;
  }
  return json;
}

// "784", or "784 to 816" if the sizes between were not tried.
std::string range(const std::string& size, const std::string& up_to) {
  if (up_to.empty()) return size.empty() ? "none" : size;
  return size.empty() ? "at most " + up_to : format("{} to {}", size, up_to);
}

std::string why_no_larger(const pipeline::Largest& largest) {
  if (!largest.next.empty()) return format("{} does not fit: {}\n", largest.next, largest.limit);
  if (largest.dimension == pipeline::Dimension::batch)
    return "larger batches were not tried: each adds only one sample and takes long to plan\n";
  return "other keys of the experiment allow no larger size\n";
}

}  // namespace

std::string largest_text(const std::vector<pipeline::Largest>& all) {
  std::vector<std::vector<std::string>> cells = {
      {"host memory", "largest", "device", "host peak", "disk", "step", "overhead"}};
  for (const double times : pipeline::most_times) cells[0].push_back(format("at most {:g}x", times));
  for (const pipeline::Largest& largest : all) {
    std::vector<std::string> row = {format_bytes(largest.host_bytes)};
    if (largest.plan) {
      const swap::Plan& plan = *largest.plan;
      row.insert(row.end(), {range(largest.size, largest.up_to), format_bytes(plan.peak_bytes),
                             format_bytes(plan.host_bytes + plan.streamed_bytes),
                             format_bytes(plan.disk_bytes), exact_seconds(plan.predicted_seconds),
                             format("{:.3g}", plan.predicted_seconds / largest.compute_seconds)});
      for (const pipeline::Largest::Swift& swift : largest.swift)
        row.push_back(range(swift.size, swift.up_to) +
                      (swift.factor > 0 ? format(" ({})", exact_seconds(swift.step_seconds)) : ""));
    } else {
      row.push_back("none fits");
    }
    row.resize(cells[0].size(), "-");
    cells.push_back(row);
  }
  return format(
      "largest {}\n\n{}\nstep: predicted time; overhead: step time / compute time; at most 2x: largest size "
      "whose overhead is at most 2\n\n{}",
      name_of(all.front().dimension), table(cells), why_no_larger(all.back()));
}

std::string largest_json(const std::vector<pipeline::Largest>& all) {
  Json json = Json::array();
  for (const pipeline::Largest& largest : all) json.push_back(one_largest(largest));
  return json.dump(2) + "\n";
}

namespace {

bool is_text(std::string_view column) {
  constexpr std::array<std::string_view, 8> names = {"run",          "cell",  "case",      "region",
                                                     "evaluated_at", "truth", "predicted", "resolution"};
  return std::find(names.begin(), names.end(), column) != names.end();
}

Json json_of(std::string_view column, const std::string& field) {
  if (is_text(column)) return field;
  if (const auto whole = parse_number<std::int64_t>(field)) return *whole;
  const auto number = parse_number<double>(field);
  if (!number) return field;
  return std::isfinite(*number) ? Json(*number) : Json(nullptr);
}

}  // namespace

Json table_json(const Csv& csv) {
  Json rows = Json::array();
  for (const auto& fields : csv.rows) {
    Json row = Json::object();
    for (std::size_t i = 0; i < csv.header.size(); ++i)
      row[csv.header[i]] = json_of(csv.header[i], fields[i]);
    rows.push_back(std::move(row));
  }
  return rows;
}

}  // namespace voxswap::cli
