// The sections on time and memory: step times, and the memory of plans.
#include <cmath>
#include <map>

#include "base/units.h"
#include "base/xml.h"
#include "pipeline/report/group_colors.h"
#include "pipeline/report/html.h"
#include "pipeline/report/page.h"

namespace voxswap::pipeline {

namespace {

constexpr std::size_t largest_arena = 2 << 20;  // bytes of an SVG to embed

std::string bytes_or_nothing(std::int64_t bytes) {
  return bytes > 0 ? format_bytes(bytes) : "";
}

std::string rate_or_nothing(double gbps) {
  return gbps > 0 ? format("{:.1f}", gbps) : "";
}

std::string name_of(const ReportParts& parts, const TimingRow& row) {
  if (parts.groups.size() == 1) return row.run;
  return GroupLabels(parts.groups).names[group_of(parts.groups, row.run, row.resolution)];
}

std::string heading_of_names(const ReportParts& parts) {
  return differ_in_resolution_only(parts.groups) ? GroupLabels(parts.groups).heading : "Run or group";
}

std::string timing_table(const ReportParts& parts) {
  Rows rows(1, {heading_of_names(parts), "Run", "Repeat", "Epoch", "Step, median", "Step, predicted",
                "Step, lower bound", "Overhead", "Utilisation, %"});
  std::map<std::pair<std::string, std::string>, int> repeats;  // of each run: its rows, in order
  bool all_are_bounded = true;
  for (const TimingRow& row : parts.timing) {
    const bool is_bounded = !std::isnan(row.bound_step_seconds);
    all_are_bounded = all_are_bounded && is_bounded;
    rows.push_back({name_of(parts, row), row.run, std::to_string(++repeats[{row.run, row.resolution}]),
                    format_seconds(row.epoch_seconds_mean), format_seconds(row.step_seconds_median),
                    format_seconds(row.predicted_step_seconds),
                    is_bounded ? format_seconds(row.bound_step_seconds) : "-",
                    is_bounded ? format("{:.2f}", row.overhead) : "-",
                    format("{:.1f}", 100 * row.utilization)});
  }
  if (parts.groups.size() == parts.runs.size())  // the group's name already identifies the run
    for (auto& row : rows) row.erase(row.begin() + 1);
  take_out_common(rows, "Repeat");
  return table_section(rows, "timing.csv", csv_of(parts.timing)) +
         "<p>Overhead: median step time divided by the compute time, with nothing swapped or "
         "recomputed. Lower bound: no memory plan can be faster." +
         (all_are_bounded ? "" : " -: unknown, because other programs ran when costs were measured.") +
         "</p>\n";
}

std::string transfers_table(const ReportParts& parts) {
  Rows rows(1, {heading_of_names(parts), "Repeat", "Device", "Planner", "Budget", "Device memory",
                "Swapped out per step", "Swapped in per step", "Out, GB/s", "In, GB/s"});
  std::map<std::pair<std::string, std::string>, int> repeats;  // of each run: its rows, in order
  for (const TimingRow& row : parts.timing) {
    rows.push_back({name_of(parts, row), std::to_string(++repeats[{row.run, row.resolution}]), row.device,
                    row.planner, bytes_or_nothing(row.budget_bytes), format_bytes(row.device_peak_bytes),
                    bytes_or_nothing(row.swapped_out_bytes), bytes_or_nothing(row.swapped_in_bytes),
                    rate_or_nothing(row.to_host_gbps), rate_or_nothing(row.to_device_gbps)});
  }
  take_out_common(rows, "Repeat");
  return table_section(without_empty_columns(rows), "memory_and_transfers.csv");
}

}  // namespace

std::string speed_section(const ReportParts& parts) {
  if (parts.timing.empty()) return {};
  return html_secondary_section(
      "speed", "Speed",
      html_beside(picture_section(parts, "timing", "Means over repeats, from timing.csv."),
                  timing_table(parts)));
}

std::string memory_section(const ReportParts& parts) {
  std::string html = html_beside(
      picture_section(parts, "memory", "Planned memory use over one step (simulated), from memory.csv."),
      parts.timing.empty() ? "" : transfers_table(parts));
  auto [runs, left_out] = shown_runs(parts, "arena.svg", 4);  // repeats have identical plans
  if (runs.empty()) left_out.clear();
  bool first = true;
  for (const ShownRun& shown : runs) {
    const std::string name = parts.groups.size() == 1 ? shown.run->name : shown.group;
    const std::string svg = read_file(shown.run->path / "arena.svg");
    if (svg.size() > largest_arena) {
      left_out.push_back(name);
      continue;
    }
    html += format("<details{}><summary>Memory arena of {}</summary>\n{}</details>\n",
                   first ? " open=\"\"" : "", xml_escaped(name),
                   html_image(svg,
                              "Memory allocations of one step: x axis kernels, y axis offsets. In arena.svg "
                              "in the run's folder, hover over a rectangle to see its name and size."));
    first = false;
  }
  if (!left_out.empty())
    html += html_notes({format("Arenas not shown here: {}. See arena.svg in the folder of each run.",
                               join(left_out, "; "))});
  return html.empty() ? html : html_secondary_section("memory", "Memory", html);
}

}  // namespace voxswap::pipeline
