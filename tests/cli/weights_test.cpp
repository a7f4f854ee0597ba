// Weights from a user's view: a run that starts from another's weights, averages, freezes parts, is killed
// and resumed, and one that is extended to more epochs.
#include <gtest/gtest.h>

#include <csignal>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Weights : public ProgramInAFolder {
 protected:
  void SetUp() override {
    phantoms("5", "20");
    write("experiment.yaml", R"(name: tiny
data: {root: data, modalities: [flair, t1ce]}
preprocess: {resolution: 8}
network: {base_filters: 2, depth: 2}
training: {epochs: 4, seed: 5, precision: f32}
)");
  }

  Outcome run(const std::string& out, const Words& more = {}) { return done(into(out, more)); }
  bool has_column(const std::string& out, const char* name) {
    const Csv csv = read_csv(folder_ / out / "epochs.csv");
    return std::find(csv.header.begin(), csv.header.end(), name) != csv.header.end();
  }
  std::string tensor(const std::string& out, const std::string& name) {
    const auto [header, data] = read_weights(folder_ / out / "checkpoints/last.safetensors");
    const auto [begin, end] = header[name]["data_offsets"].get<std::pair<std::size_t, std::size_t>>();
    return data.substr(begin, end - begin);
  }
  void expect_equal(const std::string& a, const std::string& b, const std::vector<std::string>& checkpoints) {
    for (const char* name : {"train_loss", "validation_loss", "learning_rate"})
      EXPECT_EQ(column(a + "/epochs.csv", name), column(b + "/epochs.csv", name)) << name;
    EXPECT_EQ(bytes(a + "/dice.csv"), bytes(b + "/dice.csv"));
    for (const std::string& name : checkpoints)
      EXPECT_TRUE(tensors(a, name) == tensors(b, name)) << a << ", " << b << ": " << name;
  }
};

TEST_F(Weights, AreAveragedBesideATrainingThatStaysTheSame) {
  run("plain");
  const Outcome averaged = run("averaged", {"training.averaging.name=ema", "training.averaging.decay=0.7"});
  EXPECT_TRUE(contains(averaged.output, "  averaged -0."));
  EXPECT_EQ(column("averaged/epochs.csv", "validation_loss"), column("plain/epochs.csv", "validation_loss"));
  EXPECT_TRUE(tensors("averaged", "best") == tensors("plain", "best"));
  EXPECT_FALSE(tensors("averaged", "best") == tensors("averaged", "averaged"));
  EXPECT_FALSE(has_column("plain", "averaged_validation_loss"));
  EXPECT_TRUE(has_column("averaged", "averaged_validation_loss"));
  EXPECT_NE(column("averaged/validation.csv", "averaged_dice"), column("averaged/validation.csv", "dice"));
  EXPECT_FALSE(fs::exists(folder_ / "plain/checkpoints/averaged.safetensors"));

  const auto predict = [&](const std::string& from, const std::string& out, const Words& more) {
    return program(
        Words{"predict", path(from), "--input", path("data"), "--out", path(out), "--probabilities"} + more);
  };
  succeeded(predict("averaged", "of_mean", {}));
  succeeded(predict("averaged", "raw", {"--raw-weights"}));
  succeeded(predict("plain", "of_plain", {}));
  const auto probabilities = [&](const std::string& out) { return files(out + "/probabilities", ".gz"); };
  EXPECT_TRUE(probabilities("raw") == probabilities("of_plain"));
  EXPECT_FALSE(probabilities("raw") == probabilities("of_mean"));
  failed(predict("plain", "never", {"--raw-weights"}), 2,
         {"--raw-weights: this run has no averaged weights"});
}

TEST_F(Weights, AndTheirMeanComeToTheSameBitsHoweverOftenARunIsKilled) {
  for (const std::string name : {"ema", "swa"}) {
    const Words averaging = {"training.averaging.name=" + name, "training.averaging.start=2",
                             "training.epochs=8"};
    run("whole_" + name, averaging);
    const std::string cut = "cut_" + name;
    EXPECT_GT(
        run_with_signals(cut, averaging + Words{"training.checkpoint_minutes=0.0001"}, {SIGKILL, SIGINT}), 0);
    expect_equal("whole_" + name, cut, {"last", "best", "averaged"});
    EXPECT_EQ(column("whole_" + name + "/epochs.csv", "averaged_validation_loss"),
              column(cut + "/epochs.csv", "averaged_validation_loss"));
  }
}

TEST_F(Weights, OfAFinishedRunGoOnAsIfItHadHadMoreEpochsFromTheBeginning) {
  const Words more = {"training.averaging.name=ema", "training.schedule.warm_up=1.5"};
  const Words six = more + Words{"training.epochs=6"};
  run("at_once", six);
  run("in_two", more);
  EXPECT_TRUE(contains(program(into("in_two", six)).output, "--resume"));  // not touched without --resume
  run("in_two", six + Words{"--resume"});
  expect_equal("at_once", "in_two", {"last", "best", "averaged"});

  const std::string poly = "training.schedule.name=poly";
  run("poly", {poly});
  const Outcome refused =
      failed(program(into("poly", {poly, "training.epochs=6", "--resume"})), 2,
             {"other values of training.epochs", "training.schedule.name: poly depends on the number",
              "network.init=" + path("poly")});
}

TEST_F(Weights, OfAnotherRunAreTakenWhereTheyFitAndStayWhereTheyAreFrozen) {
  run("first", {"training.targets=labels"});
  const Words other = {"data.modalities=[t1ce, t2, flair]", "data.regions={whole: [1, 2, 4]}",
                       "training.targets=regions", "training.freeze=[encoder.1]",
                       "network.init=" + path("first")};
  const Outcome begun = run("second", other);
  EXPECT_TRUE(contains(begun.output, "parameters are initialised from " + path("first"),
                       "encoder.0.input.conv.weight  channels t1ce, flair taken; random: t2",
                       "other shape  head.0.conv.weight  "));
  EXPECT_TRUE(contains(bytes("second/run.log"), "other shape  head.0.conv.weight"));
  const std::string frozen = "encoder.1.input.conv.weight", free = "decoder.0.up.conv.weight";
  // The second run starts from the first one's best checkpoint, which may differ from its last one.
  if (tensors("first", "best") == tensors("first", "last").substr(0, tensors("first", "best").size())) {
    EXPECT_EQ(tensor("second", frozen), tensor("first", frozen));
  }
  EXPECT_NE(tensor("second", free), tensor("first", free));

  Words gone = other;
  gone.back() = "network.init=" + path("nothing");
  refused(3, into("third", gone), "nothing: no such run or file");
}

TEST_F(Weights, ThatWereTrainedOnValidationCasesAreWarnedOf) {
  const auto fold = [&](const std::string& out, const std::string& number, const Words& more = {}) {
    return run(out, Words{"data.split.folds=5", "data.split.fold=" + number, "training.epochs=1"} + more)
        .output;
  };
  const std::string warning = "was trained on 1 of 1 validation case, so scores are too high: BraTS2021_";
  fold("first", "0");
  EXPECT_FALSE(contains(fold("same", "0", {"network.init=" + path("first")}), warning));
  EXPECT_TRUE(contains(fold("other", "1", {"network.init=" + path("first")}), warning));
  EXPECT_TRUE(contains(bytes("other/warnings.csv"), warning));
  EXPECT_TRUE(contains(bytes("other/report.html"), warning));
  EXPECT_TRUE(
      contains(fold("file", "2", {"network.init=" + path("first/checkpoints/best.safetensors")}), warning));
}

}  // namespace
}  // namespace voxswap::cli
