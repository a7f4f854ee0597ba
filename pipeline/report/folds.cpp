#include "pipeline/report/folds.h"

#include <map>
#include <set>

#include "base/keys.h"
#include "pipeline/report/comparison.h"
#include "pipeline/report/ensembles.h"
#include "pipeline/report/lists.h"

namespace voxswap::pipeline {

namespace {

using RunsByFold = std::map<std::int64_t, std::vector<const RunFolder*>>;

RunsByFold by_fold(const std::vector<const RunFolder*>& runs) {
  RunsByFold folds;
  for (const RunFolder* run : runs)
    if (const auto fold = parse_number<std::int64_t>(run->setting(key::data_split_fold)))
      folds[*fold].push_back(run);
  return folds;
}

void add_rows(const std::vector<const RunFolder*>& runs, const std::vector<RunGroup>& groups,
              const std::string& fold, std::vector<FoldRow>& rows) {
  std::vector<DiceRow> dice;
  for (const RunFolder* run : runs) append(dice, run->dice);
  for (const BoxRow& box : box_rows(dice, groups))
    if (box.statistics.n > 0)
      rows.push_back({box.resolution, box.setting, box.evaluated_at, box.region, box.metric, fold,
                      static_cast<std::int64_t>(box.statistics.n), box.statistics.mean, box.statistics.sd});
}

void add_notes(const RunsByFold& folds, const RunGroup& group, std::vector<std::string>& notes) {
  std::map<std::string, std::set<std::int64_t>> held_out;
  for (const auto& [fold, runs] : folds)
    for (const RunFolder* run : runs)
      for (const DiceRow& row : run->dice) held_out[row.case_id].insert(fold);
  std::size_t twice = 0;
  for (const auto& [id, in] : held_out) twice += in.size() > 1 ? 1 : 0;
  if (twice > 0)
    notes.push_back(format("{}: {} held out in more than one fold, counted once with the mean score",
                           group.name, counted(twice, "case")));
  const auto count =
      parse_number<std::int64_t>(folds.begin()->second.front()->setting(key::data_split_folds));
  std::vector<std::string> missing;
  for (std::int64_t fold = 0; count && fold < *count; ++fold)
    if (!folds.contains(fold)) missing.push_back(std::to_string(fold));
  if (!missing.empty())
    notes.push_back(format("{}: {} {} of {} missing; the scores lack what was held out in {}", group.name,
                           missing.size() > 1 ? "folds" : "fold", join(missing, ", "), *count,
                           missing.size() > 1 ? "them" : "it"));
}

}  // namespace

Folds folds_of(const std::vector<RunFolder>& runs, const std::vector<RunGroup>& groups) {
  Folds result;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const RunsByFold folds = by_fold(scored_runs(runs, groups, group));
    if (folds.size() < 2) continue;
    std::vector<const RunFolder*> all;
    for (const auto& [fold, of_fold] : folds) {
      add_rows(of_fold, groups, std::to_string(fold), result.rows);
      append(all, of_fold);
    }
    add_rows(all, groups, "all", result.rows);
    add_notes(folds, groups[group], result.notes);
  }
  return result;
}

Columns<FoldRow> columns_of(const FoldRow*) {
  using Row = FoldRow;
  return {column::resolution<Row>(),
          column::text("setting", "values of the keys in which groups of runs differ", &Row::setting),
          column::grid<Row>(),
          column::text("region", "label or region", &Row::region),
          column::text("metric", "name of the metric", &Row::metric),
          column::text("fold", "fold, counted from 0, or all", &Row::fold),
          column::count("cases", "cases with a score", &Row::cases),
          column::real("mean", "mean over the cases, in the metric's unit", &Row::mean),
          column::real("sd", "standard deviation (n - 1) over the cases; 0 for one case", &Row::sd)};
}

}  // namespace voxswap::pipeline
