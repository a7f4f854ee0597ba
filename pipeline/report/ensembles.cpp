#include "pipeline/report/ensembles.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/text.h"

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
    const auto other = std::find_if(b.begin(), b.end(),
                                    [&](const RunFolder* of) { return cases_of(*of) == cases_of(*one); });
    if (other == b.end()) return {};
    pairs.push_back(
        {static_cast<std::size_t>(one - runs.data()), static_cast<std::size_t>(*other - runs.data())});
    b.erase(other);
  }
  return pairs;
}

std::string short_name(const RunGroup& group) {
  return group.runs.size() == 1 ? group.runs[0]
                                : format("{} and {} more", group.runs[0], group.runs.size() - 1);
}

// Two groups and the range of their pairs of runs.
struct Planned {
  std::size_t a = 0, b = 0, first_pair = 0, pairs = 0;
};

void add(const Planned& planned, const std::vector<RunFolder>& runs, const std::vector<RunGroup>& groups,
         const std::vector<RunPair>& pairs, std::vector<EnsembleScores>& scores, Ensembles& result) {
  const RunGroup &a = groups[planned.a], &b = groups[planned.b];
  RunGroup group;
  group.resolution = a.resolution;
  group.name = group.setting = format("{} + {} (ensemble)", short_name(a), short_name(b));
  std::vector<DiceRow> rows;
  for (std::size_t p = planned.first_pair; p < planned.first_pair + planned.pairs; ++p) {
    if (!scores[p].why_not.empty())
      return result.notes.push_back(format("no {}: {}", group.name, scores[p].why_not));
    const std::string name = runs[pairs[p].first].name + " + " + runs[pairs[p].second].name;
    group.runs.push_back(name);
    for (DiceRow& row : scores[p].rows) {
      row.run = name;
      row.resolution = group.resolution;
      rows.push_back(std::move(row));
    }
  }
  result.groups.push_back(std::move(group));
  result.members.emplace_back(planned.a, planned.b);
  result.rows.insert(result.rows.end(), rows.begin(), rows.end());
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
  std::vector<Planned> all;
  std::vector<RunPair> pairs;
  for (std::size_t a = 0; a < groups.size(); ++a)
    for (std::size_t b = a + 1; b < groups.size(); ++b) {
      const std::vector<RunPair> more =
          pairs_of(runs, scored_runs(runs, groups, a), scored_runs(runs, groups, b));
      if (more.empty()) continue;
      all.push_back({a, b, pairs.size(), more.size()});
      pairs.insert(pairs.end(), more.begin(), more.end());
    }
  if (all.empty())
    fail(Exit::usage,
         "--ensembles: no two groups of runs have the same validation cases. Train them on one split, like "
         "the cells of a sweep");
  std::vector<fs::path> folders;
  for (const RunFolder& run : runs) folders.push_back(run.path);
  std::vector<EnsembleScores> scores = score(folders, pairs);
  Ensembles result;
  for (const Planned& planned : all) add(planned, runs, groups, pairs, scores, result);
  if (result.groups.empty()) fail(Exit::usage, "--ensembles: {}", join(result.notes, "\n"));
  return result;
}

}  // namespace voxswap::pipeline
