// Time and memory on the page: what steps took, and what their plans hold when.
#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "pipeline/html.h"
#include "pipeline/page_parts.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_arenas = 4;
constexpr std::size_t largest_arena = 2 << 20;  // bytes

std::string bytes_or_nothing(std::int64_t bytes) {
  return bytes > 0 ? format_bytes(bytes) : "";
}

std::string rate_or_nothing(double gbps) {
  return gbps > 0 ? format("{:.1f}", gbps) : "";
}

std::string timing_table(const ReportParts& parts) {
  Rows rows(1, {"run", "resolution", "device", "planner", "budget", "device peak", "epoch", "step (median)",
                "predicted", "bound", "overhead", "kernels run, %", "out per step", "in per step",
                "out, GB/s", "in, GB/s"});
  for (const TimingRow& row : parts.timing) {
    rows.push_back({row.run, row.resolution, row.device, row.planner, bytes_or_nothing(row.budget_bytes),
                    format_bytes(row.device_peak_bytes), format_seconds(row.epoch_seconds_mean),
                    format_seconds(row.step_seconds_median), format_seconds(row.predicted_step_seconds),
                    format_seconds(row.bound_step_seconds), format("{:.2f}", row.overhead),
                    format("{:.1f}", 100 * row.utilization), bytes_or_nothing(row.swapped_out_bytes),
                    bytes_or_nothing(row.swapped_in_bytes), rate_or_nothing(row.to_host_gbps),
                    rate_or_nothing(row.to_device_gbps)});
  }
  return table_section(without_empty_columns(rows), "timing.csv", timing_csv(parts.timing)) +
         "<p>A row per repeat. Overhead: the median step as a factor of computing alone, with nothing moved "
         "or "
         "computed again. Bound: what no plan can beat.</p>\n";
}

}  // namespace

std::string speed_section(const ReportParts& parts) {
  if (parts.timing.empty()) return {};
  return "<h2>Speed</h2>\n" + picture_section(parts, "timing", "Means over repeats, from timing.csv.") +
         timing_table(parts);
}

std::string memory_section(const ReportParts& parts) {
  std::string html = picture_section(
      parts, "memory", "What each memory holds over a step, as planned and simulated, from memory.csv.");
  std::size_t shown = 0;
  for (const RunFolder& run : parts.runs) {
    const fs::path file = run.path / "arena.svg";
    if (shown == most_arenas || !fs::exists(file)) continue;
    const std::string svg = read_file(file);
    if (svg.size() > largest_arena || !is_harmless_svg(svg)) continue;
    html += format(
        "<details{}><summary>The arena of {}</summary>\n{}</details>\n", shown == 0 ? " open=\"\"" : "",
        html_escape(run.name),
        html_figure(svg.substr(svg.find("<svg")),
                    "Every value of a step in its place: kernels across, bytes up. Names and sizes show "
                    "when a pointer rests on a rectangle."));
    ++shown;
  }
  return html.empty() ? html : "<h2>Memory</h2>\n" + html;
}

}  // namespace voxswap
