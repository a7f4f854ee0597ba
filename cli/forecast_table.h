// What a run would take, as a table for a person.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "pipeline/run.h"

namespace voxswap {

// Two columns, both aligned to the left: values here are sentences more often than numbers.
std::string two_columns(const std::vector<std::pair<std::string, std::string>>& rows);

std::string forecast_table(const RunOptions& options, const Forecast& forecast);

}  // namespace voxswap
