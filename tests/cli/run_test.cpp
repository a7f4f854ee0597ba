// The program as a user has it: a whole run on phantoms, the same bytes twice, killed and resumed, and
// trouble with files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <thread>

#include "base/csv.h"
#include "base/file.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Run : public ProgramInAFolder {
 protected:
  void SetUp() override {
    ASSERT_EQ(program({"phantom", "--out", (folder_ / "data").string(), "--cases", "6", "--size", "20",
                       "--seed", "3"})
                  .code,
              0);
    write_file(folder_ / "experiment.yaml", R"(name: tiny
data: {root: data, modalities: [flair, t1ce]}
preprocess: {resolution: 16}
network: {base_filters: 4, depth: 3}
training: {epochs: 4, seed: 5}
evaluate: {at: [native, training, 24]}
)");
  }

  Words run_into(const std::string& out, const Words& more = {}) {
    Words arguments = {"run", (folder_ / "experiment.yaml").string(), "--out", (folder_ / out).string(),
                       "data.cache=" + cache_.string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  std::string bytes(const std::string& out, const std::string& file) {
    return read_file(folder_ / out / file);
  }

  // epochs.csv without its times: what must repeat.
  std::string losses(const std::string& out) {
    const Csv csv = read_csv(folder_ / out / "epochs.csv");
    std::string text;
    for (const auto& row : csv.rows) {
      for (const char* column : {"repeat", "epoch", "train_loss", "validation_loss", "learning_rate"}) {
        text += row[csv.column(column, "epochs.csv")] + " ";
      }
      text += "\n";
    }
    return text;
  }

  std::vector<double> rates(const std::string& out) {  // at the end of each epoch
    const Csv epochs = read_csv(folder_ / out / "epochs.csv");
    std::vector<double> found;
    for (const auto& row : epochs.rows)
      found.push_back(std::stod(row[epochs.column("learning_rate", "epochs.csv")]));
    return found;
  }

  // The tensors, without the header, which also tells how long the training took.
  std::string weights(const std::string& out, const std::string& file) {
    const std::string all = bytes(out, "checkpoints/" + file);
    std::uint64_t header = 0;
    std::memcpy(&header, all.data(), sizeof header);
    return all.substr(sizeof header + header);
  }

  void expect_equal_results(const std::string& a, const std::string& b) {
    EXPECT_EQ(losses(a), losses(b));
    EXPECT_EQ(bytes(a, "dice.csv"), bytes(b, "dice.csv"));
    EXPECT_EQ(bytes(a, "boxplot.csv"), bytes(b, "boxplot.csv"));
    for (const char* file : {"last.safetensors", "best.safetensors"})
      EXPECT_TRUE(weights(a, file) == weights(b, file)) << file;
  }

  // Every file and column of a run is in the reference.
  void expect_named_files(const std::string& out, const std::string& validated) {
    const std::string reference = read_file(fs::path(VOXSWAP_SOURCE_DIR) / "docs/reference/files.md");
    for (const auto& entry : fs::recursive_directory_iterator(folder_ / out)) {
      if (!fs::is_regular_file(entry.path())) continue;
      std::string name = entry.path().lexically_relative(folder_ / out).string();
      if (const std::size_t at = name.find(validated); at != name.npos)
        name.replace(at, validated.size(), "CASE");
      const std::string stem = name.substr(0, name.find('.'));
      if (name.ends_with(".previous.safetensors")) {
        name = "checkpoints/*.previous.safetensors";
      } else if (entry.path().parent_path() == folder_ / out && name != "arena.svg" &&
                 (name == stem + ".svg" || name == stem + ".png")) {
        name = stem + ".svg, .png";
      }
      EXPECT_NE(reference.find("| `" + name + "` |"), reference.npos) << name;
      if (entry.path().extension() != ".csv") continue;
      for (const std::string& column : read_csv(entry.path()).header)
        EXPECT_NE(reference.find("| `" + column + "` |"), reference.npos) << name << ": " << column;
    }
  }

  // A budget that an experiment changed by `more` can only just do with. A planner's least is found to a
  // hundredth and moves a little with the costs, which are measured where it runs.
  std::string least(const Words& more) {
    Words arguments = {"plan", (folder_ / "experiment.yaml").string(), "--estimate", "memory.budget=1KiB"};
    for (const std::string& word : more)
      if (word != "--trace") arguments.push_back(word);
    const Outcome refused = program(arguments);
    EXPECT_EQ(refused.code, 4) << refused.output;
    return std::to_string(std::stoll(least_budget(refused.output)) * 51 / 50) + "B";
  }

  double figure(const std::string& out, const std::string& column) {
    const Csv timing = read_csv(folder_ / out / "timing.csv");
    return std::stod(timing.rows.at(0)[timing.column(column, "timing.csv")]);
  }

  // `squeezed`: there was less memory than the step takes, so that something left the device or was made
  // again.
  void expect_figures_of_moved_bytes(const std::string& out, bool squeezed) {
    for (const char* column : {"predicted_step_seconds", "overhead", "utilization", "link_to_host_gbps"})
      EXPECT_GT(figure(out, column), 0) << out << ", " << column;
    EXPECT_GE(figure(out, "predicted_step_seconds"), 0.99 * figure(out, "bound_step_seconds")) << out;
    const double moved = figure(out, "swapped_out_bytes");
    for (const char* column : {"swapped_in_bytes", "to_host_gbps"})
      EXPECT_EQ(figure(out, column) > 0, moved > 0) << out << ", " << column;
    const Csv epochs = read_csv(folder_ / out / "epochs.csv");
    for (const auto& row : epochs.rows) {  // five steps each
      const auto of_epoch = [&](const char* column) {
        return std::stod(row[epochs.column(column, "epochs.csv")]);
      };
      EXPECT_EQ(of_epoch("swapped_out_bytes"), 5 * moved);
      EXPECT_EQ(of_epoch("host_peak_bytes") > 0, moved > 0) << out;
      EXPECT_TRUE(!squeezed || moved + of_epoch("recomputed_nodes") > 0) << out;
    }
  }
};

TEST_F(Run, LeavesEveryFileBehindAndTheSameBytesTheSecondTime) {
  const Outcome first = program(run_into("first"));
  ASSERT_EQ(first.code, 0) << first.output;
  for (const char* file : {"experiment.yaml", "split.csv", "epochs.csv", "dice.csv", "boxplot.csv",
                           "timing.csv", "plan.json", "boxplot.svg", "boxplot.png", "epochs.svg",
                           "report.html", "checkpoints/last.safetensors", "checkpoints/best.safetensors"}) {
    EXPECT_TRUE(fs::exists(folder_ / "first" / file)) << file;
  }
  const Csv dice = read_csv(folder_ / "first" / "dice.csv");
  EXPECT_EQ(dice.rows.size(), 1u * 3 * 3);  // one validation case, three grids, three regions
  EXPECT_TRUE(fs::exists(folder_ / "first" / "predictions" /
                         (dice.rows[0][dice.column("case", "dice.csv")] + ".nii.gz")));
  EXPECT_EQ(read_csv(folder_ / "first" / "epochs.csv").rows.size(), 4u);

  const Outcome second = program(run_into("second"));
  ASSERT_EQ(second.code, 0) << second.output;
  expect_equal_results("first", "second");
  expect_named_files("first", dice.rows[0][dice.column("case", "dice.csv")]);
}

TEST_F(Run, HasTheSameBytesWhereItIsLookedAtWhileItTrains) {
  ASSERT_EQ(program(run_into("plain")).code, 0);
  const Outcome logged = program(run_into("logged", {"training.log=[csv,tensorboard]"}));
  ASSERT_EQ(logged.code, 0) << logged.output;
  std::string events;
  for (const auto& file : fs::directory_iterator(folder_ / "logged" / "tensorboard"))
    events += read_file(file.path());
  std::size_t pictures = 0;
  for (std::size_t at = 0; (at = events.find("\x89PNG", at)) != std::string::npos; ++at) ++pictures;
  EXPECT_EQ(pictures, 5u);  // of one validation case after each of four epochs, and at the end
  expect_equal_results("plain", "logged");
}

TEST_F(Run, TakesThePlainRateTimesTheBatchWhereItIsScaledWithIt) {
  const std::string batch = "training.batch_size=2", rate = "training.optimizer.learning_rate=";
  const auto train = [&](const std::string& out, const Words& more) {
    const Outcome outcome = program(run_into(out, more));
    ASSERT_EQ(outcome.code, 0) << outcome.output;
  };
  train("plain", {batch, rate + "0.001", "training.epochs=2"});
  train("scaled", {batch, rate + "0.0005", "training.epochs=2", "training.optimizer.rate_scaling=linear"});
  expect_equal_results("plain", "scaled");
}

TEST_F(Run, EqualsOneThatWasNotKilledHoweverOftenItIs) {
  const std::string warm_up = "training.schedule.warm_up=2.4";  // twelve of twenty steps
  ASSERT_EQ(program(run_into("whole", {warm_up})).code, 0);
  using testing::DoubleEq;
  EXPECT_THAT(rates("whole"), testing::ElementsAre(DoubleEq(5e-4 * 5 / 12), DoubleEq(5e-4 * 10 / 12),
                                                   DoubleEq(5e-4), DoubleEq(5e-4)));
  // Killed after longer and longer times, at any point of an epoch; interrupted politely in between, and, as
  // batch systems do, told that time is nearly up, as often as they like.
  int attempts = 0, cut = 0;
  for (int milliseconds = 150; attempts < 60; milliseconds += 60, ++attempts) {
    // Swaps, by a rule that asks for no costs, so that every part of the run moves the same bytes.
    Words more = {"training.checkpoint_minutes=0.0001", "memory.planner=lms-threshold",
                  "memory.lms_threshold=16KiB", "memory.host=1GiB", warm_up};
    if (fs::exists(folder_ / "cut" / "experiment.yaml")) more.emplace_back("--resume");
    const pid_t child = start(run_into("cut", more), {.log = log_});
    std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    const int signals[] = {SIGKILL, SIGINT, SIGUSR1};
    kill(child, signals[attempts % 3]);
    if (attempts % 3 == 2) {
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      kill(child, SIGUSR1);
    }
    const Outcome outcome = finish(child, {.log = log_});
    if (outcome.code == 0) break;
    ++cut;
    // Before it listens to it, SIGUSR1 ends it as any other program.
    ASSERT_THAT(outcome.code, testing::AnyOf(128 + SIGKILL, 130, 128 + SIGUSR1)) << outcome.output;
  }
  EXPECT_GT(cut, 0);
  ASSERT_TRUE(fs::exists(folder_ / "cut" / "report.html"));
  expect_equal_results("whole", "cut");
  const Csv epochs = read_csv(folder_ / "cut" / "epochs.csv"),
            timing = read_csv(folder_ / "cut" / "timing.csv");
  const std::string per_step = timing.rows.at(0)[timing.column("swapped_out_bytes", "timing.csv")];
  EXPECT_GT(std::stoll(per_step), 0);
  for (const auto& row : epochs.rows)
    EXPECT_EQ(std::stoll(row[epochs.column("swapped_out_bytes", "epochs.csv")]), 5 * std::stoll(per_step));
}

// Planners, budgets and tiers change when and where, never what; their figures are in the tables. The budgets
// are the least that the planners can do with here; lms-threshold moves what is large whatever the budget.
TEST_F(Run, GivesTheSameResultsInLessMemoryAndTellsWhatThatTook) {
  const std::string brief = "training.epochs=2";
  ASSERT_EQ(program(run_into("kept", {brief, "memory.planner=keep"})).code, 0);
  const double unlimited = figure("kept", "device_peak_bytes");
  const std::string lms = "memory.planner=lms-threshold", threshold = "memory.lms_threshold=16KiB";
  const std::string disk = "memory.disk={path: " + test::shared_costs().string() + ", budget: 1GiB}";
  const std::vector<Words> settings = {
      {"hybrid", "memory.planner=hybrid", "memory.host=1GiB", "--trace"},
      {"tflms", "memory.planner=tflms", "memory.host=1GiB"},
      {"swapped", lms, threshold, "memory.host=1GiB"},
      {"disk", lms, threshold, "memory.host=200KiB", disk, "memory.link={to_host: 200MB/s}"}};
  for (Words more : settings) {
    const std::string name = more.front();
    more.erase(more.begin());
    const std::string budget = least(more);
    more.insert(more.end(), {brief, "memory.budget=" + budget});
    const Outcome outcome = program(run_into(name, more));
    ASSERT_EQ(outcome.code, 0) << outcome.output;
    expect_equal_results("kept", name);
    EXPECT_LE(figure(name, "device_peak_bytes"), std::stod(budget)) << name;
    expect_figures_of_moved_bytes(name, std::stod(budget) < unlimited || more.front() == lms);
  }
  EXPECT_EQ(bytes("hybrid", "timeline.json").substr(0, 1), "{");
  EXPECT_FALSE(fs::exists(folder_ / "tflms" / "timeline.json"));
}

TEST_F(Run, KeepsTheLastGoodCheckpointWhenTheDiskFillsUp) {
  ASSERT_EQ(program(run_into("disk", {"training.epochs=1"})).code, 0);
  const std::string before = bytes("disk", "checkpoints/last.safetensors");
  const Outcome full = program(run_into("disk", {"training.epochs=2", "--resume"}), before.size() / 2);
  EXPECT_EQ(full.code, 4) << full.output;
  EXPECT_NE(full.output.find("last.safetensors"), std::string::npos) << full.output;
  EXPECT_EQ(bytes("disk", "checkpoints/last.safetensors"), before);
}

TEST_F(Run, PredictsCasesItHasNotSeenAndScoresThem) {
  ASSERT_EQ(program(run_into("trained")).code, 0);
  const Outcome predicted =
      program({"predict", (folder_ / "trained").string(), "--postprocessing", "none", "--input",
               (folder_ / "data").string(), "--out", (folder_ / "maps").string()});
  ASSERT_EQ(predicted.code, 0) << predicted.output;
  // The validation case is predicted as the run itself predicted it.
  const Csv dice = read_csv(folder_ / "trained" / "dice.csv");
  const std::string name = dice.rows[0][dice.column("case", "dice.csv")] + ".nii.gz";
  EXPECT_EQ(read_file(folder_ / "maps" / name), bytes("trained", "predictions/" + name));
}

// 20 voxels a side are no multiple of 4 patches; a volume is seen in several windows, in validation too.
TEST_F(Run, TrainsOnPatchesAndPredictsWithWindowsMirrorsAndTheMeanOfItsRepeats) {
  const Words patches = {"preprocess.resolution=18", "training.patch=[16, 12, 8]", "training.epochs=1",
                         "training.repeats=2", "evaluate.postprocessing=none"};
  const Outcome trained = program(run_into("patches", patches));
  ASSERT_EQ(trained.code, 0) << trained.output;
  const Csv dice = read_csv(folder_ / "patches" / "dice.csv");
  const std::string id = dice.rows[0][dice.column("case", "dice.csv")], map = id + ".nii.gz";
  const auto predict = [&](const std::string& out, const Words& more) {
    Words arguments = {"predict", (folder_ / "patches").string(), "--input", (folder_ / "data" / id).string(),
                       "--out",   (folder_ / out).string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return program(arguments);
  };
  ASSERT_EQ(predict("plain", {}).code, 0);
  EXPECT_EQ(bytes("plain", "repeat_2/" + map), bytes("patches", "predictions/repeat_2/" + map));
  const Outcome all = predict("all", {"--tta", "--ensemble", "--overlap", "0", "--keep-largest",
                                      "whole_tumor,tumor_core", "--probabilities"});
  ASSERT_EQ(all.code, 0) << all.output;
  EXPECT_TRUE(fs::exists(folder_ / "all" / map));
  EXPECT_FALSE(fs::exists(folder_ / "all" / "repeat_1"));
  for (const char* output : {"necrosis", "oedema", "enhancing"})
    EXPECT_TRUE(fs::exists(folder_ / "all/probabilities" / (id + "_" + output + ".nii.gz"))) << output;
  EXPECT_NE(bytes("all", "prediction.json").find("\"ensemble\": true"), std::string::npos);

  // Again into the same folder: nothing is left of what the first prediction made and the second one does
  // not.
  const Outcome again = predict("all", {});
  ASSERT_EQ(again.code, 0) << again.output;
  EXPECT_NE(again.output.find("2 label maps of 1 case, of 2 repeats each"), std::string::npos)
      << again.output;
  EXPECT_FALSE(fs::exists(folder_ / "all" / map));
  EXPECT_FALSE(fs::exists(folder_ / "all/probabilities" / (id + "_oedema.nii.gz")));
  EXPECT_EQ(bytes("all", "repeat_2/" + map), bytes("plain", "repeat_2/" + map));
  const std::string record = bytes("all", "prediction.json");
  EXPECT_EQ(record.find("\"ensemble\": true"), std::string::npos) << record;
  EXPECT_NE(record.find("\"repeat_1/" + map + "\""), std::string::npos) << record;

  EXPECT_NE(predict("whole", {"--window", "whole"}).output.find("must be a multiple of 4"),
            std::string::npos);
  EXPECT_EQ(predict("large", {"--window", "20"}).code, 2);
  EXPECT_EQ(predict("region", {"--keep-largest", "tumour"}).code, 2);
}

TEST_F(Run, RefusesWhatIsWrongBeforeItWritesAnything) {
  struct Wrong {
    Words more;
    int code;
    std::string says;
  };
  for (const Wrong& wrong : std::vector<Wrong>{
           {{"preprocess.resolution=30"}, 2, "28"},
           {{"training.patch=20"}, 2, "training.patch: 20 voxels along x exceed"},
           {{"training.patch=[16, 16, 10]"}, 2, "z is 10; use 8 or 12"},
           {{"memory.budget=1KiB"}, 4, "memory.budget"},
           {{"memory.device=cuda"}, 4, "CUDA"},
           {{"data.root=nowhere"}, 3, "nowhere"},
           {{"data.modalities=[flair,pet]"}, 2, "pet"},
       }) {
    const Outcome outcome = program(run_into("refused", wrong.more));
    EXPECT_TRUE(outcome.code == wrong.code) << wrong.more[0] << " exits with " << outcome.code << "\n"
                                            << outcome.output;
    EXPECT_NE(outcome.output.find(wrong.says), std::string::npos) << outcome.output;
    EXPECT_FALSE(fs::exists(folder_ / "refused")) << wrong.more[0];
  }
}

TEST_F(Run, GoesOnUnderItsFoldersName) {
  const std::string run = (folder_ / "named").string();
  ASSERT_EQ(program(run_into("named", {"training.epochs=2"})).code, 0);
  const Outcome anew = program({"run", run});
  EXPECT_EQ(anew.code, 2);
  EXPECT_NE(anew.output.find("is the folder of a run. Continue it with --resume, or start a new run with"),
            std::string::npos)
      << anew.output;
  const Outcome longer = program({"run", run, "--resume", "training.epochs=3"});
  ASSERT_EQ(longer.code, 0) << longer.output;
  EXPECT_EQ(read_csv(folder_ / "named/epochs.csv").rows.size(), 3u);
  EXPECT_NE(program({"plan", run}).output.find("such as " + run + "/experiment.yaml"), std::string::npos);
}

TEST_F(Run, GoesOnWhereItWasKilledBeforeItsFirstFileWasWritten) {
  fs::create_directories(folder_ / "begun");
  write_file(folder_ / "begun/.lock", "");
  write_file(folder_ / "begun/checksums.json", R"({"experiment.yaml": ["0123456789abcdef", "none"]})");
  write_file(folder_ / "begun/notes.txt", "mine");
  const Outcome refused = program(run_into("begun", {"--resume", "training.epochs=1"}));
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.output.find("is not empty and contains no run"), std::string::npos) << refused.output;
  fs::remove(folder_ / "begun/notes.txt");
  const Outcome outcome = program(run_into("begun", {"--resume", "training.epochs=1"}));
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_TRUE(fs::exists(folder_ / "begun/report.html"));
}

TEST_F(Run, ADryRunTellsAndWritesNothing) {
  const Outcome outcome = program(run_into("dry", {"--dry-run"}));
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("resolution"), std::string::npos);
  EXPECT_FALSE(fs::exists(folder_ / "dry"));
}

}  // namespace
}  // namespace voxswap::cli
