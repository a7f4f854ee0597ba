// Cases on the page: the worst, the median and the best one, as every group of runs sees them.
#include <algorithm>
#include <cmath>
#include <map>

#include "base/file.h"
#include "base/text.h"
#include "pipeline/html.h"
#include "pipeline/page_parts.h"

namespace voxswap {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t most_views = 4;  // of one case, side by side

struct CaseScore {
  double sum = 0;
  int n = 0;
  std::vector<std::string> texts;  // "whole_tumor 0.871"
  double mean() const { return n > 0 ? sum / n : std::nan(""); }
};

// A run with pictures, and what the pictured predictions scored: those of its first repeat, on its first
// grid.
struct Gallery {
  const RunFolder* run = nullptr;
  std::string label, grid;
  std::map<std::string, CaseScore> cases;  // those with a picture
};

fs::path picture_of(const RunFolder& run, const std::string& case_id) {
  return run.path / "slices" / (case_id + ".png");
}

Gallery gallery_of(const RunFolder& run, const std::string& label) {
  Gallery gallery{&run, label, run.dice.front().evaluated_at, {}};
  for (const DiceRow& row : run.dice) {
    if (row.repeat != run.dice.front().repeat || row.evaluated_at != gallery.grid) continue;
    const bool known = gallery.cases.contains(row.case_id);
    if (!known && !fs::exists(picture_of(run, row.case_id))) continue;
    CaseScore& score = gallery.cases[row.case_id];
    score.texts.push_back(format("{} {}", row.region, decimals(row.dice)));
    if (std::isnan(row.dice)) continue;
    score.sum += row.dice;
    ++score.n;
  }
  return gallery;
}

// One run of every group; of many groups some, the coarsest and the finest among them.
std::vector<Gallery> galleries(const ReportParts& parts) {
  std::vector<Gallery> all;
  std::map<std::size_t, Gallery> by_group;
  for (const RunFolder& run : parts.runs) {
    if (run.dice.empty()) continue;
    const std::size_t group = group_of(parts.groups, run.dice.front().run, run.dice.front().resolution);
    if (by_group.contains(group)) continue;
    const RunGroup& of = parts.groups[group];
    Gallery gallery = gallery_of(run, parts.groups.size() > 1 ? group_label(of.resolution, of.setting) : "");
    if (!gallery.cases.empty()) by_group.emplace(group, std::move(gallery));
  }
  for (auto& [group, gallery] : by_group) all.push_back(std::move(gallery));
  if (all.size() <= most_views) return all;
  std::vector<Gallery> some;
  for (std::size_t i = 0; i < most_views; ++i) some.push_back(all[i * (all.size() - 1) / (most_views - 1)]);
  return some;
}

// Cases that every gallery has, from the worst to the best mean.
std::vector<std::string> ranked(const std::vector<Gallery>& views) {
  std::vector<std::pair<double, std::string>> order;
  for (const auto& [id, score] : views.front().cases) {
    double sum = 0;
    for (const Gallery& gallery : views) {
      const auto found = gallery.cases.find(id);
      sum += found == gallery.cases.end() ? std::nan("") : found->second.mean();
    }
    if (!std::isnan(sum)) order.emplace_back(sum, id);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::string> cases;
  for (const auto& [sum, id] : order) cases.push_back(id);
  return cases;
}

std::string view(const Gallery& gallery, const std::string& case_id) {
  const std::string scores = join(gallery.cases.at(case_id).texts, ", ");
  const std::string caption = gallery.label.empty() ? scores : gallery.label + ": " + scores;
  return format(
      "<figure><img alt=\"{0}\" src=\"data:image/png;base64,{1}\"/><figcaption>{2}</figcaption></figure>\n",
      html_escape(case_id), base64(read_file(picture_of(*gallery.run, case_id))), html_escape(caption));
}

std::string three_cases(const std::vector<Gallery>& views) {
  const std::vector<std::string> cases = ranked(views);
  if (cases.empty()) return {};
  std::vector<std::pair<std::string, std::size_t>> chosen = {
      {"Worst", 0}, {"Median", (cases.size() - 1) / 2}, {"Best", cases.size() - 1}};
  if (cases.size() < 3) chosen.erase(chosen.begin() + 1);
  if (cases.size() < 2) chosen = {{"The only", 0}};
  std::string html;
  for (const auto& [name, index] : chosen) {
    html += format("<h3>{} case: {}</h3>\n<div class=\"cases\">\n", name, html_escape(cases[index]));
    for (const Gallery& gallery : views) html += view(gallery, cases[index]);
    html += "</div>\n";
  }
  return html;
}

}  // namespace

std::string cases_section(const ReportParts& parts) {
  const std::vector<Gallery> views = galleries(parts);
  if (views.empty()) return {};
  std::string html = three_cases(views);
  if (html.empty()) {  // without a case in common each shows its own
    for (const Gallery& gallery : views) html += three_cases({gallery});
  }
  if (html.empty()) return html;
  return "<h2>Cases</h2>\n<p>By mean Dice over the regions. Axial, coronal and sagittal slices where the "
         "truth is "
         "largest, the patient's left on the right; outlines of the truth on the left, of the prediction on "
         "the "
         "right.</p>\n" +
         html;
}

}  // namespace voxswap
