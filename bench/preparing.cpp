// Speed of preprocessing a data set: every case is read, cropped, resized to a cube of SIDE voxels, or
// resampled where SIDE is a voxel size such as 1.25mm, and stored in an empty cache folder. Prints seconds,
// peak resident memory of this process and each case's statistics, as one line of JSON. compare_preparing.py
// runs it beside SimpleITK, compare_resampling.py beside nnU-Net and MONAI.
//
//   preparing DATASET SIDE CACHE
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/error.h"
#include "bench/peak_memory.h"
#include "data/layouts/open_dataset.h"
#include "pipeline/cases/cases.h"

namespace voxswap {
namespace {

void measure(const char* root, const std::string& side, const char* cache) {
  pipeline::Experiment experiment;
  experiment.data.root = root;
  if (side.ends_with("mm"))
    experiment.preprocess.spacing.fill(std::stod(side));
  else
    experiment.preprocess.resolution.fill(std::stoll(side));
  // Otherwise whole volumes would have to fit into the resolution.
  if (experiment.preprocess.by_spacing()) experiment.training.patch = Size3{16, 16, 16};
  experiment.cache = cache;
  const auto begin = std::chrono::steady_clock::now();
  pipeline::Cases cases(experiment, data::open_dataset(experiment.data));
  std::vector<std::size_t> all(cases.dataset().cases.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  cases.prepare_all(all, {});
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  nlohmann::json result = {{"cases", all.size()}, {"seconds", seconds.count()}};
  result["peak_bytes"] = bench::peak_resident_bytes();
  for (const std::size_t i : all) {
    const auto prepared = cases.prepared(i);
    result["statistics"][prepared->id] = {prepared->statistics.mean, prepared->statistics.deviation};
  }
  std::printf("%s\n", result.dump().c_str());
}

}  // namespace
}  // namespace voxswap

int main(int count, char** words) {
  if (count != 4) {
    std::fprintf(stderr, "usage: preparing DATASET SIDE CACHE\n");
    return 2;
  }
  try {
    voxswap::measure(words[1], words[2], words[3]);
    return 0;
  } catch (const voxswap::Error& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return static_cast<int>(error.exit());
  }
}
