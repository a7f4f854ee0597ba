#include <unistd.h>

#include <algorithm>
#include <map>

#include "base/json.h"
#include "base/terminal.h"
#include "base/text.h"
#include "cli/problem_groups.h"
#include "cli/tables.h"
#include "data/layouts/incomplete.h"
#include "data/prepare/resolution_advice.h"
#include "metrics/box_statistics.h"

namespace voxswap::cli {

namespace {

using Rows = std::vector<std::vector<std::string>>;
std::vector<Size3> foregrounds(const data::CheckReport& report) {
  std::vector<Size3> sizes;
  for (const data::CaseFacts& facts : report.cases) {
    if (facts.foreground) sizes.push_back(*facts.foreground);
  }
  return sizes;
}

metrics::BoxStatistics axis_statistics(const std::vector<Size3>& sizes, std::size_t axis) {
  std::vector<double> sides;
  for (const Size3& size : sizes) sides.push_back(static_cast<double>(size[axis]));
  return metrics::box_statistics(sides);
}

std::string size_text(const Size3& size) {
  return size[0] == size[1] && size[1] == size[2] ? std::to_string(size[0])
                                                  : format("[{}, {}, {}]", size[0], size[1], size[2]);
}

// A value with its number of cases; sorted by frequency.
struct Frequency {
  std::string text;
  std::int64_t cases;
};
template <class Value>
std::vector<Frequency> frequencies(const data::CheckReport& report, Value value) {
  std::map<std::string, std::int64_t> counts;
  for (const data::CaseFacts& facts : report.cases) {
    if (const std::string text = value(facts); !text.empty()) ++counts[text];
  }
  std::vector<Frequency> result;
  for (const auto& [text, cases] : counts) result.push_back({text, cases});
  std::stable_sort(result.begin(), result.end(),
                   [](const auto& a, const auto& b) { return a.cases > b.cases; });
  return result;
}

std::string grid_text(const data::CaseFacts& facts) {
  if (!facts.grid) return {};
  const data::Geometry& grid = *facts.grid;
  return format("{}x{}x{} voxels of {:.4g}x{:.4g}x{:.4g} mm, axes {}", grid.size[0], grid.size[1],
                grid.size[2], grid.spacing[0], grid.spacing[1], grid.spacing[2], facts.axes);
}

std::string elements_text(const data::CaseFacts& facts) {
  std::vector<std::string> elements = facts.elements;
  std::erase(elements, "");
  std::sort(elements.begin(), elements.end());
  elements.erase(std::unique(elements.begin(), elements.end()), elements.end());
  return join(elements, ", ");
}

std::string grids_table(const data::CheckReport& report) {
  constexpr std::size_t most = 8;
  std::string text;
  for (const auto& [title, list] : {std::pair{"grid", frequencies(report, grid_text)},
                                    std::pair{"stored as", frequencies(report, elements_text)}}) {
    if (list.empty()) continue;
    Rows rows = {{title, "cases"}};
    for (std::size_t i = 0; i < std::min(most, list.size()); ++i)
      rows.push_back({list[i].text, std::to_string(list[i].cases)});
    text += "\n" + table(rows);
    if (list.size() > most)
      text += format("and {}; --json lists every case\n", counted(list.size() - most, "other"));
  }
  return text;
}

// For a label value: number of cases that contain it, and voxel counts in them.
struct LabelFacts {
  std::int64_t cases = 0;
  metrics::BoxStatistics voxels;
};
LabelFacts label_facts(const data::CheckReport& report, int value) {
  std::vector<double> voxels;
  for (const data::CaseFacts& facts : report.cases) {
    const auto found = facts.labels.find(value);
    if (found != facts.labels.end()) voxels.push_back(static_cast<double>(found->second));
  }
  return {static_cast<std::int64_t>(voxels.size()), metrics::box_statistics(voxels)};
}

// Labels of the data set, followed by other values that occur.
std::vector<std::pair<std::string, int>> all_labels(const data::CheckReport& report) {
  std::vector<std::pair<std::string, int>> labels = report.dataset.labels;
  if (report.dataset.ignore_label != 0) labels.emplace_back("(ignored)", report.dataset.ignore_label);
  for (const data::CaseFacts& facts : report.cases) {
    for (const auto& [value, voxels] : facts.labels) {
      if (std::none_of(labels.begin(), labels.end(),
                       [&](const auto& known) { return known.second == value; }))
        labels.emplace_back("(unknown)", value);
    }
  }
  return labels;
}

std::string labels_table(const data::CheckReport& report) {
  Rows rows = {{"label", "value", "cases", "voxels: median", "min", "max"}};
  for (const auto& [name, value] : all_labels(report)) {
    const LabelFacts facts = label_facts(report, value);
    const auto voxels = [&](double count) {
      return facts.cases > 0 ? format("{:.0f}", count) : std::string("-");
    };
    rows.push_back({name, std::to_string(value), std::to_string(facts.cases), voxels(facts.voxels.median),
                    voxels(facts.voxels.minimum), voxels(facts.voxels.maximum)});
  }
  return rows.size() > 1 ? "\n" + table(rows) : std::string();
}

std::string foreground_table(const data::CheckReport& report) {
  const std::vector<Size3> sizes = foregrounds(report);
  if (sizes.empty()) return {};
  Rows rows = {{"foreground, voxels", "mean", "median", "min", "max"}};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const metrics::BoxStatistics of = axis_statistics(sizes, axis);
    rows.push_back({std::string(1, "xyz"[axis]), format("{:.1f}", of.mean), format("{:.1f}", of.median),
                    format("{:.0f}", of.minimum), format("{:.0f}", of.maximum)});
  }
  std::string text = "\n" + table(rows);
  Rows advice = {{"preprocess.resolution", "voxels kept", "cases that lose detail", ""}};
  for (const data::ResolutionAdvice& one : data::sensible_resolutions(sizes))
    advice.push_back({size_text(one.size), format("{:.1f} %", 100 * one.kept),
                      format("{} of {}", one.shrunk, sizes.size()), one.why});
  return text + "\n" + table(advice);
}

Json case_json(const data::CaseFacts& facts) {
  Json json = {{"case", facts.id}, {"stored_as", facts.elements}};
  if (facts.grid) {
    json["size"] = facts.grid->size;
    json["spacing"] = facts.grid->spacing;
    json["axes"] = facts.axes;
  }
  if (facts.foreground) json["foreground"] = *facts.foreground;
  for (const auto& [value, voxels] : facts.labels) json["label_voxels"][std::to_string(value)] = voxels;
  return json;
}

// How series were assigned to channels by their names.
std::string guesses_table(const data::Dataset& dataset) {
  if (dataset.guesses.empty()) return {};
  Rows rows = {{"used as", "series", "cases"}};
  for (const data::SeriesGuess& guess : dataset.guesses)
    rows.push_back({guess.channel, guess.written, std::to_string(guess.cases)});
  return "\n" + table(rows) +
         "to change this, set data.files, e.g. layout: dicom, files: {t1ce: \"*T1*POST*\"}\n";
}

// A finding and its remedy, wrapped to the width of a terminal.
std::string finding(const std::string& severity, const std::string& what, const std::string& fix) {
  constexpr std::size_t indent = 9;
  const std::size_t width = ::isatty(STDOUT_FILENO) == 1 ? std::max<std::size_t>(40, screen().columns) : 0;
  std::string text;
  for (const std::string& part : fix.empty() ? std::vector{what} : std::vector{what, "To do: " + fix}) {
    std::string line = text.empty() ? format("{:{}}", severity, indent) : std::string(indent, ' ');
    bool begun = false;
    for (const std::string& word : split(part, ' ')) {
      if (begun && width > 0 && shown_width(line) + 1 + shown_width(word) > width) {
        text += line + "\n";
        line = std::string(indent, ' ');
        begun = false;
      }
      line += (begun ? " " : "") + word;
      begun = true;
    }
    text += line + "\n";
  }
  return text;
}

std::string problems_text(const data::CheckReport& report) {
  std::string text;
  for (const ProblemGroup& group : grouped(report.problems, report.dataset.root))
    text += finding(group.first.severity, sentence(group, report.dataset.cases.size()), group.first.fix);
  return text.empty() ? text : "\n" + text;
}

std::string unused_text(const data::CheckReport& report) {
  if (report.unused.empty()) return {};
  std::string text = "\nnot used\n";
  for (const data::UnusedGroup& group : data::grouped(report.unused, report.dataset.root))
    text += finding(group.severity, format("{}: {}", group.what, group.why), "");
  return text;
}

}  // namespace

std::int64_t count_problems(const data::CheckReport& report, const std::string& severity) {
  const auto groups = data::grouped(report.unused, report.dataset.root);
  return std::count_if(report.problems.begin(), report.problems.end(),
                       [&](const data::Problem& problem) { return problem.severity == severity; }) +
         std::count_if(groups.begin(), groups.end(),
                       [&](const data::UnusedGroup& group) { return group.severity == severity; });
}

std::string check_json(const data::CheckReport& report) {
  const data::Dataset& dataset = report.dataset;
  Json json = {{"root", dataset.root.string()},    {"layout", dataset.layout},
               {"recognised", dataset.recognised}, {"modalities", dataset.modalities},
               {"cases", dataset.cases.size()},    {"problems", Json::array()}};
  for (const auto& [name, value] : dataset.labels) json["labels"][name] = value;
  for (const auto& [name, values] : dataset.regions) json["regions"][name] = values;
  for (const data::Problem& problem : report.problems)
    json["problems"].push_back({{"case", problem.case_id},
                                {"severity", problem.severity},
                                {"what", problem.what},
                                {"fix", problem.fix}});
  for (const data::SeriesGuess& guess : dataset.guesses)
    json["guesses"].push_back(
        {{"channel", guess.channel}, {"series", guess.written}, {"cases", guess.cases}});
  json["not_used"] = Json::array();
  for (const data::Unused& unused : report.unused)
    json["not_used"].push_back(
        {{"path", unused.path.string()}, {"severity", unused.severity}, {"why", unused.why}});
  const std::vector<Size3> sizes = foregrounds(report);
  for (std::size_t axis = 0; axis < 3 && !sizes.empty(); ++axis) {
    const metrics::BoxStatistics of = axis_statistics(sizes, axis);
    json["foreground_statistics"][std::string(1, "xyz"[axis])] = {
        {"mean", of.mean}, {"median", of.median}, {"min", of.minimum}, {"max", of.maximum}};
  }
  for (const data::ResolutionAdvice& one : data::sensible_resolutions(sizes))
    json["resolutions"].push_back(
        {{"size", one.size}, {"why", one.why}, {"voxels_left", one.kept}, {"cases_that_lose", one.shrunk}});
  for (const data::CaseFacts& facts : report.cases) json["per_case"].push_back(case_json(facts));
  return json.dump(2, ' ', false, Json::error_handler_t::replace);
}

std::string check_text(const data::CheckReport& report) {
  const data::Dataset& dataset = report.dataset;
  std::string text = format("{}: {}\n{}, channels {}\n", dataset.root.string(), dataset.recognised,
                            counted(dataset.cases.size(), "case"), join(dataset.modalities, ", "));
  text += problems_text(report);
  text += guesses_table(dataset) + grids_table(report) + labels_table(report) + foreground_table(report) +
          unused_text(report);
  return text + format("\n{}, {}\n", counted(count_problems(report, "error"), "error"),
                       counted(count_problems(report, "warning"), "warning"));
}

}  // namespace voxswap::cli
