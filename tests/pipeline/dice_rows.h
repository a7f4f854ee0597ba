// Rows of dice.csv, for tests of tables and reports.
#pragma once

#include <string>

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

}  // namespace voxswap::pipeline
