// Sweeps in files and on command lines: combinations, names, precedence, and errors.
#include "experiments/sweep.h"

#include <functional>
#include <set>

#include "base/file.h"
#include "experiments/sweep_draft.h"
#include "pipeline/report/tables.h"
#include "tests/experiments/support.h"

namespace voxswap::experiments {
namespace {

using Words = std::vector<std::string>;

class Sweeps : public Experiments {
 protected:
  Sweep load(const std::string& yaml, const Words& arguments = {}) const {
    return load_sweep(write(yaml), arguments, "out");
  }
  void read(const std::string& yaml, const Words& arguments) const override { load(yaml, arguments); }
};

Words names(const Sweep& sweep) {
  Words result;
  for (const SweepCell& cell : sweep.cells) result.push_back(cell.name);
  return result;
}

TEST_F(Sweeps, HaveACellForEveryCombinationTheLastKeyFastest) {
  const Sweep sweep = load("sweep: {preprocess.resolution: [112, 144], training.seed: [1, 2, 3]}\n");
  EXPECT_EQ(names(sweep), (Words{"resolution-112_seed-1", "resolution-112_seed-2", "resolution-112_seed-3",
                                 "resolution-144_seed-1", "resolution-144_seed-2", "resolution-144_seed-3"}));
  EXPECT_EQ(sweep.columns, (Words{"resolution", "seed"}));
  const pipeline::Experiment& last = sweep.cells[5].experiment;
  EXPECT_EQ(pipeline::resolution_text(last.preprocess.resolution), "144");
  EXPECT_EQ(last.training.seed, 3u);
  EXPECT_EQ(last.name, "resolution-144_seed-3");
  EXPECT_EQ(last.output, fs::path("out") / "resolution-144_seed-3");
  EXPECT_EQ(sweep.cells[5].values, (Words{"144", "3"}));
}

TEST_F(Sweeps, TakeListsAndMapsAsValuesOnTheLine) {
  const Sweep sweep = load("", {"preprocess.resolution=[32, 48, 32],[16,32,16],48", "training.epochs=3"});
  EXPECT_EQ(names(sweep), (Words{"resolution-32x48x32", "resolution-16x32x16", "resolution-48"}));
  EXPECT_EQ(sweep.cells[1].experiment.preprocess.resolution, (Size3{16, 32, 16}));
  EXPECT_EQ(sweep.cells[2].experiment.training.epochs, 3);
  const Sweep links = load("", {"memory.link=measured,{to_host: 12GB/s, to_device: 8GB/s}"});
  EXPECT_EQ(names(links), (Words{"link-measured", "link-12GBs_8GBs"}));
  EXPECT_EQ(links.cells[1].experiment.memory.to_device_rate, 8e9);
}

TEST(SplitValues, CutsAtCommasOutsideBracketsAndQuotes) {
  EXPECT_EQ(split_values("[40,56,40],[20,28,20]"), (Words{"[40,56,40]", "[20,28,20]"}));
  EXPECT_EQ(split_values("{a: [1,2], b: 3}, none"), (Words{"{a: [1,2], b: 3}", "none"}));
  EXPECT_EQ(split_values("'a,b',c"), (Words{"a,b", "c"}));
  EXPECT_EQ(split_values("112"), Words{"112"});
}

TEST_F(Sweeps, NameLabelledValuesByTheirLabelsAndTakeWholeSections) {
  const Sweep sweep = load(
      "sweep:\n"
      "  memory.link:\n"
      "    pcie3: {to_host: 12GB/s, to_device: 12GB/s}\n"
      "    nvlink2: {to_host: 64GB/s, to_device: 64GB/s}\n"
      "  training:\n"
      "    whole: {patch: none, epochs: 4}\n"
      "    patch32: {patch: 32, epochs: 9}\n");
  EXPECT_EQ(names(sweep), (Words{"link-pcie3_training-whole", "link-pcie3_training-patch32",
                                 "link-nvlink2_training-whole", "link-nvlink2_training-patch32"}));
  EXPECT_EQ(sweep.cells[2].experiment.memory.to_host_rate, 64e9);
  EXPECT_EQ(sweep.cells[1].experiment.training.epochs, 9);
  EXPECT_TRUE(sweep.cells[1].experiment.training.patch);
  EXPECT_FALSE(sweep.cells[0].experiment.training.patch);
}

TEST_F(Sweeps, ChangeKeysOfSeveralSectionsTogether) {
  const Sweep sweep = load(
      "sweep:\n  settings:\n    small: {network.depth: 3, training: {batch_size: 2}}\n"
      "    large: {network.depth: 4}\n");
  EXPECT_EQ(names(sweep), (Words{"settings-small", "settings-large"}));
  EXPECT_EQ(sweep.cells[0].experiment.network.depth, 3);
  EXPECT_EQ(sweep.cells[0].experiment.training.batch_size, 2);
  EXPECT_EQ(sweep.cells[1].experiment.network.depth, 4);
  EXPECT_FALSE(sweep.draws_splits);
  EXPECT_TRUE(load("sweep: {settings: {a: {data.split.seed: 2}, b: {data.split.seed: 3}}}\n").draws_splits);
}

TEST_F(Sweeps, AreOverriddenByTheLineWhichKeepsTheirColumns) {
  const std::string yaml =
      "training: {epochs: 5}\nsweep: {preprocess.resolution: [112, 144], training.repeats: 4}\n";
  const Sweep file = load(yaml);
  EXPECT_EQ(names(file), (Words{"resolution-112", "resolution-144"}));  // a single value is shared by all
                                                                        // cells
  EXPECT_EQ(file.cells[0].experiment.training.repeats, 4);
  const Sweep line = load(yaml, {"preprocess.resolution=96", "training.epochs=7", "training.repeats=2"});
  EXPECT_EQ(names(line), Words{"resolution-96"});
  EXPECT_EQ(line.cells[0].experiment.training.epochs, 7);
  EXPECT_EQ(line.cells[0].experiment.training.repeats, 2);
}

TEST_F(Sweeps, TellColumnsAndCellsOfOneNameApart) {
  const Sweep sweep = load("", {"network.name=isensee2017,unet3d", "training.schedule.name=plateau,cosine"});
  EXPECT_EQ(sweep.columns, (Words{"network.name", "schedule.name"}));
  const Sweep roots = load("", {"data.root=/a/set,/b/set"});
  EXPECT_EQ(names(roots), (Words{"root-set", "root-set_2"}));
  EXPECT_TRUE(roots.draws_splits);
}

TEST_F(Sweeps, HaveNoCellTwice) {
  for (const Words& line : {Words{"training.seed=1,2,1"}, Words{"preprocess.resolution=112,[112,112,112]"},
                            Words{"sweep.command=plan", "as=v100,v100"}}) {
    SCOPED_TRACE(line.back());
    test::expect_failure([&] { load("", line); }, Exit::usage, {"are the same experiment"});
  }
  EXPECT_EQ(load("", {"sweep.command=plan", "as=v100,a100"}).cells.size(), 2u);
}

// Repeats train with the seeds seed, seed+1, …
TEST_F(Sweeps, TrainNoSeedTwice) {
  for (const Words& line : {Words{"training.seed=1,2", "training.repeats=2"},
                            Words{"training.seed=3,1", "training.repeats=3"}, Words{"training.repeats=1,2"}})
    test::expect_failure([&] { load("", line); }, Exit::usage, {"both train with seed", "training.repeats"});
  EXPECT_EQ(load("", {"training.seed=1,3", "training.repeats=2"}).cells.size(), 2u);
  EXPECT_EQ(load("", {"training.repeats=1,2", "sweep.command=plan"}).cells.size(), 2u);
}

TEST_F(Sweeps, ShareOneSplitUnlessTheyAreAboutTheData) {
  const Sweep one = load("", {"training.seed=1,2"});
  EXPECT_FALSE(one.draws_splits);
  for (const SweepCell& cell : one.cells) EXPECT_EQ(cell.experiment.split.file, split_file(one));
  const Sweep several = load("", {"data.split.seed=1,2"});
  EXPECT_TRUE(several.draws_splits);
  EXPECT_TRUE(several.cells[1].experiment.split.file.empty());
}

TEST_F(Sweeps, AskPlanAndBenchWhatTheyTakeBesideKeys) {
  const Sweep plans = load("sweep: {command: plan, as: v100, devices: [1, 2, 8], devices_per_link: 2}\n");
  EXPECT_EQ(names(plans), (Words{"devices-1", "devices-2", "devices-8"}));
  EXPECT_EQ(plans.cells[2].question.devices, 8);
  EXPECT_EQ(plans.cells[2].question.devices_per_link, 2);
  EXPECT_EQ(plans.cells[2].question.as, "v100");
  const Sweep benches = load("sweep: {command: bench, memory.planner: [keep, hybrid]}\n", {"sweep.steps=3"});
  EXPECT_EQ(benches.cells[1].question.steps, 3);
}

TEST_F(Sweeps, ReadWhatIsToBeMadeOfTheResults) {
  const Sweep sweep = load(
      "sweep:\n  title: Links\n  training.seed: [1, 2]\n  plot: {x: link, y: overhead, by: seed}\n"
      "  published: [{link: pcie3, seconds: 1467}, {link: nvlink2, percent: 73.5}]\n");
  EXPECT_EQ(sweep.title, "Links");
  EXPECT_EQ(sweep.plot.by, Words{"seed"});
  EXPECT_EQ(csv_text(sweep.published), "link,seconds,percent\npcie3,1467,\nnvlink2,,73.5\n");
}

TEST_F(Sweeps, CanStopCellsEarly) {
  const std::string base = "training: {epochs: 40}\n";
  const Sweep sweep =
      load(base + "sweep: {stop: halving, training.seed: [1, 2], network.depth: [2, 3, 4, 5]}\n");
  ASSERT_EQ(sweep.rungs.size(), 2u);
  EXPECT_EQ(sweep.rungs[0].divisor, 4);
  EXPECT_EQ(sweep.rungs[0].settings, 4u);
  std::vector<std::size_t> settings;  // seeds are repeats of a setting
  for (const SweepCell& cell : sweep.cells) settings.push_back(cell.setting);
  EXPECT_EQ(settings, (std::vector<std::size_t>{0, 1, 2, 3, 0, 1, 2, 3}));
  const std::string depths = "network.depth=2,3,4,5";
  EXPECT_EQ(load(base, {depths, "sweep.stop=halving", "eta=4"}).rungs.size(), 1u);
  EXPECT_EQ(load(base, {depths, "stop=halving", "sweep.first_rung=0.5"}).rungs.size(), 1u);
  EXPECT_TRUE(load(base, {depths, "sweep.stop=none"}).rungs.empty());
  EXPECT_TRUE(load(base, {depths}).rungs.empty());
  const Sweep folds = load(
      "data: {split: {folds: 5}}\nsweep: {data.split.fold: [0, 1], training.loss: "
      "[weighted_dice, dice_cross_entropy], stop: halving}\n");
  EXPECT_EQ(folds.cells[0].setting, folds.cells[2].setting);
  EXPECT_NE(folds.cells[0].setting, folds.cells[1].setting);
  // Cells of different lengths: each has room for its rungs.
  EXPECT_EQ(load("", {"training.epochs=2,40,80,100", "stop=halving"}).rungs.size(), 1u);
}

TEST_F(Sweeps, AreRefusedIfNoCellCanBeStopped) {
  expect_refused("", {"training.seed=1,2", "stop=halving"}, "halving needs several settings",
                 "all cells are repeats or folds of one");
  expect_refused("", {"network.depth=2,3", "training.epochs=1", "stop=halving"}, "training.epochs is 1");
  expect_refused("", {"network.depth=2,3", "eta=3", "first_rung=0.4", "stop=halving"},
                 "sweep.first_rung is 0.4");
  expect_refused("", {"network.depth=2,3", "eta=3"}, "sweep.eta: is only for sweep.stop: halving");
  expect_refused("", {"network.depth=2,3", "stop=none", "first_rung=0.2"}, "sweep.first_rung: is only for");
  expect_refused("", {"network.depth=2,3", "command=plan", "stop=halving"}, "is only for sweep.command run");
  expect_refused("", {"network.depth=2,3", "stop=halving", "eta=1"}, "sweep.eta: expected a whole number");
  expect_refused("", {"network.depth=2,3", "stop=half"}, "one of none, halving");
  expect_refused("sweep: {stpo: halving, network.depth: [2, 3]}\n",
                 "unknown key 'sweep.stpo'. Did you mean 'sweep.stop'?");
  expect_refused("sweep: {first_rugn: 0.2, network.depth: [2, 3]}\n", "Did you mean 'sweep.first_rung'?");
}

TEST_F(Sweeps, AreRefusedWithPlaceAndRemedy) {
  expect_refused("name: a\n", "nothing to sweep over");
  expect_refused("sweep:\n  preprocess.resolutoin: [1, 2]\n",
                 "study.yaml:2: unknown key 'preprocess.resolutoin'. Did you mean 'preprocess.resolution'?");
  expect_refused("", {"training.epochs=2,many"}, "training.epochs: expected a whole number",
                 "in the cell epochs-many");
  expect_refused("", {"preprocess.resolution=48,50"}, "Use 48 or 64");
  expect_refused("", {"name=a,b"}, "each cell has a name");
  expect_refused("sweep: {training.seed: []}\n", "at least one value");
  expect_refused("sweep: {command: run, as: v100, training.seed: [1, 2]}\n",
                 "sweep.as: is only for sweep.command plan");
  expect_refused("sweep: {command: walk, training.seed: [1, 2]}\n", "one of run, plan, bench");
  expect_refused("sweep: [1, 2]\n", "sweep: expected a map");
}

// The shipped experiments: each is valid for its command and begins with a description.
TEST(ShippedExperiments, CanBeLoadedAndBeginBySayingWhatTheyAre) {
  std::set<std::string> runs, sweeps;
  for (const auto& entry : fs::directory_iterator(fs::path(VOXSWAP_SOURCE_DIR) / "experiments")) {
    if (entry.path().extension() != ".yaml") continue;
    const std::string name = entry.path().stem().string();
    EXPECT_EQ(read_file(entry.path()).substr(0, 2), "# ") << name;
    try {
      if (load_settings(entry.path()).count("sweep")) {
        EXPECT_FALSE(load_sweep(entry.path(), {}).cells.empty());
        sweeps.insert(name);
      } else {
        load_experiment(entry.path(), {});
        runs.insert(name);
      }
    } catch (const Error& error) {
      ADD_FAILURE() << name << ": " << error.what();
    }
  }
  EXPECT_GE(runs.size(), 3u);
  // The experiments of the study, at full scale and small.
  for (const char* name :
       {"resolution", "best_split", "overhead", "link", "concurrency", "patches", "capacity", "planners"}) {
    EXPECT_TRUE(sweeps.contains(name)) << name;
    EXPECT_TRUE(sweeps.contains(std::string(name) + "_small")) << name;
  }
}

}  // namespace
}  // namespace voxswap::experiments
