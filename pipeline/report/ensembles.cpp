#include "pipeline/report/ensembles.h"

#include <algorithm>
#include <set>
#include <span>

#include "base/error.h"
#include "pipeline/report/lists.h"

namespace voxswap::pipeline {

namespace {

std::set<std::string> cases_of(const RunFolder& run) {
  std::set<std::string> cases;
  for (const DiceRow& row : run.dice) cases.insert(row.case_id);
  return cases;
}

// Pairs each run of one group with a run of the other that has the same validation cases; empty if a run has
// no counterpart.
std::vector<RunPair> pairs_of(const std::vector<RunFolder>& runs, const std::vector<const RunFolder*>& a,
                              std::vector<const RunFolder*> b) {
  std::vector<RunPair> pairs;
  if (a.size() != b.size()) return {};
  for (const RunFolder* one : a) {
    const auto other =
        std::ranges::find_if(b, [&](const RunFolder* of) { return cases_of(*of) == cases_of(*one); });
    if (other == b.end()) return {};
    pairs.push_back(
        {static_cast<std::size_t>(one - runs.data()), static_cast<std::size_t>(*other - runs.data())});
    b.erase(other);
  }
  return pairs;
}

// Adds the ensemble of two groups, or a note why there is none. `scores`: of `pairs`.
void add(std::size_t a, std::size_t b, const std::vector<RunFolder>& runs,
         const std::vector<RunGroup>& groups, std::span<const RunPair> pairs,
         std::span<const EnsembleScores> scores, Ensembles& result) {
  RunGroup group;
  group.resolution = groups[a].resolution;
  group.name = group.label = group.setting = format("{} + {} (ensemble)", groups[a].label, groups[b].label);
  std::vector<DiceRow> rows;
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    if (!scores[p].why_not.empty())
      return result.notes.push_back(format("no {}: {}", group.name, scores[p].why_not));
    group.runs.push_back(runs[pairs[p].first].name + " + " + runs[pairs[p].second].name);
    for (DiceRow row : scores[p].rows) {
      row.run = group.runs.back();
      row.resolution = group.resolution;
      rows.push_back(std::move(row));
    }
  }
  result.groups.push_back(std::move(group));
  result.members.emplace_back(a, b);
  append(result.rows, rows);
}

}  // namespace

std::vector<const RunFolder*> scored_runs(const std::vector<RunFolder>& runs,
                                          const std::vector<RunGroup>& groups, std::size_t group) {
  std::vector<const RunFolder*> scored;
  for (const RunFolder& run : runs)
    if (!run.dice.empty() && group_of(groups, run.dice.front().run, run.dice.front().resolution) == group)
      scored.push_back(&run);
  return scored;
}

Ensembles ensembles_of(const std::vector<RunFolder>& runs, const std::vector<RunGroup>& groups,
                       const ScoreEnsembles& score) {
  std::map<std::pair<std::size_t, std::size_t>, std::vector<RunPair>> of_groups;
  std::vector<RunPair> pairs;
  for (std::size_t a = 0; a < groups.size(); ++a)
    for (std::size_t b = a + 1; b < groups.size(); ++b)
      append(pairs,
             of_groups[{a, b}] = pairs_of(runs, scored_runs(runs, groups, a), scored_runs(runs, groups, b)));
  if (pairs.empty())
    fail(Exit::usage,
         "--ensembles: no two groups of runs have the same validation cases. Train them on one split, like "
         "the cells of a sweep");
  std::vector<fs::path> folders;
  for (const RunFolder& run : runs) folders.push_back(run.path);
  const std::vector<EnsembleScores> scores = score(folders, pairs);
  Ensembles result;
  std::span rest(scores);
  for (const auto& [members, of_pair] : of_groups) {
    if (of_pair.empty()) continue;
    add(members.first, members.second, runs, groups, of_pair, rest.first(of_pair.size()), result);
    rest = rest.subspan(of_pair.size());
  }
  if (result.groups.empty()) fail(Exit::usage, "--ensembles: {}", join(result.notes, "\n"));
  return result;
}

}  // namespace voxswap::pipeline
