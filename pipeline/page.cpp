#include "pipeline/page.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/file.h"
#include "base/text.h"
#include "base/units.h"
#include "pipeline/html.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_slices = 12;

using Rows = std::vector<std::vector<std::string>>;

std::string decimals(double value) {
  return std::isnan(value) ? "nan" : format("{:.3f}", value);
}

// The value of `key: value` anywhere in the resolved experiment, for the few keys that are told at a glance.
// The whole file follows on the page; no YAML reader is needed for that.
std::string yaml_value(const std::string& yaml, const std::string& key) {
  std::string value;
  for (const std::string& line : split(yaml, '\n')) {
    const std::string text = trim(line);
    if (value.empty() && text.starts_with(key + ":"))
      value = trim(text.substr(key.size() + 1, text.find(" #") - key.size() - 1));
  }
  return value;
}

std::string experiment_of(const RunFolder& run) {
  return fs::exists(run.path / "experiment.yaml") ? read_file(run.path / "experiment.yaml") : "";
}

std::string runs_table(const std::vector<RunFolder>& runs) {
  Rows rows(1, {"run", "resolution", "device", "planner", "precision", "epochs", "best validation loss"});
  for (const RunFolder& run : runs) {
    const std::string yaml = experiment_of(run);
    std::int64_t epochs = 0;
    double best = std::nan("");
    for (const EpochRow& row : run.epochs) {
      epochs = std::max(epochs, row.epoch);
      best = std::fmin(best, row.validation_loss);
    }
    const bool timed = !run.timing.empty();
    rows.push_back({run.name, run.epochs.empty() ? "" : run.epochs.front().resolution,
                    timed ? run.timing.front().device : yaml_value(yaml, "device"),
                    timed ? run.timing.front().planner : yaml_value(yaml, "planner"),
                    yaml_value(yaml, "precision"), std::to_string(epochs), format("{:.4f}", best)});
  }
  return html_table(rows);
}

// Run by run, so that runs of one resolution, which share a box, can be told apart.
std::string dice_section(const std::vector<RunFolder>& runs) {
  Rows rows(
      1, {"run", "resolution", "evaluated at", "region", "mean Dice", "median", "sd", "n", "mean HD95, mm"});
  for (const RunFolder& run : runs) {
    for (const BoxRow& box : box_rows(run.dice)) {
      if (box.metric == "hd95") rows.back().back() = format("{:.2f}", box.statistics.mean);
      if (box.metric != "dice") continue;
      rows.push_back({run.name, box.resolution, box.evaluated_at, box.region, decimals(box.statistics.mean),
                      decimals(box.statistics.median), decimals(box.statistics.sd),
                      std::to_string(box.statistics.n), ""});
    }
  }
  if (rows.size() == 1) return "<p>These runs only trained: nothing was predicted and scored.</p>\n";
  if (runs.size() == 1) {
    for (auto& row : rows) row.erase(row.begin());
  }
  return html_table(rows) +
         "<p>n counts cases; a case that several repeats predicted counts once, with its mean.</p>\n";
}

std::string pooled_note(const std::vector<RunFolder>& runs) {
  std::set<std::string> seen;
  for (const RunFolder& run : runs) {
    std::set<std::string> own;
    for (const DiceRow& row : run.dice) own.insert(row.resolution);
    for (const std::string& resolution : own) {
      if (!seen.insert(resolution).second) {
        return "<p class=\"note\">Runs of the same resolution share a box in the plot and a row in "
               "boxplot.csv; the "
               "table above tells them apart.</p>\n";
      }
    }
  }
  return {};
}

std::string figure(const Picture& picture, const std::string& name, const std::string& caption) {
  if (picture.svg.empty()) return {};
  return format("<figure><div class=\"wide\">{}</div><figcaption>{}</figcaption></figure>\n",
                inline_svg(picture.svg, name), html_escape(caption));
}

std::string timing_section(const std::vector<RunFolder>& runs) {
  Rows rows(1, {"run", "resolution", "device", "planner", "epoch", "step (median)", "predicted step", "bound",
                "utilization", "device peak", "budget", "swapped out"});
  for (const RunFolder& run : runs) {
    for (const TimingRow& row : run.timing) {
      rows.push_back({run.name, row.resolution, row.device, row.planner,
                      format_seconds(row.epoch_seconds_mean), format_seconds(row.step_seconds_median),
                      format_seconds(row.predicted_step_seconds), format_seconds(row.bound_step_seconds),
                      decimals(row.utilization), format_bytes(row.device_peak_bytes),
                      format_bytes(row.budget_bytes), format_bytes(row.swapped_out_bytes)});
    }
  }
  return rows.size() == 1 ? "" : html_table(rows);
}

std::vector<fs::path> slices_of(const RunFolder& run) {
  std::vector<fs::path> pictures;
  const fs::path folder = run.path / "slices";
  if (!fs::is_directory(folder)) return pictures;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (entry.path().extension() == ".png" && !name.starts_with('.')) pictures.push_back(entry.path());
  }
  std::sort(pictures.begin(), pictures.end());
  return pictures;
}

// Some of every run when there are more pictures than the page should carry.
std::string slices_section(const std::vector<RunFolder>& runs) {
  const std::size_t each = std::max<std::size_t>(1, most_slices / std::max<std::size_t>(1, runs.size()));
  std::string html;
  std::size_t shown = 0;
  for (const RunFolder& run : runs) {
    std::vector<fs::path> pictures = slices_of(run);
    pictures.resize(std::min({pictures.size(), each, most_slices - shown}));
    shown += pictures.size();
    for (const fs::path& picture : pictures) {
      const std::string label = (runs.size() > 1 ? run.name + ": " : std::string()) + picture.stem().string();
      html += format(
          "<figure><img alt=\"{0}\" "
          "src=\"data:image/png;base64,{1}\"/><figcaption>{0}</figcaption></figure>\n",
          html_escape(label), base64(read_file(picture)));
    }
  }
  if (html.empty()) return html;
  return "<h2>Slices</h2>\n<p>Axial, coronal and sagittal, the patient's left on the right. Outlines: the "
         "truth on the "
         "left, the prediction on the right.</p>\n<div class=\"slices\">\n" +
         html + "</div>\n";
}

// The plan's plain numbers; its lists stay in plan.json.
std::string plan_table(const fs::path& file) {
  if (!fs::exists(file)) return {};
  const auto plan = nlohmann::json::parse(read_file(file), nullptr, false);
  if (!plan.is_object()) return {};
  Rows rows(1, {"memory plan", ""});
  for (const auto& [key, value] : plan.items()) {
    if (value.is_string()) rows.push_back({key, value.get<std::string>()});
    if (!value.is_number()) continue;
    const bool bytes = ends_with(key, "bytes") && value.is_number_integer();
    rows.push_back({key, bytes ? format("{} ({})", value.dump(), format_bytes(value.get<std::int64_t>()))
                               : value.dump()});
  }
  return rows.size() == 1 ? "" : html_table(rows);
}

std::string experiments_section(const std::vector<RunFolder>& runs) {
  std::string html = "<h2>What was run</h2>\n" + runs_table(runs);
  for (const RunFolder& run : runs) {
    const std::string yaml = experiment_of(run), plan = plan_table(run.path / "plan.json");
    if (yaml.empty() && plan.empty()) continue;
    html += format("<details><summary>{}: experiment and memory plan</summary>\n{}<pre>{}</pre></details>\n",
                   html_escape(run.name), plan, html_escape(yaml));
  }
  return html;
}

std::string files_section(const fs::path& out) {
  std::string items;
  for (const char* name : {"dice.csv", "boxplot.csv", "epochs.csv", "validation.csv", "timing.csv",
                           "split.csv", "boxplot.svg", "boxplot.png", "epochs.svg", "epochs.png",
                           "validation.svg", "validation.png", "experiment.yaml", "plan.json"}) {
    if (fs::exists(out / name)) items += format("<li><a href=\"{0}\">{0}</a></li>\n", name);
  }
  return "<h2>Files</h2>\n<ul>\n" + items + "</ul>\n";
}

}  // namespace

std::string report_page(const ReportParts& parts, const fs::path& out) {
  std::vector<std::string> names;
  for (const RunFolder& run : parts.runs) names.push_back(run.name);
  const std::string title = names.size() <= 3 ? join(names, ", ") : format("{} runs", names.size());
  std::string body = format("<h1>{}</h1>\n<p>voxswap report</p>\n", html_escape(title));
  if (!parts.plot_problem.empty())
    body += format("<p class=\"note\">{}</p>\n", html_escape(parts.plot_problem));
  body +=
      "<h2>Dice</h2>\n" + dice_section(parts.runs) + pooled_note(parts.runs) +
      figure(parts.box_plot, "boxplot", "Dice per region. The numbers behind the boxes are in boxplot.csv.") +
      slices_section(parts.runs) + "<h2>Training</h2>\n" +
      figure(parts.validation_plot, "validation",
             "Mean Dice of the validation cases after each epoch, from validation.csv.") +
      figure(parts.epochs_plot, "epochs", "Losses and seconds over the epochs, from epochs.csv.") +
      timing_section(parts.runs) + experiments_section(parts.runs) + files_section(out);
  return html_page(title + " - voxswap report", body);
}

}  // namespace voxswap
