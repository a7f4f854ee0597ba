// The section with the slice viewer: its cases, and as many of their volumes as there is room for.
#include <algorithm>
#include <cmath>

#include "base/json.h"
#include "base/keys.h"
#include "base/units.h"
#include "pipeline/report/html.h"
#include "pipeline/report/lists.h"
#include "pipeline/report/page.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/viewer_case.h"
#include "pipeline/report/viewer_cases_js.h"
#include "pipeline/report/viewer_drawing_js.h"
#include "pipeline/report/viewer_js.h"
#include "pipeline/report/viewer_volumes_js.h"

namespace voxswap::pipeline {

namespace {

// Limit for embedded volumes: the maximum over the runs.
std::int64_t most_bytes(const ReportParts& parts) {
  std::int64_t most = 0;
  for (const RunFolder& run : parts.runs) {
    const std::string text = run.setting(key::output_viewer);
    if (!text.empty() && text != "none") most = std::max(most, parse_bytes(text));
  }
  return most;
}

// Cases sorted by their worst score, so that the least interesting ones are omitted if space is short.
std::vector<std::string> cases_from_worst(const std::vector<ShownRun>& shown) {
  std::map<std::string, double> worst;
  for (const ShownRun& one : shown)
    for (const auto& [id, rows] : one.cases) {
      const double mean = mean_of(rows, &DiceRow::dice), dice = std::isnan(mean) ? 2 : mean;  // last
      const auto [place, is_new] = worst.try_emplace(id, dice);
      if (!is_new) place->second = std::min(place->second, dice);
    }
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [id, dice] : worst) order.emplace_back(dice, id);
  return in_order(std::move(order));
}

// Metrics with a value in any case.
std::vector<std::string> metrics_of(const std::vector<ShownRun>& shown) {
  std::vector<std::string> names = {"dice", "hd95", "sensitivity", "specificity"};
  std::vector<const DiceRow*> rows;
  for (const ShownRun& one : shown)
    for (const auto& [id, of_case] : one.cases) append(rows, of_case);
  for (const DiceRow* row : rows)
    for (const auto& [name, value] : row->further) place_in(names, name);
  std::erase_if(names, [&](const std::string& name) {
    return std::ranges::all_of(rows,
                               [&](const DiceRow* row) { return std::isnan(metric_value(*row, name)); });
  });
  return names;
}

Json scores_of(const std::vector<const DiceRow*>& rows, const std::vector<std::string>& metrics) {
  Json scores = Json::object();
  for (const DiceRow* row : rows) {
    Json of = Json::object();
    for (const std::string& metric : metrics)
      if (const double value = metric_value(*row, metric); !std::isnan(value)) of[metric] = value;
    scores[row->region] = of;
  }
  return scores;
}

// The volumes embedded in the page, and those that did not fit.
struct Taken {
  std::map<const ShownRun*, std::map<std::string, std::string>> studies;  // by case: block ids
  std::size_t without_room = 0;
  std::vector<std::string> problems;
};

Taken take_volumes(const std::vector<ShownRun>& shown, ViewerBlocks& blocks) {
  Taken taken;
  for (const std::string& id : cases_from_worst(shown)) {
    for (const ShownRun& one : shown) {
      const fs::path file = one.run->path / viewer_folder / (id + ".json");
      if (!one.cases.contains(id) || !fs::exists(file)) continue;
      try {
        const std::string study = blocks.add(file);
        if (study.empty())
          ++taken.without_room;
        else
          taken.studies[&one][id] = study;
      } catch (const Error& error) {
        taken.problems.push_back(format("{}; skipped", error.what()));
      }
    }
  }
  return taken;
}

Json index_of(const std::vector<ShownRun>& shown, const Taken& taken) {
  const std::vector<std::string> metrics = metrics_of(shown);
  Json groups = Json::array();
  for (const ShownRun& one : shown) {
    Json cases = Json::object();
    const auto found = taken.studies.find(&one);
    for (const auto& [id, rows] : one.cases) {
      const bool there = found != taken.studies.end() && found->second.contains(id);
      cases[id] = {{"study", there ? Json(found->second.at(id)) : Json(nullptr)},
                   {"scores", scores_of(rows, metrics)}};
    }
    groups.push_back({{"name", one.group}, {"cases", cases}});
  }
  std::vector<DiceRow> rows;
  for (const ShownRun& one : shown) append(rows, one.run->dice);
  const std::vector<std::string> regions = distinct(rows, &DiceRow::region);
  Json colors = Json::array();
  for (std::size_t i = 0; i < regions.size(); ++i) colors.push_back(hex(palette_color(i)));
  return {{"metrics", metrics},
          {"regions", regions},
          {"colors", {{"regions", colors}, {"missed", hex(missed_color)}, {"false", hex(false_color)}}},
          {"groups", groups}};
}

std::string notes(const Taken& taken, std::int64_t room) {
  std::vector<std::string> notes = taken.problems;
  if (taken.without_room > 0)
    notes.push_back(format("The volumes of {} are not in this page: {} limits them to {}.",
                           counted(taken.without_room, "case"), key::output_viewer, format_bytes(room)));
  return html_notes(notes);
}

struct Key {
  const char *how, *what;
};
constexpr Key keys[] = {{"wheel, sliders, \u2191 \u2193, page keys", "change the slice"},
                        {"drag", "move the crosshair"},
                        {"shift + drag, right button", "change window and level"},
                        {"\u2190 \u2192", "previous or next case"},
                        {"t, p", "ground truth, prediction: off, outline, fill"},
                        {"e", "show errors"},
                        {"1 to 9", "choose the channel"},
                        {"r", "reset window and level"},
                        {"tap", "move the crosshair"},
                        {"swipe sideways", "change the slice"},
                        {"dot of the box plot", "open its case"},
                        {"?", "show or hide this help"}};

// Collapsed until ? is clicked or pressed.
std::string list_of_keys() {
  std::string html =
      "<details class=\"keys\"><summary aria-label=\"Mouse, keyboard and touch controls\" title=\"Mouse, "
      "keyboard and touch controls\">?</summary>\n<dl>\n";
  for (const auto& [how, what] : keys) html += format("<div><dt>{}</dt><dd>{}</dd></div>\n", how, what);
  return html + "</dl>\n<p>Click on a slice before using letter and arrow keys.</p></details>\n";
}

}  // namespace

std::string viewer_section(const ReportParts& parts) {
  const std::int64_t room = most_bytes(parts);
  const std::vector<ShownRun> shown = shown_runs(parts, viewer_folder).runs;
  if (room == 0 || shown.empty()) return {};
  ViewerBlocks blocks(room);
  const Taken taken = take_volumes(shown, blocks);
  if (taken.studies.empty()) return notes(taken, room);
  return html_section(
      "look", "Viewer",
      list_of_keys() + notes(taken, room) + "<div id=\"viewer\" hidden=\"hidden\"></div>\n" +
          data_block("application/json", "viewer-index", script_text(index_of(shown, taken))) +
          blocks.html() +
          format("<script>//<![CDATA[\n(() => {{\n\"use strict\";\n{}{}{}{}}})();\n//]]></script>\n",
                 viewer_volumes_js, viewer_drawing_js, viewer_cases_js, viewer_js));
}

}  // namespace voxswap::pipeline
