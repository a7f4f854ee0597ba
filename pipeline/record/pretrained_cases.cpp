#include "pipeline/record/pretrained_cases.h"

#include <map>
#include <set>

#include "base/error.h"
#include "base/keys.h"
#include "base/log.h"

namespace voxswap::pipeline {

namespace {

// Names and contents of the cases in one part of a split (case,part).
CaseContents cases_in(const std::string& part, const Csv& split, const CaseContents& cases) {
  const std::map<std::string, std::string> contents(cases.begin(), cases.end());
  CaseContents found;
  for (const auto& row : split.rows)
    if (row[1] == part) found.emplace_back(row[0], contents.at(row[0]));
  return found;
}

// Contents of the training cases of a run.
std::set<std::string> training_contents(const fs::path& run) {
  const RunIdentity identity = read_identity(run);
  check_split(identity, run / "split.csv");
  std::set<std::string> contents;
  for (const auto& [id, content] : cases_in("training", read_csv(run / "split.csv"), identity.cases))
    contents.insert(content);
  return contents;
}

}  // namespace

std::vector<std::string> pretrained_cases(const fs::path& run_or_file, const CaseContents& cases,
                                          const Csv& split) {
  if (run_or_file.empty()) return {};
  fs::path run = fs::absolute(run_or_file);  // a file is in its folder checkpoints/ or checkpoints/repeat_N/
  for (int above = 0; above < 3 && !has_identity(run); ++above) run = run.parent_path();
  if (!has_identity(run)) return {};
  std::vector<std::string> both;
  try {
    const std::set<std::string> trained = training_contents(run);
    for (const auto& [id, content] : cases_in("validation", split, cases))
      if (trained.contains(content)) both.push_back(id);
  } catch (const Error& error) {
    log::warn("{}: it is unknown on which cases these weights were trained: {}", key::network_init,
              error.what());
  }
  return both;
}

}  // namespace voxswap::pipeline
