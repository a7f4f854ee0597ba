// Tables for scripts: a CSV file of a run as JSON.
#pragma once

#include "base/csv.h"
#include "base/json.h"

namespace voxswap::cli {

// A list of rows, each with its columns by name. Numbers become numbers and `nan` null; names of runs, cases,
// regions, grids and resolutions stay text, whatever they look like.
Json table_json(const Csv& csv);

}  // namespace voxswap::cli
