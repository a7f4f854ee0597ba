// Tests the built program like a user or a script: exit codes and messages.
#include "tests/cli/program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/text.h"

namespace voxswap::cli {
namespace {

// Splits a line like a shell: at blanks outside single quotes.
Words words_of(const std::string& line) {
  Words words;
  bool quoted = false, open = false;
  for (const char c : line) {
    if (c == '\'') quoted = !quoted;
    const bool ends = c == ' ' && !quoted;
    if (!ends && !open) words.emplace_back();
    open = !ends;
    if (!ends && c != '\'') words.back() += c;
  }
  return words;
}

class Program : public ProgramInAFolder {
 protected:
  // The working directory is the test's folder.
  Outcome call(const std::string& arguments) const {
    return run_program(words_of(arguments),
                       {.log = log_, .errors = folder_ / "stderr.txt", .folder = folder_});
  }
};

// Expects this exit code, a message with these words on stderr, and nothing on stdout.
void expect_refusal(const Outcome& result, int code, const std::string& words) {
  EXPECT_EQ(result.code, code) << result.errors;
  EXPECT_TRUE(contains(result.errors, words));
  EXPECT_EQ(result.output, "");
}

constexpr const char* tiny =
    "name: tiny\n"
    "data: {root: p, cache: cache}\n"
    "preprocess: {resolution: 16}\n"
    "network: {base_filters: 2, depth: 2}\n"
    "training: {epochs: 1}\n";

TEST_F(Program, ExplainsItselfAndEachCommand) {
  for (const char* command : {"run", "sweep", "train", "predict", "evaluate", "report", "plan", "bench",
                              "check", "phantom", "info"}) {
    const Outcome help = call(std::string(command) + " --help");
    EXPECT_EQ(help.code, 0) << command;
    EXPECT_TRUE(contains(help.output, std::string("voxswap ") + command));
    EXPECT_TRUE(contains(call("--help").output, command));
  }
  EXPECT_TRUE(contains(call("run --help").output, "training.optimizer.learning_rate"));
  EXPECT_EQ(call("").code, 2);
  EXPECT_EQ(call("--version").code, 0);
}

// All options whose help says FLOAT; a command with a new one needs a line here.
TEST_F(Program, RefusesNumbersThatAreNotFiniteInEveryOption) {
  const std::map<std::string, std::string> least = {{"predict", "r --input a --out b --window 8"},
                                                    {"evaluate", "--truth a --prediction b"},
                                                    {"configure", "d"},
                                                    {"watch", "r"}};
  int options = 0;
  for (const char* command :
       {"run", "sweep", "train", "predict", "evaluate", "report", "plan", "bench", "check", "phantom", "info",
        "watch", "preview", "configure", "convert", "export", "import"}) {
    std::string name;
    for (const std::string& word : split(call(std::string(command) + " --help").output, ' ')) {
      if (word.starts_with("FLOAT") && name.starts_with("--")) {
        ASSERT_TRUE(least.contains(command)) << command << " " << name;
        ++options;
        for (const char* value : {"nan", "-nan", "inf", "-inf"}) {
          const Outcome outcome = call(format("{} {} {} {}", command, least.at(command), name, value));
          EXPECT_EQ(outcome.code, 2) << command << " " << name << " " << value << outcome.errors;
          EXPECT_TRUE(contains(outcome.errors, name)) << outcome.errors;
        }
      }
      if (!word.empty()) name = word;
    }
  }
  EXPECT_GE(options, 5);
}

TEST_F(Program, RefusesWrongUsageWithASuggestion) {
  expect_refusal(call("trian"), 2, "Did you mean 'train'?");
  expect_refusal(call("sweep x.yaml"), 2, "no such experiment file");
  expect_refusal(call("info --jsn"), 2, "Did you mean '--json'?");
  expect_refusal(call("run"), 2, "EXPERIMENT is required");
  expect_refusal(call("info --log-level loud"), 2, "expected one of debug");
  expect_refusal(call("phantom --out p --size 8"), 2, "--size: expected X or X,Y,Z");
  expect_refusal(call("phantom --out p --cases many"), 2, "many");
  expect_refusal(call("phantom --out p --seed -1"), 2, "--seed: Value -1 not in range 0 to");
  const Outcome jobs = call("sweep x.yaml --jobs 0");
  expect_refusal(jobs, 2, "--jobs: Value 0 not in range 1 to 1024. See");
  expect_refusal(call("evaluate --truth a --prediction b --out c.csv --regions tumor=x"), 2,
                 "is not a label value");
  expect_refusal(call("evaluate --truth a --prediction b --out c.csv --labels 'core=1,4'"), 2,
                 "which is a region. Use --regions");
  expect_refusal(call("evaluate --truth a --prediction b --out c.csv --metrics dice,hd59"), 2,
                 "--metrics: unknown metric 'hd59'. Did you mean 'hd95'?");
  expect_refusal(call("evaluate --truth a --prediction b --out c.csv --empty monai"), 2, "--empty");
  write("annotated.csv", "case,labels\nx,2;edma\n");
  expect_refusal(
      call("evaluate --truth a --prediction b --out c.csv --labels edema=2 --annotated annotated.csv"), 2,
      "--annotated: annotated.csv: 'edma' is neither a label value nor a name in --labels");
}

TEST_F(Program, RefusesExperimentsWithPlaceAndRemedy) {
  expect_refusal(call("run nowhere.yaml"), 2, "nowhere.yaml: no such experiment file");
  write("key.yaml", "name: a\npreprocess:\n  resolutoin: 64\n");
  expect_refusal(call("run key.yaml"), 2,
                 "key.yaml:3: unknown key 'preprocess.resolutoin'. Did you mean 'preprocess.resolution'?");
  write("type.yaml", "training:\n  epochs: many\n");
  expect_refusal(call("train type.yaml"), 2, "type.yaml:2: training.epochs: expected a whole number");
  write("good.yaml", "name: good\n");
  expect_refusal(call("plan good.yaml preprocess.resolution=100"), 2, "Use 96 or 112");
  expect_refusal(call("run good.yaml training.epochs"), 2, "Expected key=value");
  expect_refusal(call("predict . --input p --out q"), 3, "is not a run");
}

TEST_F(Program, ReportsMissingAndEmptyDataSets) {
  write("study.yaml", tiny);
  EXPECT_EQ(call("run study.yaml").code, 3);
  fs::create_directories(folder_ / "p");
  expect_refusal(call("run study.yaml"), 3, "the data set is empty");
  expect_refusal(call("check p"), 3, "the data set is empty");
  EXPECT_FALSE(fs::exists(folder_ / "runs"));  // nothing is written before the data have been checked
}

TEST_F(Program, RefusesFoldersItMustNotOrCannotWriteTo) {
  write("study.yaml", tiny);
  write("file", "a file with this name exists");
  expect_refusal(call("run study.yaml --out file/run"), 1, "is not a folder");
  fs::create_directories(folder_ / "taken");
  write("taken/experiment.yaml", "name: tiny\n");
  expect_refusal(call("run study.yaml --out taken"), 2, "--resume");
  expect_refusal(call("run study.yaml --out taken --resume"), 2, "preprocess.resolution");
}

TEST_F(Program, LooksWhereItIsToWriteBeforeItWorks) {
  write("tiny.yaml", tiny);
  fs::create_directories(folder_ / "maps");
  expect_refusal(call("evaluate --truth maps --prediction maps --out missing/dice.csv"), 2,
                 "there is no folder");
  expect_refusal(call("evaluate --truth maps --prediction maps --out maps"), 2, "is a folder");
  expect_refusal(call("preview tiny.yaml --out sheet.jpg"), 2, "Name it sheet.png");
  expect_refusal(call("preview tiny.yaml --out missing/sheet.png"), 2, "there is no folder");
  write("file", "");
  for (const char* command : {"plan", "bench"})
    expect_refusal(call(format("{} tiny.yaml --out file/x", command)), 1, "is not a folder");
}

TEST_F(Program, ChecksThePhantomsItMadeAndForecastsTheirRunWithoutWriting) {
  EXPECT_EQ(call("phantom --out p --cases 3 --size 24,24,16 --seed 1 --quiet").code, 0);
  const Outcome check = call("check p");
  EXPECT_EQ(check.code, 0) << check.errors;
  EXPECT_TRUE(contains(check.output, "3 cases", "0 errors"));
  EXPECT_TRUE(contains(call("check p --json").output, "\"foreground_statistics\""));

  write("study.yaml", tiny);
  const Outcome dry = call("run study.yaml --dry-run --out nowhere");
  EXPECT_EQ(dry.code, 0) << dry.errors;
  EXPECT_TRUE(contains(dry.output, "memory, peak", "  resolution: 16\n", "  planner: hybrid\n"));
  EXPECT_FALSE(fs::exists(folder_ / "nowhere") || fs::exists(folder_ / "runs"));
  expect_refusal(call("plan study.yaml memory.budget=1KiB"), 4, "memory.budget");
  const Outcome plan = call("plan study.yaml --json");
  EXPECT_EQ(plan.code, 0) << plan.errors;
  EXPECT_TRUE(plan.output.starts_with("{")) << plan.output;
}

// No GPU is visible to the program, as on a machine without one.
TEST_F(Program, RefusesAGpuThatIsNotThereAndComputesWithoutIt) {
  ASSERT_EQ(call("phantom --out p --cases 3 --size 24,24,16 --seed 1 --quiet").code, 0);
  write("study.yaml", tiny);
  ::setenv("CUDA_VISIBLE_DEVICES", "", 1);
  for (const char* command : {"run", "train", "plan", "bench"})
    expect_refusal(call(std::string(command) + " study.yaml memory.device=cuda"), 4,
                   "memory.device: cuda: no CUDA device: ");
  expect_refusal(call("run study.yaml memory.device=cuda:1"), 4, "`voxswap info` lists the devices");
  expect_refusal(
      call("run study.yaml memory.device=cuda:x"), 2,
      "expected one of auto, cpu, cuda, cuda:N, reference, found 'cuda:x'. Did you mean 'cuda:N'?");
  expect_refusal(call("run study.yaml memory.device=cuda:N"), 2, "expected cuda:N with the number of a GPU");
  expect_refusal(call("plan study.yaml memory.planner=unified"), 2, "unified needs a GPU");
  EXPECT_FALSE(fs::exists(folder_ / "runs"));
  const Outcome plan = call("plan study.yaml --json --quiet");  // memory.device: auto
  EXPECT_EQ(plan.code, 0) << plan.errors;
  EXPECT_EQ(plan.errors, "");
  EXPECT_TRUE(contains(call("info --json").output, "\"no_device\""));
  ::unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_F(Program, PrintsForABugReportTheSystemAndItsOwnVariablesButNoSecretsAndNoHome) {
  const std::string home = std::getenv("HOME") != nullptr ? std::getenv("HOME") : "/root";
  ::setenv("HOME", "/home/someone", 1);
  ::setenv("VOXSWAP_TRIED", "/home/someone/build:/home/someone/more", 1);
  ::setenv("CLOUD_TOKEN", "open sesame", 1);
  const Outcome report = call("info --report");
  const Json json = Json::parse(call("info --report --json").output);
  ::setenv("HOME", home.c_str(), 1);
  ::unsetenv("VOXSWAP_TRIED");
  ::unsetenv("CLOUD_TOKEN");
  EXPECT_EQ(report.code, 0) << report.errors;
  EXPECT_TRUE(report.output.starts_with("```\n") && report.output.ends_with("```\n"));
  for (const char* name : {"voxswap", "compiler", "libraries", "processor", "backend onednn", "system",
                           "memory", "disk here", "VOXSWAP_TRIED", "~/build:~/more"})
    EXPECT_TRUE(contains(report.output, name));
  for (const char* secret : {"sesame", "CLOUD_TOKEN", "someone", folder_.c_str()}) {
    EXPECT_FALSE(contains(report.output, secret));
    EXPECT_FALSE(contains(json.dump(), secret));
  }
  EXPECT_EQ(json["surroundings"]["VOXSWAP_TRIED"], "~/build:~/more");
}

// An experiment on data that do not exist yet, planned for a device that is not present.
constexpr const char* distant =
    "data: {root: nowhere, modalities: [t1, t2], labels: {core: 1, edge: 2}, cache: cache}\n"
    "preprocess: {resolution: 64}\n"
    "network: {depth: 2}\n"
    "memory: {budget: 100MiB}\n";

TEST_F(Program, PlansForADeviceAndDataThatAreNotThere) {
  write("study.yaml", distant);
  const Outcome plan = call("plan study.yaml --as v100");
  EXPECT_EQ(plan.code, 0) << plan.errors;
  EXPECT_TRUE(contains(plan.output, "planner hybrid", "simulated v100", "nowhere does not exist",
                       "2 channels and 2 outputs", "host pool", "predicted", "bound"));
  const Outcome all = call("plan study.yaml --as v100 --all");
  EXPECT_EQ(all.code, 0) << all.errors;
  for (const char* planner : {"keep", "hybrid", "checkpoint", "tflms", "lms-threshold"})
    EXPECT_TRUE(contains(all.output, std::string("\n") + planner + " ")) << planner;
  EXPECT_TRUE(contains(all.output, "\nkeep: memory.budget: "));
  const Outcome json = call("plan study.yaml --as h200 --all --json");
  EXPECT_TRUE(json.output.starts_with("[")) << json.output;
  EXPECT_TRUE(contains(json.output, "\"why_not\"", "\"bound_step_seconds\""));
  expect_refusal(call("plan study.yaml --as v10"), 2, "Did you mean 'v100'?");
  expect_refusal(call("plan study.yaml data.labels=auto"), 3, "data.labels");
  expect_refusal(call("plan study.yaml --as v100 memory.budget=1MiB memory.planner=keep"), 4,
                 "No planner can use less");
}

// Without a host pool or disk, as on a CPU, nothing can be swapped out.
TEST_F(Program, RefusesWhatIsTooLargeForAnyPlanOrForTheLibrary) {
  write("large.yaml",
        "name: large\ndata: {root: nowhere, modalities: [flair], labels: {tumor: 1}}\n"
        "network: {depth: 3, base_filters: 4}\nmemory: {device: cpu, budget: 4MiB, host: none}\n");
  const Outcome refused = call("plan large.yaml --estimate preprocess.resolution=96 memory.pieces=none");
  expect_refusal(refused, 4, "memory.budget: 4.00 MiB");
  EXPECT_TRUE(contains(refused.errors,
                       "a lower preprocess.resolution, training.precision: bf16 or f16, or a "
                       "lower network.base_filters"));
  EXPECT_TRUE(contains(refused.errors, "'memory.pieces' is now called 'memory.slabs'"));
  expect_refusal(call("plan large.yaml --estimate preprocess.resolution=96 memory.planner=tflms"), 4,
                 "a host pool (memory.host)");
  expect_refusal(call("plan large.yaml --estimate preprocess.resolution=2048 memory.slabs=none"), 4,
                 "oneDNN supports at most 2147483647 voxels per convolution");
  expect_refusal(call("plan large.yaml --estimate memory.budget=auto memory.host=900TiB"), 4,
                 "memory.host: 900.00 TiB is not less than the memory");
  expect_refusal(call("plan large.yaml --all --max-batch"), 2, "--all compares planners for one size");
}

TEST_F(Program, FindsTheLargestThatFitsAndSaysWhatStopsIt) {
  write("study.yaml", distant);
  const std::string small = "plan study.yaml --as v100 --quiet preprocess.resolution=16 memory.budget=2MiB ";
  const Outcome by_host = call(small + "--max-resolution");
  EXPECT_EQ(by_host.code, 0) << by_host.errors;
  EXPECT_TRUE(contains(by_host.output, "largest resolution\n", " 32.00 GiB ", "256.00 GiB ", "at most 1.25x",
                       "does not fit: memory.budget"));
  const Outcome one = call(small + "--max-batch memory.host=1GiB");
  EXPECT_TRUE(contains(one.output, "largest batch\n", "   1.00 GiB "));
  EXPECT_FALSE(contains(one.output, "32.00 GiB"));
  const Outcome json = call(
      "plan study.yaml --as v100 --max-depth --json --quiet preprocess.resolution=16 memory.budget=12MiB");
  EXPECT_TRUE(contains(json.output, "\"dimension\": \"depth\"",
                       "\"at_most\": ", "\"memory_host_bytes\": 274877906944"));
}

TEST_F(Program, WritesPlansAndTheirTimeLines) {
  write("study.yaml", distant);
  EXPECT_EQ(call("plan study.yaml --as v100 --out p memory.planner=tflms").code, 0);
  for (const char* file : {"plan.json", "timeline.json", "arena.svg"})
    EXPECT_FALSE(read_file(folder_ / "p" / file).empty()) << file;
}

TEST_F(Program, MeasuresStepsBesideWhatWasPredicted) {
  write("study.yaml", distant);
  const std::string sizes =
      "study.yaml preprocess.resolution=16 network.base_filters=4 network.depth=3 memory.host=1GiB "
      "memory.planner=";
  const auto small = [&](const std::string& planner) {
    const Outcome refused = call("plan --estimate " + sizes + planner + " memory.budget=1KiB");
    EXPECT_EQ(refused.code, 4) << refused.errors;
    return format("bench --steps 3 {}{} memory.budget={}B", sizes, planner, least_budget(refused.errors));
  };
  const Outcome bench = call(small("hybrid") + " --trace --out b --quiet");
  EXPECT_EQ(bench.code, 0) << bench.errors;
  EXPECT_TRUE(contains(bench.output, "measured / predicted", "bound", "megavoxels", "arithmetic",
                       "memory traffic", "stall", "host pool", "3 after a warm-up"));
  for (const char* file : {"bench.json", "plan.json", "timeline.json"})
    EXPECT_TRUE(read_file(folder_ / "b" / file).starts_with("{")) << file;
  const Outcome json = call(small("tflms") + " --json --quiet");
  EXPECT_EQ(json.code, 0) << json.errors;
  EXPECT_TRUE(contains(json.output, "\"planner\": \"tflms\"",
                       "\"measured_over_predicted\": ", "\"step_flops\": ", "\"step_bytes\": "));
  expect_refusal(call("bench study.yaml --steps 0"), 2, "--steps");
}

TEST_F(Program, NeverWritesOverWhatItReadsNorUnaskedOverWhatItDidNotWrite) {
  ASSERT_EQ(call("phantom --out p --layout msd --cases 3 --size 24,24,16 --seed 1 --quiet").code, 0);
  write("study.yaml", tiny);
  ASSERT_EQ(call("run study.yaml --out r --quiet").code, 0);
  const std::string truth = bytes("p/labelsTr/BRATS_001.nii.gz"), scan = bytes("p/imagesTr/BRATS_001.nii.gz"),
                    forecast = bytes("r/plan.json");
  for (const char* force : {"", " --force"}) {
    for (const char* out : {"p/labelsTr", "p/imagesTr"})
      expect_refusal(call(std::string("predict r --input p --quiet --out ") + out + force), 2,
                     "never overwritten");
    expect_refusal(call(std::string("evaluate --truth p/labelsTr --prediction p/labelsTr --out "
                                    "p/labelsTr/BRATS_001.nii.gz") +
                        force),
                   2, "never overwritten");
  }
  expect_refusal(call("plan study.yaml --estimate --out r"), 2, "plan.json: exists already");
  expect_refusal(call("bench study.yaml --steps 1 --out r"), 2, "plan.json: exists already");
  expect_refusal(call("preview study.yaml --out study.yaml --force"), 2, "never overwritten");
  EXPECT_TRUE(bytes("p/labelsTr/BRATS_001.nii.gz") == truth);
  EXPECT_TRUE(bytes("p/imagesTr/BRATS_001.nii.gz") == scan);
  EXPECT_TRUE(bytes("r/plan.json") == forecast);

  // The program overwrites its own files, but not if somebody else changed them.
  const std::vector<std::string> commands = {
      "predict r --input p --out q --quiet", "evaluate --truth p/labelsTr --prediction q --out s.csv --quiet",
      "plan study.yaml --estimate --out f", "report r --out t --quiet"};
  const std::vector<std::string> outputs = {"q/BRATS_002.nii.gz", "s.csv", "f/arena.svg", "t/epochs.csv"};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    EXPECT_EQ(call(commands[i]).code, 0);
    const Outcome second = call(commands[i]);
    EXPECT_EQ(second.code, 0) << second.errors;
  }
  for (std::size_t i = commands.size(); i-- > 0;) {
    write(outputs[i], "mine");
    expect_refusal(call(commands[i]), 2, outputs[i] + ": exists already");
    EXPECT_EQ(read_file(folder_ / outputs[i]), "mine");
    EXPECT_EQ(call(commands[i] + " --force").code, 0) << commands[i];
  }
}

// Each of these searches once crashed because a volume was larger than oneDNN can count.
TEST_F(Program, SaysTwiceTheSameOfStepsThatAreFarTooLarge) {
  write("large.yaml",
        "name: large\ndata: {root: nowhere, modalities: [t1, t1ce, t2, flair], labels: {a: 1, b: 2, c: 4}}\n"
        "memory: {device: cpu, budget: 1MiB, host: none, planner: keep}\n");
  for (const char* settings :
       {"preprocess.resolution=512 network.base_filters=16 network.depth=5",
        "preprocess.resolution=656 network.base_filters=8 network.depth=3",
        "preprocess.resolution=656 network.base_filters=8 network.depth=3 training.precision=f32"}) {
    const std::string command = join({"plan large.yaml --estimate", settings}, " ");
    const Outcome first = call(command), second = call(command);
    expect_refusal(first, 4, "needs at least");
    EXPECT_EQ(second.code, 4) << command;
    EXPECT_EQ(first.errors, second.errors) << command;
  }
  expect_refusal(
      call("plan large.yaml --estimate preprocess.resolution=1024 network.base_filters=8 network.depth=3"), 4,
      "needs at least");
}

TEST_F(Program, TakesPhantomsToScoresAndContinuesOnlyTheSameExperiment) {
  ASSERT_EQ(call("phantom --out p --cases 3 --size 24,24,16 --seed 1 --quiet").code, 0);
  write("study.yaml", tiny);
  const Outcome run = call("run study.yaml --out r --quiet");
  ASSERT_EQ(run.code, 0) << run.errors;
  EXPECT_TRUE(contains(run.output, "whole_tumor"));
  EXPECT_TRUE(contains(bytes("r/experiment.yaml"), "ran_with:\n  voxswap: "));
  EXPECT_EQ(call("predict r --input p --out q --quiet").code, 0);
  fs::copy(folder_ / "p", folder_ / "damaged", fs::copy_options::recursive);
  fs::resize_file(folder_ / "damaged/BraTS2021_00001/BraTS2021_00001_t1.nii.gz", 300);
  expect_refusal(call("predict r --input damaged --out d --quiet"), 3, "1 of 3 cases could not be predicted");
  EXPECT_TRUE(bytes("d/BraTS2021_00002.nii.gz") == bytes("q/BraTS2021_00002.nii.gz"));
  EXPECT_FALSE(fs::exists(folder_ / "d/BraTS2021_00001.nii.gz"));
  const Outcome scores =
      call("evaluate --truth p --prediction q --out dice.csv --regions 'whole=1,2,4;core=1,4'");
  EXPECT_EQ(scores.code, 0) << scores.errors;
  EXPECT_TRUE(bytes("dice.csv").starts_with("run,repeat,resolution,evaluated_at,case,region,dice,"));
  const Outcome json = call(
      "evaluate --truth p --prediction q --out all.csv --labels necrosis=1 --metrics all --json --quiet");
  EXPECT_TRUE(contains(json.output, "\"lesion_wise_hd95\": ")) << json.errors;
  EXPECT_TRUE(contains(json.output, "\"region\": \"necrosis\""));
  EXPECT_TRUE(contains(bytes("all.csv"), ",predicted_voxels,precision,volume_difference,"));
  const Outcome table = call("evaluate --truth p --prediction q --quiet");
  EXPECT_EQ(table.code, 0) << table.errors;
  EXPECT_TRUE(contains(table.output, "label_4"));
  write("annotated.csv", "case,labels\nBraTS2021_00002,1;2;4\n");
  EXPECT_EQ(
      call("evaluate --truth p --prediction q --out annotated_scores.csv --annotated annotated.csv --quiet")
          .code,
      0);
  fs::remove(folder_ / "q/BraTS2021_00001.nii.gz");
  expect_refusal(call("evaluate --truth p --prediction q --out some.csv --quiet"), 3, "--partial");
  EXPECT_EQ(call("evaluate --truth p --prediction q --out some.csv --partial --quiet").code, 0);
  expect_refusal(call("run study.yaml --out r"), 2, "--resume");
  expect_refusal(call("run study.yaml --out r --resume training.seed=2"), 2, "training.seed");
  EXPECT_EQ(call("run study.yaml --out r --resume --quiet").code, 0);
  EXPECT_EQ(call("run study.yaml --out r --resume --quiet training.epochs=3").code, 0);
  expect_refusal(call("run study.yaml --out r --resume training.epochs=2"), 2, "has completed 3 epochs");
  // Errors in the data are reported before there is a run to resume.
  expect_refusal(call("run study.yaml --out wrong --quiet data.labels='{a: 1}' data.regions='{a: [1]}'"), 3,
                 "data.labels");
  EXPECT_FALSE(fs::exists(folder_ / "wrong"));
}

}  // namespace
}  // namespace voxswap::cli
