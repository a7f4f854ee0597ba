// The program from a user's view: a whole run on phantoms, reproducible to the byte, interrupted and resumed,
// and file errors.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <thread>
#include <tuple>

#include "base/checksummed_file.h"
#include "base/json.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Run : public ProgramInAFolder {
 protected:
  void SetUp() override {
    phantoms("6", "20");
    write("experiment.yaml", R"(name: tiny
data: {root: data, modalities: [flair, t1ce]}
preprocess: {resolution: 16}
network: {base_filters: 4, depth: 3}
training: {epochs: 4, seed: 5}
evaluate: {at: [native, training, 24]}
)");
  }

  void expect_equal_results(const std::string& a, const std::string& b) {
    for (const char* name : {"repeat", "epoch", "train_loss", "validation_loss", "learning_rate"})
      EXPECT_EQ(column(a + "/epochs.csv", name), column(b + "/epochs.csv", name)) << name;
    for (const char* table : {"/dice.csv", "/boxplot.csv"}) EXPECT_EQ(bytes(a + table), bytes(b + table));
    for (const char* name : {"last", "best"}) EXPECT_TRUE(tensors(a, name) == tensors(b, name)) << name;
  }

  // Predicts a case with `run` and compares the label map and the record with those of `scored`, which
  // predicted and scored it itself.
  void expect_predicts(const std::string& run, const Words& more, const std::string& id,
                       const std::string& scored, const std::string& recorded) {
    done(Words{"predict", path(run), "--input", path("data/" + id), "--out", path("of_" + run)} + more);
    const std::string map = "/" + id + ".nii.gz";
    EXPECT_EQ(bytes("of_" + run + map), bytes(scored + "/predictions" + map)) << run;
    EXPECT_TRUE(contains(bytes("of_" + run + "/prediction.json"), recorded)) << run;
  }

  // Every file and column of a run is documented in the reference.
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
      EXPECT_TRUE(contains(reference, "| `" + name + "` |")) << name;
      if (entry.path().extension() != ".csv") continue;
      for (const std::string& column : read_csv(entry.path()).header)
        EXPECT_TRUE(contains(reference, "| `" + column + "` |")) << name << ": " << column;
    }
  }

  // A budget close to the minimum for the experiment changed by `more`. A planner finds its minimum to 1 %,
  // and measured costs shift it by a few percent.
  std::string least(const Words& more) {
    Words arguments = {"plan", path("experiment.yaml"), "--estimate", "memory.budget=1KiB"};
    for (const std::string& word : more)
      if (word != "--trace") arguments.push_back(word);
    return format("{}B", least_budget(refused(4, arguments).output));
  }

  double figure(const std::string& out, const std::string& name) {
    return std::stod(column(out + "/timing.csv", name).at(0));
  }

  // `squeezed`: the budget was less than the step needs, so something was swapped out or recomputed.
  void expect_figures_of_moved_bytes(const std::string& out, bool squeezed) {
    for (const char* column : {"predicted_step_seconds", "utilization", "link_to_host_gbps"})
      EXPECT_GT(figure(out, column), 0) << out << ", " << column;
    // With costs measured on a busy machine there may be no bound.
    const double bound = figure(out, "bound_step_seconds");
    EXPECT_EQ(std::isnan(bound), std::isnan(figure(out, "overhead"))) << out;
    EXPECT_FALSE(figure(out, "predicted_step_seconds") < 0.99 * bound) << out;
    const double moved = figure(out, "swapped_out_bytes");
    for (const char* column : {"swapped_in_bytes", "to_host_gbps"})
      EXPECT_EQ(figure(out, column) > 0, moved > 0) << out << ", " << column;
    for (std::size_t i = 0; i < column(out + "/epochs.csv", "epoch").size(); ++i) {  // five steps per epoch
      const auto of_epoch = [&](const char* name) { return std::stod(column(out + "/epochs.csv", name)[i]); };
      EXPECT_EQ(of_epoch("swapped_out_bytes"), 5 * moved);
      EXPECT_EQ(of_epoch("host_peak_bytes") > 0, moved > 0) << out;
      EXPECT_TRUE(!squeezed || moved + of_epoch("recomputed_nodes") > 0) << out;
    }
  }
};

TEST_F(Run, LeavesEveryFileBehindAndTheSameBytesTheSecondTime) {
  done(into("first"));
  for (const char* file : {"experiment.yaml", "split.csv", "epochs.csv", "dice.csv", "boxplot.csv",
                           "timing.csv", "plan.json", "boxplot.svg", "boxplot.png", "epochs.svg",
                           "report.html", "checkpoints/last.safetensors", "checkpoints/best.safetensors"}) {
    EXPECT_TRUE(fs::exists(folder_ / "first" / file)) << file;
  }
  const Csv dice = read_csv(folder_ / "first/dice.csv");
  EXPECT_EQ(dice.rows.size(), 1u * 3 * 3);  // one validation case, three grids, three regions
  EXPECT_TRUE(fs::exists(folder_ / "first/predictions" /
                         (dice.rows[0][dice.column("case", "dice.csv")] + ".nii.gz")));
  EXPECT_EQ(read_csv(folder_ / "first/epochs.csv").rows.size(), 4u);

  done(into("second"));
  expect_equal_results("first", "second");
  expect_named_files("first", dice.rows[0][dice.column("case", "dice.csv")]);
}

TEST_F(Run, HasTheSameBytesWhereItIsLookedAtWhileItTrains) {
  done(into("plain"));
  done(into("logged", {"training.log=[csv,tensorboard]"}));
  std::string events;
  for (const auto& file : fs::directory_iterator(folder_ / "logged/tensorboard"))
    events += read_file(file.path());
  std::size_t pictures = 0;
  for (std::size_t at = 0; (at = events.find("\x89PNG", at)) != std::string::npos; ++at) ++pictures;
  EXPECT_EQ(pictures, 5u);  // of one validation case after each of four epochs, and at the end
  expect_equal_results("plain", "logged");
}

TEST_F(Run, TakesThePlainRateTimesTheBatchWhereItIsScaledWithIt) {
  const std::string batch = "training.batch_size=2", rate = "training.optimizer.learning_rate=";
  done(into("plain", {batch, rate + "0.001", "training.epochs=2"}));
  done(into("scaled",
            {batch, rate + "0.0005", "training.epochs=2", "training.optimizer.rate_scaling=linear"}));
  expect_equal_results("plain", "scaled");
}

// Interrupted at any point of an epoch, while swapping by a rule that needs no costs, so that every part of
// the run moves the same bytes.
TEST_F(Run, EqualsOneThatWasNotKilledHoweverOftenItIs) {
  const std::string warm_up = "training.schedule.warm_up=2.4";  // twelve of twenty steps
  done(into("whole", {warm_up}));
  std::vector<double> rates;  // at the end of each epoch
  for (const std::string& rate : column("whole/epochs.csv", "learning_rate"))
    rates.push_back(std::stod(rate));
  using testing::DoubleEq;
  EXPECT_THAT(rates, testing::ElementsAre(DoubleEq(5e-4 * 5 / 12), DoubleEq(5e-4 * 10 / 12), DoubleEq(5e-4),
                                          DoubleEq(5e-4)));
  const Words more = {"training.checkpoint_minutes=0.0001", "memory.planner=lms-threshold",
                      "memory.lms_threshold=16KiB", "memory.host=1GiB", warm_up};
  EXPECT_GT(run_with_signals("cut", more, {SIGKILL, SIGINT, SIGUSR1}), 0);
  ASSERT_TRUE(fs::exists(folder_ / "cut/report.html"));
  expect_equal_results("whole", "cut");
  const double per_step = figure("cut", "swapped_out_bytes");
  EXPECT_GT(per_step, 0);
  for (const std::string& moved : column("cut/epochs.csv", "swapped_out_bytes"))
    EXPECT_EQ(std::stod(moved), 5 * per_step);
}

// Planners, budgets and tiers change when and where values are computed, but not the values; the tables
// contain their figures. The budgets are the planners' minima; lms-threshold moves large values whatever the
// budget.
TEST_F(Run, GivesTheSameResultsInLessMemoryAndReportsTheCost) {
  const std::string brief = "training.epochs=2";
  done(into("kept", {brief, "memory.planner=keep"}));
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
    std::string budget = least(more);
    more.insert(more.end(), {brief, "memory.budget=" + budget});
    Outcome outcome = program(into(name, more));
    for (int turn = 0; turn < 3 && outcome.code == 4; ++turn) {  // with measured costs it may need more
      budget = format("{}B", least_budget(outcome.output));
      more.back() = "memory.budget=" + budget;
      outcome = program(into(name, more));
    }
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    expect_equal_results("kept", name);
    EXPECT_LE(figure(name, "device_peak_bytes"), std::stod(budget)) << name;
    expect_figures_of_moved_bytes(name, std::stod(budget) < unlimited || more.front() == lms);
  }
  EXPECT_EQ(bytes("hybrid/timeline.json").substr(0, 1), "{");
  EXPECT_FALSE(fs::exists(folder_ / "tflms" / "timeline.json"));
}

TEST_F(Run, AndItsPlanEndWithTheMeasurementThatASignalFinds) {
  for (const char* command : {"plan", "run"}) {
    fs::remove(log_);
    const pid_t child = start(into("stopped", {"data.cache=" + path("new_cache")}, command), {.log = log_});
    while (!fs::exists(log_) || !contains(read_file(log_), "measuring all kernels"))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    kill(child, SIGTERM);
    failed(finish(child, {.log = log_}), 130, {"interrupted"});
    EXPECT_FALSE(fs::exists(folder_ / "new_cache/costs"));
  }
}

// Costs like those measured on a busy machine: each node takes a second.
TEST_F(Run, MeasuresTheCostsAgainWhereItsFirstStepsDisproveThem) {
  const Words own = {"data.cache=" + path("own_cache")};
  done(into("planned", own, "plan"));
  const fs::path costs = fs::directory_iterator(folder_ / "own_cache/costs")->path();
  Json slow = Json::parse(read_checksummed(costs).value());
  for (Json& seconds : slow["node_seconds"]) seconds = 1.0;
  slow["noise"] = 0.0;
  write_checksummed(costs, slow.dump());

  const pid_t child = start(into("long", own + Words{"training.epochs=100000"}), {.log = log_});
  const auto says = [&](const std::string& words) { return contains(read_file(log_), words); };
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(300);
  while (!says("epoch 3/100000") && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  kill(child, SIGINT);
  const Outcome outcome = failed(finish(child, {.log = log_}), 130);
  EXPECT_TRUE(contains(outcome.output, ": measuring the costs again", "predicted step time"))
      << outcome.output;
  const Json measured = Json::parse(read_checksummed(costs).value());
  for (const Json& seconds : measured.at("node_seconds")) EXPECT_LT(seconds.get<double>(), 1);

  // A run that is too short to measure again says so, and the next one measures.
  write_checksummed(costs, slow.dump());
  EXPECT_TRUE(contains(done(into("short", own)).output, "The next run measures them again"));
  EXPECT_FALSE(fs::exists(costs));
  EXPECT_TRUE(std::isnan(figure("short", "overhead")));
  EXPECT_EQ(column("short/epochs.csv", "train_loss")[0], column("long/epochs.csv", "train_loss")[0]);
}

TEST_F(Run, KeepsTheLastGoodCheckpointWhenTheDiskFillsUp) {
  done(into("disk", {"training.epochs=1"}));
  const std::string before = bytes("disk/checkpoints/last.safetensors");
  failed(program(into("disk", {"training.epochs=2", "--resume"}), before.size() / 2), 4,
         {"last.safetensors"});
  EXPECT_EQ(bytes("disk/checkpoints/last.safetensors"), before);
}

TEST_F(Run, AveragesPredictionsOverMirroredInputsWhereItsExperimentSaysSo) {
  const Words plain = {"evaluate.postprocessing=none", "training.epochs=1"};
  done(into("plain", plain));
  done(into("mirrored", plain + Words{"evaluate.tta=true"}));
  EXPECT_EQ(bytes("mirrored/checkpoints/last.safetensors"), bytes("plain/checkpoints/last.safetensors"));
  EXPECT_NE(bytes("mirrored/calibration.csv"), bytes("plain/calibration.csv"));
  const Csv dice = read_csv(folder_ / "mirrored" / "dice.csv");
  const std::string id = dice.rows[0][dice.column("case", "dice.csv")];
  expect_predicts("plain", {"--tta"}, id, "mirrored", "\"tta\": true");
  expect_predicts("mirrored", {}, id, "mirrored", "\"tta\": true");
  const Outcome planned = done({"predict", path("plain"), "--dry-run", "--probabilities", "--input",
                                path("data"), "--out", path("planned")});
  EXPECT_TRUE(contains(planned.output, "time per case"));
  EXPECT_FALSE(fs::exists(folder_ / "planned"));
}

TEST_F(Run, ScoresTheMeanOfItsRepeatsWhereItsExperimentSaysSo) {
  const Words plain = {"evaluate.postprocessing=none", "training.epochs=1", "training.repeats=2"};
  done(into("each", plain));
  done(into("mean", plain + Words{"evaluate.ensemble=true"}));
  const Csv dice = read_csv(folder_ / "mean" / "dice.csv");
  EXPECT_EQ(2 * dice.rows.size(), read_csv(folder_ / "each" / "dice.csv").rows.size());
  EXPECT_EQ(read_csv(folder_ / "mean" / "timing.csv").rows.size(), 2u);  // both repeats were trained
  const std::string id = dice.rows[0][dice.column("case", "dice.csv")], map = id + ".nii.gz";
  expect_predicts("each", {"--ensemble"}, id, "mean", "\"ensemble\": true");
  expect_predicts("mean", {}, id, "mean", "\"ensemble\": true");
  for (const char* repeat : {"repeat_1", "repeat_2"})
    EXPECT_NE(bytes(std::string("each/predictions/") + repeat + "/" + map), bytes("mean/predictions/" + map));

  done({"run", path("each/experiment.yaml"), "--out", path("each"), "--resume", "evaluate.ensemble=true"});
  EXPECT_EQ(bytes("each/predictions/" + map), bytes("mean/predictions/" + map));
  EXPECT_FALSE(fs::exists(folder_ / "each/predictions/repeat_1"));
}

// Sides of 20 voxels are not a multiple of 4 patches; a volume is predicted in several windows, also in
// validation.
TEST_F(Run, TrainsOnPatchesAndPredictsWithWindowsMirrorsAndTheMeanOfItsRepeats) {
  const Words patches = {"preprocess.resolution=18", "training.patch=[16, 12, 8]", "training.epochs=1",
                         "training.repeats=2", "evaluate.postprocessing=none"};
  done(into("patches", patches));
  const Csv dice = read_csv(folder_ / "patches" / "dice.csv");
  const std::string id = dice.rows[0][dice.column("case", "dice.csv")], map = id + ".nii.gz";
  const auto predict = [&](const std::string& out, const Words& more) {
    return program(Words{"predict", path("patches"), "--input", path("data/" + id), "--out", path(out)} +
                   more);
  };
  succeeded(predict("plain", {}));
  EXPECT_EQ(bytes("plain/repeat_2/" + map), bytes("patches/predictions/repeat_2/" + map));
  succeeded(predict("less", {"memory.budget=64MiB", "memory.host=none"}));
  EXPECT_EQ(bytes("less/repeat_2/" + map), bytes("plain/repeat_2/" + map));
  const Outcome all = succeeded(predict("all", {"--tta", "--ensemble", "--overlap", "0", "--keep-largest",
                                                "whole_tumor,tumor_core", "--probabilities"}));
  EXPECT_TRUE(fs::exists(folder_ / "all" / map));
  EXPECT_FALSE(fs::exists(folder_ / "all" / "repeat_1"));
  for (const char* output : {"necrosis", "oedema", "enhancing"})
    EXPECT_TRUE(fs::exists(folder_ / "all/probabilities" / (id + "_" + output + ".nii.gz"))) << output;
  EXPECT_TRUE(contains(bytes("all/prediction.json"), "\"ensemble\": true"));

  // Again into the same folder: files of the first prediction that the second one does not write are removed.
  const Outcome second = succeeded(predict("all", {}));
  EXPECT_TRUE(contains(second.output, "2 label maps of 1 case, of 2 repeats each"));
  EXPECT_FALSE(fs::exists(folder_ / "all" / map));
  EXPECT_FALSE(fs::exists(folder_ / "all/probabilities" / (id + "_oedema.nii.gz")));
  EXPECT_EQ(bytes("all/repeat_2/" + map), bytes("plain/repeat_2/" + map));
  const std::string record = bytes("all/prediction.json");
  EXPECT_FALSE(contains(record, "\"ensemble\": true"));
  EXPECT_TRUE(contains(record, "\"repeat_1/" + map + "\""));

  EXPECT_TRUE(contains(predict("whole", {"--window", "whole"}).output, "must be a multiple of 4"));
  failed(predict("large", {"--window", "20"}), 2);
  failed(predict("region", {"--keep-largest", "tumour"}), 2);
}

TEST_F(Run, RefusesWhatIsWrongBeforeItWritesAnything) {
  for (const auto& [setting, code, says] : std::vector<std::tuple<std::string, int, std::string>>{
           {"preprocess.resolution=30", 2, "28"},
           {"training.patch=20", 2, "training.patch: 20 voxels along x exceed"},
           {"training.patch=[16, 16, 10]", 2, "z is 10; use 8 or 12"},
           {"memory.budget=1KiB", 4, "memory.budget"},
           {"memory.device=cuda", 4, "CUDA"},
           {"data.root=nowhere", 3, "nowhere"},
           {"data.modalities=[flair,pet]", 2, "pet"}}) {
    SCOPED_TRACE(setting);
    refused(code, into("refused", {setting}), says);
    EXPECT_FALSE(fs::exists(folder_ / "refused"));
  }
}

TEST_F(Run, GoesOnUnderItsFoldersName) {
  const std::string run = path("named");
  done(into("named", {"training.epochs=2"}));
  const Outcome anew = failed(program({"run", run}), 2);
  EXPECT_TRUE(
      contains(anew.output, "is the folder of a run. Continue it with --resume, or start a new run with"));
  done({"run", run, "--resume", "training.epochs=3"});
  EXPECT_EQ(read_csv(folder_ / "named/epochs.csv").rows.size(), 3u);
  EXPECT_TRUE(contains(program({"plan", run}).output, "such as " + run + "/experiment.yaml"));
}

TEST_F(Run, BeginsWhereItWasKilledBeforeItsFirstFileWasWritten) {
  fs::create_directories(folder_ / "begun");
  write("begun/.lock", "");
  write("begun/checksums.json", R"({"experiment.yaml": ["0123456789abcdef", "none"]})");
  write("begun/notes.txt", "mine");
  refused(2, into("begun", {"--resume", "training.epochs=1"}), "is not empty and contains no run");
  refused(2, into("begun", {"training.epochs=1"}), "is not empty and contains no run");
  fs::remove(folder_ / "begun/notes.txt");
  fs::copy(folder_ / "begun", folder_ / "again");
  for (const Words& words :
       {into("begun", {"--resume", "training.epochs=1"}), into("again", {"training.epochs=1"})})
    done(words);
  EXPECT_TRUE(fs::exists(folder_ / "begun/report.html") && fs::exists(folder_ / "again/report.html"));
}

}  // namespace
}  // namespace voxswap::cli
