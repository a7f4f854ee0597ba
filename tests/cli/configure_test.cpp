// Tests voxswap configure and voxswap run DATASET as external programs. Plans use typical costs in f32, so
// that no test depends on the processor.
#include <gtest/gtest.h>

#include <cstring>

#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Configure : public ProgramInAFolder {
 protected:
  Configure() { phantoms("4", "24,24,24"); }
  Outcome configure(const Words& more, const std::string& dataset = "data") const {
    return run_program(Words{"configure", path(dataset), "--out", path("mine.yaml"), "--estimate", "--quiet",
                             "data.cache=" + path("cache"), "training.precision=f32"} +
                           more,
                       {.log = log_, .errors = folder_ / "errors"});
  }
  // Must succeed, whatever was written before.
  Outcome configured(const Words& more, const std::string& dataset = "data") const {
    for (const char* file : {"mine.yaml", "mine_splits.json"}) fs::remove(folder_ / file);
    return succeeded(configure(more, dataset));
  }
  // Multiplies the voxel size by four along each axis, in the header of a NIfTI file.
  static void widen_voxels(const fs::path& path) {
    std::string bytes = read_file(path);
    const auto widen = [&](std::size_t offset) {
      float value = 0;
      std::memcpy(&value, &bytes[offset], sizeof value);
      value *= 4;
      std::memcpy(&bytes[offset], &value, sizeof value);
    };
    for (std::size_t axis = 0; axis < 3; ++axis) widen(80 + 4 * axis);  // pixdim
    for (std::size_t row = 0; row < 3; ++row)
      for (std::size_t column = 0; column < 3; ++column) widen(280 + 16 * row + 4 * column);  // srow_x, y, z
    write_file(path, bytes);
  }
  void damage(const std::string& id) const {
    fs::resize_file(folder_ / "data" / id / (id + "_t1.nii.gz"), 300);
  }
};

TEST_F(Configure, WritesAnExperimentThatCanBePlannedWithAReasonAboveEveryKey) {
  const Outcome outcome = configured({});
  EXPECT_TRUE(contains(outcome.output, "size along x, voxels", "flair", "oedema", "candidate", "chosen",
                       "voxswap run "));
  std::string before;
  for (const std::string& line : split(bytes("mine.yaml"), '\n')) {
    const bool has_value = contains(line, ": ") && !trim(line).starts_with("#");
    if (has_value) {
      EXPECT_TRUE(trim(before).starts_with("# ") && trim(before).size() > 2) << line;
    }
    before = line;
  }
  EXPECT_TRUE(contains(bytes("mine.yaml"), "flip: [0.5, 0, 0]", "tta: true", "spacing: ["));
  EXPECT_FALSE(contains(bytes("mine.yaml"), "resolution: "));
  done({"plan", path("mine.yaml"), "--estimate"});
}

TEST_F(Configure, ChoosesTheLargestContextAmongTheFastOnes) {
  const Outcome outcome = configured({"--json"});
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
  EXPECT_EQ(json.at("experiment").at("data.split.folds").at("value"), "4");  // at most the number of cases
}

TEST_F(Configure, WritesTheSameFileTwice) {
  configured({});
  const std::string first = bytes("mine.yaml");
  configured({});
  EXPECT_EQ(bytes("mine.yaml"), first);
}

TEST_F(Configure, NeverOverwritesAFile) {
  std::ofstream(path("mine.yaml")) << "mine";
  failed(configure({}), 2, {"is not overwritten"});
  EXPECT_EQ(bytes("mine.yaml"), "mine");
}

TEST_F(Configure, WarnsOfLabelsThatFewCasesHave) {
  const Outcome outcome = configured({"data.labels={necrosis: 1, oedema: 2, enhancing: 4, cavity: 9}"});
  EXPECT_TRUE(contains(outcome.errors, "label cavity is in 0 of 4 cases")) << outcome.errors;
  EXPECT_FALSE(contains(outcome.errors, "label oedema")) << outcome.errors;
}

TEST_F(Configure, TakesWhatTheUserHasDecided) {
  configured({"training.epochs=7", "network.base_filters=4"});
  const std::string text = bytes("mine.yaml");
  EXPECT_TRUE(contains(text, "# set on the command line\n  epochs: 7\n", "base_filters: 4\n"));
}

TEST_F(Configure, TrainsSeveralNetworksWhereTheHoursHaveRoom) {
  const Outcome outcome = configured({"--hours", "100", "network.base_filters=2"});
  const std::string text = bytes("mine.yaml");
  EXPECT_TRUE(contains(text, "epochs: 1000", "repeats: 5", "ensemble: true")) << text;
  EXPECT_TRUE(contains(outcome.output, "5 networks of 1000 epochs each, predicted ")) << outcome.output;
  configured({"--hours", "0.005", "network.base_filters=2"});
  EXPECT_FALSE(contains(bytes("mine.yaml"), "repeats")) << bytes("mine.yaml");
  configured({"--hours", "100", "network.base_filters=2", "training.epochs=7"});
  EXPECT_FALSE(contains(bytes("mine.yaml"), "repeats")) << bytes("mine.yaml");
}

TEST_F(Configure, StopsAtCasesThatCannotBeReadUnlessTheyAreLeftOut) {
  damage("BraTS2021_00002");
  failed(configure({}), 3, {"BraTS2021_00002", "--leave-out"});
  EXPECT_FALSE(fs::exists(folder_ / "mine.yaml"));
  configured({"--leave-out"});
  const Json folds = Json::parse(bytes("mine_splits.json"));
  ASSERT_EQ(folds.size(), 3u);
  EXPECT_FALSE(contains(folds.dump(), "BraTS2021_00002"));
  done({"plan", path("mine.yaml"), "--estimate"});
}

TEST_F(Configure, DoesNotAdviseToLeaveOutAllCases) {
  for (const char* id : {"BraTS2021_00000", "BraTS2021_00001", "BraTS2021_00002", "BraTS2021_00003"})
    damage(id);
  const Outcome refused =
      failed(configure({"--leave-out"}), 3, {"4 of 4 cases (BraTS2021_00000, ", "No readable case remains"});
  EXPECT_FALSE(contains(refused.errors, "leave them out")) << refused.errors;
}

TEST_F(Configure, WritesTheValuesOfLabelsWithoutNamesAndWarnsOnce) {
  phantoms("4", "24,24,24", {"--layout", "dicom"}, "series");
  const Outcome outcome = configured({}, "series");
  EXPECT_TRUE(contains(bytes("mine.yaml"), "label_1: 1", "label_2: 2", "label_4: 4")) << bytes("mine.yaml");
  const std::size_t first = outcome.errors.find("data.labels is not set");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(outcome.errors.find("data.labels is not set", first + 1), std::string::npos) << outcome.errors;
  EXPECT_FALSE(contains(done({"plan", path("mine.yaml"), "--estimate"}).output, "data.labels is not set"));
}

// Ten labels, one of which is in only one case, and cases of very different sizes.
TEST_F(Configure, RunsOnManyLabelsARareOneAndSizesThatDiffer) {
  phantoms("3", "16,16,16", {"--layout", "brats2020"}, "mixed");
  phantoms("5", "48,24,40", {"--layout", "brats2020"}, "large");
  for (const char* id : {"BraTS20_Training_004", "BraTS20_Training_005"})
    fs::rename(folder_ / "large" / id, folder_ / "mixed" / id);
  constexpr std::size_t header = 352;  // bytes in a NIfTI file, followed by one byte per voxel
  for (int number = 1; number <= 5; ++number) {
    const std::string name = format("BraTS20_Training_{:03}", number);
    const fs::path file = folder_ / "mixed" / name / (name + "_seg.nii");
    std::string voxels = read_file(file);
    for (std::size_t i = header; i < voxels.size(); ++i) voxels[i] = static_cast<char>(i % 10);
    if (number == 2) voxels[header + 5] = 10;
    write_file(file, voxels);
  }
  const Words labels = {"data.labels={a: 1, b: 2, c: 3, d: 4, e: 5, f: 6, g: 7, h: 8, i: 9, rare: 10}"};
  const Outcome outcome = configured(labels, "mixed");
  EXPECT_TRUE(contains(outcome.errors, "label rare is in 1 of 5 cases")) << outcome.errors;
  EXPECT_TRUE(contains(bytes("mine.yaml"), "rare: 10", "spacing: ["));
  done({"run", path("mine.yaml"), "--out", path("r"), "training.epochs=1", "network.base_filters=2"});
  EXPECT_TRUE(contains(bytes("r/dice.csv"), "rare"));
}

TEST_F(Configure, RunsOnBidsAndOnSlices) {
  phantoms("4", "16,16,16", {"--layout", "bids"}, "bids");
  phantoms("12", "32", {"--layout", "masks"}, "masks");
  for (const char* dataset : {"bids", "masks"}) {
    done({"run", path(dataset), "--out", path(std::string("run_") + dataset), "training.epochs=1",
          "network.base_filters=2"});
    EXPECT_TRUE(fs::exists(folder_ / (std::string("run_") + dataset) / "dice.csv")) << dataset;
  }
}

TEST_F(Configure, LeavesOutCasesWithMissingFiles) {
  fs::remove(folder_ / "data/BraTS2021_00001/BraTS2021_00001_t2.nii.gz");
  failed(configure({}), 3,
         {"BraTS2021_00001: channel t2 is missing", "--leave-out", "data.missing_modalities=true"});
  configured({"--leave-out"});
  EXPECT_FALSE(contains(bytes("mine_splits.json"), "BraTS2021_00001"));
  const Outcome run =
      done({"run", path("mine.yaml"), "--out", path("r"), "training.epochs=1", "network.base_filters=2"});
  EXPECT_TRUE(contains(run.output + run.errors, "1 case with missing files skipped"));
  configured({"data.missing_modalities=true"});
}

// A planner that swaps nothing needs memory in proportion to the volume, on any processor.
TEST_F(Configure, TakesPatchesWhereAWholeVolumeDoesNotFit) {
  phantoms("2", "48,48,48", {}, "large");
  const Words keep = {"memory.planner=keep", "network.base_filters=4"};
  const Outcome outcome = configured(keep + Words{"--json"}, "large");
  const Json candidates = Json::parse(outcome.output).at("candidates");
  const auto memory = [&](std::size_t i) { return candidates.at(i).at("memory_bytes").get<std::int64_t>(); };
  ASSERT_LT(memory(2), memory(0)) << "of the smaller patch";
  fs::remove(folder_ / "mine.yaml");
  const Outcome patches =
      configured(keep + Words{"--memory", format("{}B", (memory(0) + memory(2)) / 2)}, "large");
  EXPECT_TRUE(contains(patches.output, "does not fit"));
  EXPECT_TRUE(contains(bytes("mine.yaml"), "patch: [")) << patches.output;
}

TEST_F(Configure, SaysWhatWouldBeLeastWhereNothingFits) {
  failed(configure({"--memory", "1MiB"}), 4, {"needs at least"});
  EXPECT_FALSE(fs::exists(folder_ / "mine.yaml"));
}

TEST_F(Configure, SaysHowManyHoursAnEpochTakesWhereThereAreTooFew) {
  phantoms("4", "96,96,96", {}, "large");
  failed(configure({"--hours", "0.001", "preprocess.resolution=96"}, "large"), 4,
         {"Set --hours of at least"});
}

// Typical costs of a CPU are an assumption that is the same everywhere.
TEST_F(Configure, ChoosesACoarserGridWhereTheHoursHoldTooFewSteps) {
  phantoms("4", "96,96,96", {}, "large");
  const auto spacing = [&](const char* hours, const Words& more = {}) {
    const Json json = Json::parse(configured(Words{"--json", "--hours", hours} + more, "large").output);
    return json.at("candidates")
        .at(json.at("chosen").get<std::size_t>())
        .at("spacing")
        .get<std::vector<double>>();
  };
  const std::vector<double> fine = spacing("8"), coarse = spacing("0.3");
  EXPECT_GT(coarse[2], fine[2]);
  EXPECT_TRUE(contains(bytes("mine.yaml"), "# coarser than the median voxel size: at ["))
      << bytes("mine.yaml");
  done({"plan", path("mine.yaml"), "--estimate"});
  EXPECT_EQ(spacing("0.3", {"training.epochs=2"}), fine);  // the hours decide nothing then
}

TEST_F(Configure, BeginsOnATwiceAsCoarseGridWhereTheHoursHoldTooFewSteps) {
  phantoms("4", "96,96,96", {}, "large");
  const auto chosen = [&](const char* hours, const Words& more = {}) {
    Json json = Json::parse(configured(Words{"--json", "--hours", hours} + more, "large").output);
    const Json candidate = json.at("candidates").at(json.at("chosen").get<std::size_t>());
    json["chosen"] = candidate;
    return json;
  };
  EXPECT_FALSE(chosen("8").at("chosen").contains("growth"));
  const Json grown = chosen("0.3"), on_one_grid = chosen("0.3", {"training.growth=none"});
  const Json& growth = grown.at("chosen").at("growth");
  const auto epochs = growth.at("epochs").get<std::int64_t>();
  EXPECT_EQ(grown.at("experiment").at("training.growth").at("value").get<std::string>(),
            format("{{2: {}}}", epochs));
  // Growth takes about a third of the time, and all epochs together at most the hours.
  const double seconds = growth.at("seconds").get<double>(), all = grown.at("training_seconds").get<double>();
  EXPECT_LE(all, 0.3 * 3600);
  EXPECT_NEAR(seconds / (0.3 * 3600), 0.32, 0.05);
  EXPECT_LT(seconds / static_cast<double>(epochs), grown.at("chosen").at("epoch_seconds").get<double>());
  // Epochs on the coarser grid are short, so the grid need not be as coarse for as many steps.
  EXPECT_FALSE(on_one_grid.at("chosen").contains("growth"));
  EXPECT_LE(grown.at("chosen").at("spacing").at(0), on_one_grid.at("chosen").at("spacing").at(0));
  EXPECT_FALSE(chosen("0.3", {"network.init=weights.safetensors"}).at("chosen").contains("growth"));
}

TEST_F(Configure, SweepsTheCoarserGridBesideTheFinestOne) {
  phantoms("4", "96,96,96", {}, "large");
  configured({"--hours", "0.03", "--candidates", "2", "network.base_filters=2"}, "large");
  EXPECT_TRUE(contains(bytes("mine.yaml"), "      preprocess.spacing: [", "      preprocess.spacing: auto",
                       "      training.growth: none"))
      << bytes("mine.yaml");
}

TEST_F(Configure, KeepsTheGridWhereLabelsAreSmall) {
  const Outcome outcome = configured({"--hours", "0.001", "network.base_filters=32", "--json"});
  const Json json = Json::parse(outcome.output);
  for (const Json& one : json.at("candidates"))
    EXPECT_EQ(one.at("spacing"), json.at("candidates").at(0).at("spacing"));
}

TEST_F(Configure, SaysWhereTheHoursAllowNextToNoTraining) {
  const Outcome few = configured({"--hours", "0.001", "network.base_filters=32"});
  EXPECT_TRUE(contains(few.errors, "--hours 0.001: only ", "too few to train a network")) << few.errors;
  const Outcome decided = configured({"--hours", "0.001", "network.base_filters=32", "training.epochs=1"});
  EXPECT_FALSE(contains(decided.errors, "too few to train")) << decided.errors;
}

TEST_F(Configure, TakesNoCandidateFromOneOutlier) {
  phantoms("4", "24,24,24", {"--layout", "brats2020"}, "uneven");  // files of this layout are not compressed
  for (const auto& entry : fs::directory_iterator(folder_ / "uneven" / "BraTS20_Training_002"))
    widen_voxels(entry.path());
  const Words plain = {"preprocess.spacing=[10, 10, 10]", "preprocess.crop=none", "network.base_filters=2"};
  const Outcome outcome = configured(plain, "uneven");
  EXPECT_TRUE(contains(outcome.errors, "case 'BraTS20_Training_002' has ", "check the voxel size"))
      << outcome.errors;
  EXPECT_FALSE(contains(outcome.output, "whole volumes")) << outcome.output;
  const Outcome asked = configured(plain + Words{"training.patch=none"}, "uneven");
  EXPECT_FALSE(contains(asked.errors, "check the voxel size")) << asked.errors;
}

TEST_F(Configure, RefusesADataSetOfOneCaseAndAFolderWithoutData) {
  phantoms("1", "16,16,16", {}, "one");
  failed(configure({}, "one"), 3);
  fs::create_directories(folder_ / "empty");
  failed(configure({}, "empty"), 3);
  failed(configure({}, "nowhere"), 3);
  failed(configure({"--memory", "much"}), 2);
}

TEST_F(Configure, ChoosesAnImageNetworkForClasses) {
  phantoms("20", "32", {"--layout", "classes"}, "classes");
  configured({}, "classes");
  EXPECT_TRUE(contains(bytes("mine.yaml"), "name: resnet18"));
}

TEST_F(Configure, LeavesLongVoxelsUnhalvedAndChoosesForAnotherDevice) {
  phantoms("4", "48,48,16", {}, "thin");
  configured({"--as", "h100", "--memory", "16GiB"}, "thin");
  const std::string text = bytes("mine.yaml");
  EXPECT_TRUE(contains(text, "base_filters: 32", "strides: [1, "));
  EXPECT_TRUE(contains(text, "budget: 16GiB") || contains(text, "budget: 16384MiB")) << text;
}

TEST_F(Configure, IsDoneByRunWhereItIsGivenADataSet) {
  const Words words = {"run",     path("data"),        "--out",
                       path("r"), "training.epochs=1", "network.base_filters=2"};
  EXPECT_TRUE(contains(done(words).output, ": experiment configured for this data set: "));
  EXPECT_TRUE(fs::exists(folder_ / "r/dice.csv"));
  EXPECT_TRUE(contains(bytes("r/experiment.yaml"), "base_filters: 2"));
  refused(2, words);  // the run exists
  done(words + Words{"--resume"});
  fs::remove_all(folder_ / "r");
  done(words + Words{"--hours", "0.5"});
  refused(2, {"run", path("r/experiment.yaml"), "--resume", "--hours", "2"});
}

// Another choice would be a different run.
TEST_F(Configure, IsNotDoneAgainWhereARunIsResumedThatTrainedOnACoarserGrid) {
  const Words words = {"run", path("data"), "--out", path("r"), "network.base_filters=2"};
  done(words + Words{"training.epochs=2", "training.growth={2: 1}"});
  const std::string weights = tensors("r", "best");
  for (const auto& entry : fs::directory_iterator(folder_ / "r"))  // as if it had been killed while it grew
    if (entry.path().filename() != "growth") fs::remove_all(entry.path());
  EXPECT_FALSE(contains(done(words + Words{"--resume", "--hours", "7"}).output, "configured"));
  EXPECT_EQ(tensors("r", "best"), weights);
}

TEST_F(Configure, NamesTheRunAfterTheFolderHoweverItIsWritten) {
  for (const char* data : {"data", "data/", "data//.", "data/../data"})
    EXPECT_TRUE(contains(done({"run", path(data), "--dry-run", "training.epochs=1"}).output,
                         "runs/data/experiment.yaml"));
  refused(2, {"run", path("dta")}, "no such experiment file (did you mean '" + path("data") + "'?)");
}

TEST_F(Configure, CountsTheTimeOfGrowthThatTheUserHasSet) {
  const auto epochs = [&](const std::string& growth) {
    const Json chosen = parse_json(configured({"--json", "--estimate", "--hours", "0.01", growth}).output);
    return std::stoll(chosen["experiment"]["training.epochs"]["value"].get<std::string>());
  };
  EXPECT_LT(epochs("training.growth={2: 300}"), epochs("training.growth=none"));
  refused(4, {"configure", path("data"), "--out", path("none.yaml"), "--estimate", "--hours", "0.01",
              "training.growth={2: 1000000}"});
}

TEST_F(Configure, WritesASweepOverTheBestCandidates) {
  const Outcome outcome = configured({"--candidates", "2"});
  EXPECT_TRUE(contains(outcome.output, "voxswap sweep ", "swept"));
  EXPECT_TRUE(contains(bytes("mine.yaml"), "sweep:\n  settings:\n", "training.patch: "));
  const Outcome planned = done({"sweep", path("mine.yaml"), "--out", path("s"), "--dry-run"});
  EXPECT_TRUE(contains(planned.output, "2 cells"));
}

// The candidates have different depths and strides.
TEST_F(Configure, WritesASweepWithEnsemblesAsCandidates) {
  phantoms("4", "40,40,40", {}, "large");
  const Outcome outcome = configured({"--candidates", "3", "network.base_filters=2", "training.epochs=1",
                                      "data.split.folds=2", "output.dir=" + path("s")},
                                     "large");
  EXPECT_TRUE(contains(outcome.output, "voxswap sweep " + path("mine.yaml") + " --dry-run",
                       "voxswap report " + path("s") + " --ensembles"));
  EXPECT_TRUE(contains(bytes("mine.yaml"), "network.depth: 4", "network.depth: 3", "network.strides: auto"))
      << bytes("mine.yaml");
  done({"sweep", path("mine.yaml"), "--quiet"});
  const Outcome report = done({"report", path("s"), "--ensembles"});
  EXPECT_TRUE(contains(report.output, "Best: ", "Predict with it: voxswap predict " + path("s")));
  EXPECT_EQ(read_csv(folder_ / "s/ensembles.csv").rows.size(), 3u * 2 * 3);  // pairs, cases, regions
}

TEST_F(Configure, LeavesTheSplitToTheFileThatIsGiven) {
  write_file(folder_ / "split.csv", "case,part\nBraTS2021_00000,training\nBraTS2021_00001,validation\n");
  configured({"data.split.file=" + path("split.csv")});
  EXPECT_FALSE(contains(bytes("mine.yaml"), "folds: "));
}

TEST_F(Configure, WritesAPageWithTablesAndHistograms) {
  configured({"--page", path("page.html")});
  EXPECT_TRUE(contains(bytes("page.html"), "Fingerprint of data", "<svg", "Candidates", "flair", "chosen"));
  fs::remove(folder_ / "mine.yaml");
  failed(configure({"--page", path("page.html")}), 2);  // never overwritten
}

}  // namespace
}  // namespace voxswap::cli
