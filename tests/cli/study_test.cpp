// The study's experiments, each a smaller version of its *_small.yaml: from the shipped file to CSV, plot and
// report in seconds.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

struct Smaller {
  const char* experiment;
  Words overrides;
  std::size_t cells;
};

const std::vector<Smaller> all = {
    {"resolution_small", {"preprocess.resolution=8,16", "training.epochs=1", "evaluate.at=[native, 16]"}, 2},
    {"best_split_small", {"preprocess.resolution=8", "data.split.seed=1,2", "training.epochs=1"}, 2},
    {"patches_small", {"preprocess.resolution=16", "training.patch=none,8", "training.epochs=1"}, 2},
    {"overhead_small", {"preprocess.resolution=8,16", "sweep.steps=1"}, 10},
    {"link_small", {"preprocess.resolution=16", "sweep.steps=1"}, 12},
    {"concurrency_small", {"preprocess.resolution=16", "sweep.devices=1,8"}, 12},
    {"capacity_small", {"preprocess.resolution=16", "memory.budget=4MiB,32MiB"}, 10},
    {"planners_small", {"preprocess.resolution=16", "sweep.steps=1"}, 5},
};

class Study : public ProgramInAFolder, public testing::WithParamInterface<Smaller> {};

TEST_P(Study, EndsWithACsvAPlotAndASectionOfTheReport) {
  const Smaller& smaller = GetParam();
  const fs::path out = folder_ / "out";
  const fs::path file =
      fs::path(VOXSWAP_SOURCE_DIR) / "experiments" / (std::string(smaller.experiment) + ".yaml");
  phantoms("5", "16");
  Words words = {"sweep",
                 file.string(),
                 "--out",
                 out.string(),
                 "data.cache=" + cache_.string(),
                 "network.base_filters=2",
                 "network.depth=2"};
  if (contains(read_file(file), "data/phantom")) words.push_back("data.root=" + path("data"));
  done(words + smaller.overrides);

  const Csv csv = read_csv(out / "sweep.csv");
  std::set<std::string> cells;
  for (const auto& row : csv.rows) cells.insert(row[0]);
  EXPECT_EQ(cells.size(), smaller.cells);
  for (const char* picture : {"sweep.svg", "sweep.png"}) EXPECT_TRUE(fs::exists(out / picture)) << picture;
  const std::string page = read_file(out / "report.html");
  EXPECT_TRUE(contains(page, "<svg", "<h2"));
}

std::string name_of(const testing::TestParamInfo<Smaller>& info) {
  std::string name = info.param.experiment;
  std::replace(name.begin(), name.end(), '_', 'X');
  return name;
}
INSTANTIATE_TEST_SUITE_P(Small, Study, testing::ValuesIn(all), name_of);

}  // namespace
}  // namespace voxswap::cli
