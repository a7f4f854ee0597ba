// What a run would take, as a table for a person.
#pragma once

#include <string>

#include "pipeline/run.h"

namespace voxswap {

std::string forecast_table(const RunOptions& options, const Forecast& forecast);

}  // namespace voxswap
