// Weights as a user has them: a run that begins with another's, one that averages, leaves parts as they are,
// is killed and goes on, and one that goes on for more epochs than it was asked for at first.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <thread>

#include "base/csv.h"
#include "base/file.h"
#include "base/json.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

using testing::HasSubstr;

class Weights : public ProgramInAFolder {
 protected:
  void SetUp() override {
    ASSERT_EQ(program({"phantom", "--out", (folder_ / "data").string(), "--cases", "5", "--size", "20",
                       "--seed", "3"})
                  .code,
              0);
    write_file(folder_ / "experiment.yaml", R"(name: tiny
data: {root: data, modalities: [flair, t1ce]}
preprocess: {resolution: 8}
network: {base_filters: 2, depth: 2}
training: {epochs: 4, seed: 5, precision: f32}
)");
  }

  Words run_into(const std::string& out, const Words& more = {}) {
    Words arguments = {"run", (folder_ / "experiment.yaml").string(), "--out", (folder_ / out).string(),
                       "data.cache=" + cache_.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  Outcome run(const std::string& out, const Words& more = {}) {
    const Outcome outcome = program(run_into(out, more));
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return outcome;
  }

  // A column of a table, over its rows.
  std::string column(const std::string& out, const char* table, const char* name) {
    const Csv csv = read_csv(folder_ / out / table);
    std::string text;
    for (const auto& row : csv.rows) text += row[csv.column(name, table)] + " ";
    return text;
  }
  bool has_column(const std::string& out, const char* name) {
    const Csv csv = read_csv(folder_ / out / "epochs.csv");
    return std::find(csv.header.begin(), csv.header.end(), name) != csv.header.end();
  }
  // The tensors, without the header, which also tells how long the training took.
  std::string tensors(const std::string& out, const std::string& name) {
    const std::string all = read_file(folder_ / out / "checkpoints" / (name + ".safetensors"));
    std::uint64_t header = 0;
    std::memcpy(&header, all.data(), sizeof header);
    return all.substr(sizeof header + header);
  }
  std::string tensor(const std::string& out, const std::string& name) {
    const std::string all = read_file(folder_ / out / "checkpoints/last.safetensors");
    std::uint64_t size = 0;
    std::memcpy(&size, all.data(), sizeof size);
    const auto [begin, end] = Json::parse(all.substr(sizeof size, size))[name]["data_offsets"]
                                  .get<std::pair<std::size_t, std::size_t>>();
    return all.substr(sizeof size + size + begin, end - begin);
  }
  void expect_equal(const std::string& a, const std::string& b, const std::vector<std::string>& checkpoints) {
    for (const char* name : {"train_loss", "validation_loss", "learning_rate"})
      EXPECT_EQ(column(a, "epochs.csv", name), column(b, "epochs.csv", name)) << name;
    EXPECT_EQ(read_file(folder_ / a / "dice.csv"), read_file(folder_ / b / "dice.csv"));
    for (const std::string& name : checkpoints)
      EXPECT_TRUE(tensors(a, name) == tensors(b, name)) << a << ", " << b << ": " << name;
  }
};

TEST_F(Weights, AreAveragedBesideATrainingThatStaysTheSame) {
  run("plain");
  const Outcome averaged = run("averaged", {"training.averaging.name=ema", "training.averaging.decay=0.7"});
  EXPECT_THAT(averaged.output, HasSubstr("  averaged -0."));
  EXPECT_EQ(column("averaged", "epochs.csv", "validation_loss"),
            column("plain", "epochs.csv", "validation_loss"));
  EXPECT_TRUE(tensors("averaged", "best") == tensors("plain", "best"));
  EXPECT_FALSE(tensors("averaged", "best") == tensors("averaged", "averaged"));
  EXPECT_FALSE(has_column("plain", "averaged_validation_loss"));
  EXPECT_TRUE(has_column("averaged", "averaged_validation_loss"));
  EXPECT_NE(column("averaged", "validation.csv", "averaged_dice"),
            column("averaged", "validation.csv", "dice"));
  EXPECT_FALSE(fs::exists(folder_ / "plain/checkpoints/averaged.safetensors"));

  const auto predict = [&](const std::string& from, const std::string& out, const Words& more) {
    Words words = {"predict", (folder_ / from).string(), "--input",        (folder_ / "data").string(),
                   "--out",   (folder_ / out).string(),  "--probabilities"};
    words.insert(words.end(), more.begin(), more.end());
    return program(words);
  };
  ASSERT_EQ(predict("averaged", "of_mean", {}).code, 0);
  ASSERT_EQ(predict("averaged", "raw", {"--raw-weights"}).code, 0);
  ASSERT_EQ(predict("plain", "of_plain", {}).code, 0);
  const auto probabilities = [&](const std::string& out) {
    std::map<std::string, std::string> all;
    for (const auto& entry : fs::directory_iterator(folder_ / out / "probabilities"))
      if (entry.path().extension() == ".gz") all[entry.path().filename().string()] = read_file(entry.path());
    EXPECT_FALSE(all.empty());
    return all;
  };
  EXPECT_TRUE(probabilities("raw") == probabilities("of_plain"));
  EXPECT_FALSE(probabilities("raw") == probabilities("of_mean"));
  const Outcome refused = predict("plain", "never", {"--raw-weights"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.output, HasSubstr("--raw-weights: this run has no averaged weights"));
}

TEST_F(Weights, AndTheirMeanComeToTheSameBitsHoweverOftenARunIsKilled) {
  for (const std::string name : {"ema", "swa"}) {
    const Words averaging = {"training.averaging.name=" + name, "training.averaging.start=2",
                             "training.epochs=8"};
    run("whole_" + name, averaging);
    const std::string cut = "cut_" + name;
    int attempts = 0, stopped = 0;
    for (int milliseconds = 200; attempts < 40; milliseconds += milliseconds / 4, ++attempts) {
      Words more = averaging;
      more.emplace_back("training.checkpoint_minutes=0.0001");
      if (fs::exists(folder_ / cut / "experiment.yaml")) more.emplace_back("--resume");
      const pid_t child = start(run_into(cut, more), {.log = log_});
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
      kill(child, attempts % 2 == 0 ? SIGKILL : SIGINT);
      const Outcome outcome = finish(child, {.log = log_});
      if (outcome.code == 0) break;
      ++stopped;
      ASSERT_THAT(outcome.code, testing::AnyOf(128 + SIGKILL, 130)) << outcome.output;
    }
    EXPECT_GT(stopped, 0);
    expect_equal("whole_" + name, cut, {"last", "best", "averaged"});
    EXPECT_EQ(column("whole_" + name, "epochs.csv", "averaged_validation_loss"),
              column(cut, "epochs.csv", "averaged_validation_loss"));
  }
}

TEST_F(Weights, OfAFinishedRunGoOnAsIfItHadHadMoreEpochsFromTheBeginning) {
  const Words more = {"training.averaging.name=ema", "training.schedule.warm_up=1.5"};
  Words six = more;
  six.emplace_back("training.epochs=6");
  run("at_once", six);
  run("in_two", more);
  EXPECT_THAT(program(run_into("in_two", six)).output, HasSubstr("--resume"));  // unasked it is not touched
  six.emplace_back("--resume");
  run("in_two", six);
  expect_equal("at_once", "in_two", {"last", "best", "averaged"});

  const std::string poly = "training.schedule.name=poly";
  run("poly", {poly});
  const Outcome refused = program(run_into("poly", {poly, "training.epochs=6", "--resume"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.output, HasSubstr("other values of training.epochs"));
  EXPECT_THAT(refused.output, HasSubstr("training.schedule.name: poly depends on the number"));
  EXPECT_THAT(refused.output, HasSubstr("network.init=" + (folder_ / "poly").string()));
}

TEST_F(Weights, OfAnotherRunAreTakenWhereTheyFitAndStayWhereTheyAreFrozen) {
  run("first", {"training.targets=labels"});
  const Words other = {"data.modalities=[t1ce, t2, flair]", "data.regions={whole: [1, 2, 4]}",
                       "training.targets=regions", "training.freeze=[encoder.1]",
                       "network.init=" + (folder_ / "first").string()};
  const Outcome begun = run("second", other);
  EXPECT_THAT(begun.output, HasSubstr("parameters are initialised from " + (folder_ / "first").string()));
  EXPECT_THAT(begun.output, HasSubstr("encoder.0.input.conv.weight  channels t1ce, flair taken; random: t2"));
  EXPECT_THAT(begun.output, HasSubstr("other shape  head.0.conv.weight  "));
  EXPECT_THAT(read_file(folder_ / "second/run.log"), HasSubstr("other shape  head.0.conv.weight"));
  const std::string frozen = "encoder.1.input.conv.weight", free = "decoder.0.up.conv.weight";
  // Last of the first run is not what the second begins with, unless its last epoch was its best.
  if (tensors("first", "best") == tensors("first", "last").substr(0, tensors("first", "best").size())) {
    EXPECT_EQ(tensor("second", frozen), tensor("first", frozen));
  }
  EXPECT_NE(tensor("second", free), tensor("first", free));

  Words gone = other;
  gone.back() = "network.init=" + (folder_ / "nothing").string();
  const Outcome refused = program(run_into("third", gone));
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.output, HasSubstr("nothing: no such run or file"));
}

}  // namespace
}  // namespace voxswap::cli
