// Rows of dice.csv, for tests of tables and reports.
#pragma once

#include <string>
#include <vector>

#include "pipeline/report/run_groups.h"
#include "pipeline/report/tables.h"

namespace voxswap::pipeline {

inline DiceRow score(const std::string& run, const std::string& resolution, const std::string& id,
                     double dice, const std::string& region = "whole", std::int64_t repeat = 1) {
  DiceRow row;
  row.run = run;
  row.resolution = resolution;
  row.evaluated_at = "native";
  row.case_id = id;
  row.region = region;
  row.repeat = repeat;
  row.dice = dice;
  return row;
}

// Groups of one run each, run_LOSS.
inline std::vector<RunGroup> groups_by_loss(const std::vector<std::string>& losses) {
  std::vector<RunInTable> runs;
  for (const std::string& loss : losses)
    runs.push_back(
        {"run_" + loss, "64", {{"training.loss", loss}, {"training.epochs", "epochs of " + loss}}});
  return group_runs(runs);
}

}  // namespace voxswap::pipeline
