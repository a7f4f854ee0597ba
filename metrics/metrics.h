// The metrics by name: what `evaluate.metrics` of an experiment may list, and the columns of dice.csv.
//
// A new metric is a file in this folder and a line in the table of metrics.cpp.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "metrics/overlap.h"

namespace voxswap {

// All that a metric may look at for one region of one case.
struct MetricInput {
  Overlap overlap;
  std::int64_t voxels = 0;  // of the grid that was scored
  EmptyRule empty = EmptyRule::brats;
};

struct Metric {
  const char* name;
  double (*score)(const MetricInput& input);
};

const std::vector<Metric>& metrics();           // in the order of dice.csv's columns
const Metric& metric(const std::string& name);  // throws Exit::usage naming the nearest known name
std::vector<std::string> metric_names();        // for help texts and error messages

}  // namespace voxswap
