// voxswap configure and voxswap run DATASET, from the outside. Plans are made from typical costs, so that no
// test depends on the processor's speed.
#include <gtest/gtest.h>

#include <fstream>

#include "base/file.h"
#include "base/json.h"
#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Configure : public ProgramInAFolder {
 protected:
  Configure() { phantoms("data", "4", "24,24,24"); }

  void phantoms(const std::string& name, const std::string& cases, const std::string& size) const {
    const Outcome made =
        program({"phantom", "--out", path(name), "--cases", cases, "--size", size, "--seed", "1", "--quiet"});
    ASSERT_EQ(made.code, 0) << made.output;
  }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  Outcome configure(const Words& more, const std::string& dataset = "data") const {
    Words words = {"configure", path(dataset), "--out", path("mine.yaml"), "--estimate", "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return run_program(words, {.log = log_, .errors = folder_ / "errors"});
  }
  void damage(const std::string& id) const {
    fs::resize_file(folder_ / "data" / id / (id + "_t1.nii.gz"), 300);
  }
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

TEST_F(Configure, WritesAnExperimentThatCanBePlannedWithAReasonAboveEveryKey) {
  const Outcome outcome = configure({});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  for (const char* part : {"size along x, voxels", "flair", "oedema", "candidate", "chosen", "voxswap run "})
    EXPECT_TRUE(contains(outcome.output, part)) << part << " in " << outcome.output;
  std::string before;
  for (const std::string& line : split(read_file(folder_ / "mine.yaml"), '\n')) {
    const bool has_value = contains(line, ": ") && !trim(line).starts_with("#");
    if (has_value) {
      EXPECT_TRUE(trim(before).starts_with("# ") && trim(before).size() > 2) << line;
    }
    before = line;
  }
  const Outcome planned = program({"plan", path("mine.yaml"), "--estimate"});
  EXPECT_EQ(planned.code, 0) << planned.output;
}

TEST_F(Configure, ChoosesTheLargestContextAmongTheFastOnes) {
  const Outcome outcome = configure({"--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const Json json = Json::parse(outcome.output);
  const auto time = [](const Json& one) { return one.at("seconds_per_megavoxel").get<double>(); };
  const auto voxels = [](const Json& one) {
    return one.at("size").at(0).get<int>() * one.at("size").at(1).get<int>() *
           one.at("size").at(2).get<int>();
  };
  const Json& candidates = json.at("candidates");
  const Json& chosen = candidates.at(json.at("chosen").get<std::size_t>());
  ASSERT_GE(candidates.size(), 4u);
  double fastest = time(chosen);
  for (const Json& one : candidates) fastest = std::min(fastest, time(one));
  EXPECT_LE(time(chosen), 1.25 * fastest);
  for (const Json& one : candidates)
    EXPECT_TRUE(voxels(one) <= voxels(chosen) || time(one) > 1.25 * fastest) << one;
  EXPECT_EQ(json.at("fingerprint").size(), 4u);
  EXPECT_EQ(json.at("fingerprint").at(0).at("size").at(0), 24);
  EXPECT_EQ(json.at("experiment").at("data.split.folds").at("value"), "4");  // no more than cases
}

TEST_F(Configure, WritesTheSameFileTwice) {
  ASSERT_EQ(configure({}).code, 0);
  const std::string first = read_file(folder_ / "mine.yaml");
  fs::remove(folder_ / "mine.yaml");
  ASSERT_EQ(configure({}).code, 0);
  EXPECT_EQ(read_file(folder_ / "mine.yaml"), first);
}

TEST_F(Configure, NeverOverwritesAFile) {
  std::ofstream(path("mine.yaml")) << "mine";
  const Outcome outcome = configure({});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_TRUE(contains(outcome.errors, "is not overwritten")) << outcome.errors;
  EXPECT_EQ(read_file(folder_ / "mine.yaml"), "mine");
}

TEST_F(Configure, TakesWhatTheUserHasDecided) {
  ASSERT_EQ(configure({"training.epochs=7", "network.base_filters=4"}).code, 0);
  const std::string text = read_file(folder_ / "mine.yaml");
  EXPECT_TRUE(contains(text, "# as given on the command line\n  epochs: 7\n")) << text;
  EXPECT_TRUE(contains(text, "base_filters: 4\n")) << text;
}

TEST_F(Configure, StopsAtCasesThatCannotBeReadUnlessTheyAreLeftOut) {
  damage("BraTS2021_00002");
  const Outcome refused = configure({});
  EXPECT_EQ(refused.code, 3);
  EXPECT_TRUE(contains(refused.errors, "BraTS2021_00002") && contains(refused.errors, "--leave-out"))
      << refused.errors;
  EXPECT_FALSE(fs::exists(folder_ / "mine.yaml"));
  const Outcome outcome = configure({"--leave-out"});
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const Json folds = Json::parse(read_file(folder_ / "mine_splits.json"));
  ASSERT_EQ(folds.size(), 3u);
  EXPECT_FALSE(contains(folds.dump(), "BraTS2021_00002"));
  EXPECT_EQ(program({"plan", path("mine.yaml"), "--estimate"}).code, 0);
}

TEST_F(Configure, SaysThatMissingFilesCannotBeLeftOut) {
  fs::remove(folder_ / "data/BraTS2021_00001/BraTS2021_00001_t2.nii.gz");
  const Outcome refused = configure({"--leave-out"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_TRUE(contains(refused.errors, "data.missing_modalities=true")) << refused.errors;
  EXPECT_EQ(configure({"data.missing_modalities=true"}).code, 0);
}

// A planner that swaps nothing needs as much as the volume is large, whatever the processor.
TEST_F(Configure, TakesPatchesWhereAWholeVolumeDoesNotFit) {
  phantoms("large", "2", "48,48,48");
  const Words keep = {"memory.planner=keep", "network.base_filters=4"};
  Words words = keep;
  words.emplace_back("--json");
  const Outcome outcome = configure(words, "large");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const Json candidates = Json::parse(outcome.output).at("candidates");
  const auto memory = [&](std::size_t i) { return candidates.at(i).at("memory_bytes").get<std::int64_t>(); };
  ASSERT_LT(memory(2), memory(0)) << "of the smaller patch";
  fs::remove(folder_ / "mine.yaml");
  words = keep;
  words.insert(words.end(), {"--memory", format("{}B", (memory(0) + memory(2)) / 2)});
  const Outcome patches = configure(words, "large");
  ASSERT_EQ(patches.code, 0) << patches.errors;
  EXPECT_TRUE(contains(patches.output, "does not fit")) << patches.output;
  EXPECT_TRUE(contains(read_file(folder_ / "mine.yaml"), "patch: [")) << patches.output;
}

TEST_F(Configure, SaysWhatWouldBeLeastWhereNothingFits) {
  const Outcome refused = configure({"--memory", "1MiB"});
  EXPECT_EQ(refused.code, 4);
  EXPECT_TRUE(contains(refused.errors, "needs at least")) << refused.errors;
  EXPECT_FALSE(fs::exists(folder_ / "mine.yaml"));
}

TEST_F(Configure, SaysHowManyHoursAnEpochTakesWhereThereAreTooFew) {
  phantoms("large", "4", "96,96,96");
  const Outcome refused = configure({"--hours", "0.001"}, "large");
  EXPECT_EQ(refused.code, 4);
  EXPECT_TRUE(contains(refused.errors, "Set --hours of at least")) << refused.errors;
}

TEST_F(Configure, RefusesADataSetOfOneCaseAndAFolderWithoutData) {
  phantoms("one", "1", "16,16,16");
  EXPECT_EQ(configure({}, "one").code, 3);
  fs::create_directories(folder_ / "empty");
  EXPECT_EQ(configure({}, "empty").code, 3);
  EXPECT_EQ(configure({}, "nowhere").code, 3);
  EXPECT_EQ(configure({"--memory", "much"}).code, 2);
}

TEST_F(Configure, ChoosesAnImageNetworkForClasses) {
  const Outcome made = program({"phantom", "--out", path("classes"), "--cases", "20", "--size", "32",
                                "--seed", "1", "--layout", "classes", "--quiet"});
  ASSERT_EQ(made.code, 0) << made.output;
  ASSERT_EQ(configure({}, "classes").code, 0);
  EXPECT_TRUE(contains(read_file(folder_ / "mine.yaml"), "name: resnet18"));
}

TEST_F(Configure, LeavesLongVoxelsUnhalvedAndChoosesForAnotherDevice) {
  phantoms("thin", "4", "48,48,16");
  const Outcome outcome = configure({"--as", "h100", "--memory", "16GiB"}, "thin");
  ASSERT_EQ(outcome.code, 0) << outcome.errors;
  const std::string text = read_file(folder_ / "mine.yaml");
  EXPECT_TRUE(contains(text, "base_filters: 32")) << text;
  EXPECT_TRUE(contains(text, "strides: [1, ")) << text;
  EXPECT_TRUE(contains(text, "budget: 16GiB") || contains(text, "budget: 16384MiB")) << text;
}

TEST_F(Configure, IsDoneByRunWhereItIsGivenADataSet) {
  const Words words = {"run",     path("data"),        "--out",
                       path("r"), "training.epochs=1", "network.base_filters=2"};
  const Outcome outcome = program(words);
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(contains(outcome.output, "is a data set, configured: ")) << outcome.output;
  EXPECT_TRUE(fs::exists(folder_ / "r/dice.csv"));
  EXPECT_TRUE(contains(read_file(folder_ / "r/experiment.yaml"), "base_filters: 2"));
  EXPECT_EQ(program(words).code, 2);  // the run is there
  Words again = words;
  again.emplace_back("--resume");
  const Outcome resumed = program(again);
  EXPECT_EQ(resumed.code, 0) << resumed.output;
}

}  // namespace
}  // namespace voxswap::cli
