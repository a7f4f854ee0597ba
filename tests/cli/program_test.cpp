// Tests the built program like a user or a script: exit codes and messages.
#include "tests/cli/program.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>

#include "base/text.h"
#include "tests/environment.h"

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
  Outcome done(const std::string& arguments) const {
    SCOPED_TRACE(arguments);
    return succeeded(call(arguments));
  }
  // Expects this exit code, a message with these words on stderr, and nothing on stdout.
  Outcome refused(int code, const std::string& arguments, const std::string& words) const {
    SCOPED_TRACE(arguments);
    const Outcome outcome = failed(call(arguments), code, {words});
    EXPECT_EQ(outcome.output, "");
    return outcome;
  }
};

constexpr const char* tiny =
    "name: tiny\n"
    "data: {root: p, cache: cache}\n"
    "preprocess: {resolution: 16}\n"
    "network: {base_filters: 2, depth: 2}\n"
    "training: {epochs: 1}\n";

TEST_F(Program, ExplainsItselfAndEachCommand) {
  const std::string help = call("--help").output;
  for (const char* command : {"run", "sweep", "train", "predict", "evaluate", "report", "plan", "bench",
                              "check", "phantom", "info"}) {
    EXPECT_TRUE(contains(done(std::string(command) + " --help").output, std::string("voxswap ") + command));
    EXPECT_TRUE(contains(help, command));
  }
  EXPECT_TRUE(contains(call("run --help").output, "training.optimizer.learning_rate"));
  failed(call(""), 2);
  done("--version");
}

// All options whose help says FLOAT; a command with a new one needs a line here.
TEST_F(Program, RefusesNumbersThatAreNotFiniteInEveryOption) {
  const std::map<std::string, std::string> least = {{"predict", "r --input a --out b --window 8"},
                                                    {"evaluate", "--truth a --prediction b"},
                                                    {"configure", "d"},
                                                    {"run", "d"},
                                                    {"train", "d"},
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
  refused(2, "trian", "Did you mean 'train'?");
  refused(2, "sweep x.yaml", "no such experiment file");
  refused(2, "info --jsn", "Did you mean '--json'?");
  refused(2, "run", "EXPERIMENT is required");
  refused(2, "info --log-level loud", "expected one of debug");
  refused(2, "phantom --out p --size 8", "--size: expected X or X,Y,Z");
  refused(2, "phantom --out p --cases many", "many");
  refused(2, "phantom --out p --seed -1", "--seed: Value -1 not in range 0 to");
  refused(2, "predict r --watch in --out map.nii.gz", "--watch: needs a folder");
  refused(2, "sweep x.yaml --jobs 0", "--jobs: Value 0 not in range 1 to 1024. See");
  refused(2, "evaluate --truth a --prediction b --out c.csv --regions tumor=x", "is not a label value");
  refused(2, "evaluate --truth a --prediction b --out c.csv --labels 'core=1,4'",
          "which is a region. Use --regions");
  refused(2, "evaluate --truth a --prediction b --out c.csv --metrics dice,hd59",
          "--metrics: unknown metric 'hd59'. Did you mean 'hd95'?");
  refused(2, "evaluate --truth a --prediction b --out c.csv --empty monai", "--empty");
  write("annotated.csv", "case,labels\nx,2;edma\n");
  refused(2, "evaluate --truth a --prediction b --out c.csv --labels edema=2 --annotated annotated.csv",
          "--annotated: annotated.csv: 'edma' is neither a label value nor a name in --labels");
}

TEST_F(Program, RefusesExperimentsWithPlaceAndRemedy) {
  refused(2, "run nowhere.yaml", "nowhere.yaml: no such experiment file");
  write("key.yaml", "name: a\npreprocess:\n  resolutoin: 64\n");
  refused(2, "run key.yaml",
          "key.yaml:3: unknown key 'preprocess.resolutoin'. Did you mean 'preprocess.resolution'?");
  write("type.yaml", "training:\n  epochs: many\n");
  refused(2, "train type.yaml", "type.yaml:2: training.epochs: expected a whole number");
  write("good.yaml", "name: good\n");
  refused(2, "plan good.yaml preprocess.resolution=100", "Use 96 or 112");
  refused(2, "run good.yaml training.epochs", "Expected key=value");
  refused(3, "predict . --input p --out q", "is not a run");
}

TEST_F(Program, ReportsMissingAndEmptyDataSets) {
  write("study.yaml", tiny);
  failed(call("run study.yaml"), 3);
  fs::create_directories(folder_ / "p");
  refused(3, "run study.yaml", "the data set is empty");
  refused(3, "check p", "the data set is empty");
  EXPECT_FALSE(fs::exists(folder_ / "runs"));  // nothing is written before the data have been checked
}

TEST_F(Program, RefusesFoldersItMustNotOrCannotWriteTo) {
  write("study.yaml", tiny);
  write("file", "a file with this name exists");
  refused(1, "run study.yaml --out file/run", "is not a folder");
  fs::create_directories(folder_ / "taken");
  write("taken/experiment.yaml", "name: tiny\n");
  refused(2, "run study.yaml --out taken", "--resume");
  refused(2, "run study.yaml --out taken --resume", "preprocess.resolution");
}

TEST_F(Program, LooksWhereItIsToWriteBeforeItWorks) {
  write("tiny.yaml", tiny);
  fs::create_directories(folder_ / "maps");
  refused(2, "evaluate --truth maps --prediction maps --out missing/dice.csv", "there is no folder");
  refused(2, "evaluate --truth maps --prediction maps --out maps", "is a folder");
  refused(2, "preview tiny.yaml --out sheet.jpg", "Name it sheet.png");
  refused(2, "preview tiny.yaml --out missing/sheet.png", "there is no folder");
  write("file", "");
  for (const char* command : {"plan", "bench"})
    refused(1, format("{} tiny.yaml --out file/x", command), "is not a folder");
}

TEST_F(Program, ChecksThePhantomsItMadeAndForecastsTheirRunWithoutWriting) {
  done("phantom --out p --cases 3 --size 24,24,16 --seed 1 --quiet");
  const Outcome check = done("check p");
  EXPECT_TRUE(contains(check.output, "3 cases", "0 errors"));
  EXPECT_TRUE(contains(call("check p --json").output, "\"foreground_statistics\""));

  write("study.yaml", tiny);
  const Outcome dry = done("run study.yaml --dry-run --out nowhere");
  EXPECT_TRUE(contains(dry.output, "memory, peak", "  resolution: 16\n", "  planner: hybrid\n"));
  EXPECT_FALSE(fs::exists(folder_ / "nowhere") || fs::exists(folder_ / "runs"));
  refused(4, "plan study.yaml memory.budget=1KiB", "memory.budget");
  const Outcome plan = done("plan study.yaml --json");
  EXPECT_TRUE(plan.output.starts_with("{")) << plan.output;
}

// No GPU is visible to the program, as on a machine without one.
TEST_F(Program, RefusesAGpuThatIsNotThereAndComputesWithoutIt) {
  done("phantom --out p --cases 3 --size 24,24,16 --seed 1 --quiet");
  write("study.yaml", tiny);
  const test::Environment no_gpu("CUDA_VISIBLE_DEVICES", "");
  for (const char* command : {"run", "train", "plan", "bench"})
    refused(4, std::string(command) + " study.yaml memory.device=cuda",
            "memory.device: cuda: no CUDA device: ");
  refused(4, "run study.yaml memory.device=cuda:1", "`voxswap info` lists the devices");
  refused(2, "run study.yaml memory.device=cuda:x",
          "expected one of auto, cpu, cuda, cuda:N, reference, found 'cuda:x'. Did you mean 'cuda:N'?");
  refused(2, "run study.yaml memory.device=cuda:N", "expected cuda:N with the number of a GPU");
  refused(2, "plan study.yaml memory.planner=unified", "unified needs a GPU");
  EXPECT_FALSE(fs::exists(folder_ / "runs"));
  EXPECT_EQ(done("plan study.yaml --json --quiet").errors, "");  // memory.device: auto
  EXPECT_TRUE(contains(call("info --json").output, "\"no_device\""));
}

TEST_F(Program, PrintsForABugReportTheSystemAndItsOwnVariablesButNoSecretsAndNoHome) {
  test::Environment environment("HOME", "/home/someone");
  environment.set("VOXSWAP_TRIED", "/home/someone/build:/home/someone/more");
  environment.set("CLOUD_TOKEN", "open sesame");
  const Outcome report = done("info --report");
  const Json json = Json::parse(call("info --report --json").output);
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
  const Outcome plan = done("plan study.yaml --as v100");
  EXPECT_TRUE(contains(plan.output, "planner hybrid", "simulated v100", "nowhere does not exist",
                       "2 channels and 2 outputs", "host pool", "predicted", "bound"));
  const Outcome all = done("plan study.yaml --as v100 --all");
  for (const char* planner : {"keep", "hybrid", "checkpoint", "tflms", "lms-threshold"})
    EXPECT_TRUE(contains(all.output, std::string("\n") + planner + " ")) << planner;
  EXPECT_TRUE(contains(all.output, "\nkeep: memory.budget: "));
  const Outcome json = call("plan study.yaml --as h200 --all --json");
  EXPECT_TRUE(json.output.starts_with("[")) << json.output;
  EXPECT_TRUE(contains(json.output, "\"why_not\"", "\"bound_step_seconds\""));
  refused(2, "plan study.yaml --as v10", "Did you mean 'v100'?");
  refused(3, "plan study.yaml data.labels=auto", "data.labels");
  refused(4, "plan study.yaml --as v100 memory.budget=1MiB memory.planner=keep", "No planner can use less");
}

// Without a host pool or disk, as on a CPU, nothing can be swapped out.
TEST_F(Program, RefusesWhatIsTooLargeForAnyPlanOrForTheLibrary) {
  write("large.yaml",
        "data: {root: nowhere, modalities: [flair], labels: {tumor: 1}}\ntraining: {precision: f32}\n"
        "network: {depth: 3, base_filters: 4}\nmemory: {device: cpu, budget: 4MiB, host: none}\n");
  const Outcome old = refused(4, "plan large.yaml --estimate preprocess.resolution=96 memory.pieces=none",
                              "memory.budget: 4.00 MiB");
  EXPECT_TRUE(contains(old.errors,
                       "a lower preprocess.resolution, training.precision: bf16 or f16, or a "
                       "lower network.base_filters",
                       "'memory.pieces' is now called 'memory.slabs'"));
  refused(4, "plan large.yaml --estimate preprocess.resolution=96 memory.planner=tflms",
          "a host pool (memory.host)");
  refused(4, "plan large.yaml --estimate preprocess.resolution=2048 memory.slabs=none",
          "oneDNN supports at most 2147483647 voxels per convolution");
  refused(4, "plan large.yaml --estimate memory.budget=auto memory.host=900TiB",
          "memory.host: 900.00 TiB is not less than the memory");
  refused(2, "plan large.yaml --all --max-batch", "--all compares planners for one size");
}

TEST_F(Program, FindsTheLargestThatFitsAndSaysWhatStopsIt) {
  write("study.yaml", distant);
  const std::string small = "plan study.yaml --as v100 --quiet preprocess.resolution=16 memory.budget=2MiB ";
  const Outcome by_host = done(small + "--max-resolution");
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
  done("plan study.yaml --as v100 --out p memory.planner=tflms");
  for (const char* file : {"plan.json", "timeline.json", "arena.svg"})
    EXPECT_FALSE(read_file(folder_ / "p" / file).empty()) << file;
}

TEST_F(Program, MeasuresStepsBesideWhatWasPredicted) {
  write("study.yaml", distant);
  const std::string sizes =
      "study.yaml preprocess.resolution=16 network.base_filters=4 network.depth=3 memory.host=1GiB "
      "memory.planner=";
  const auto small = [&](const std::string& planner) {
    const Outcome plan = refused(4, "plan --estimate " + sizes + planner + " memory.budget=1KiB", "budget");
    // Measured costs may lead to another plan than estimated ones, which needs a little more.
    return format("bench --steps 3 {}{} memory.budget={}B", sizes, planner,
                  least_budget(plan.errors) + (8 << 10));
  };
  const Outcome bench = done(small("hybrid") + " --trace --out b --quiet");
  EXPECT_TRUE(contains(bench.output, "measured / predicted", "bound", "megavoxels", "arithmetic",
                       "memory traffic", "stall", "host pool", "3 after a warm-up"));
  for (const char* file : {"bench.json", "plan.json", "timeline.json"})
    EXPECT_TRUE(read_file(folder_ / "b" / file).starts_with("{")) << file;
  const Outcome json = done(small("tflms") + " --json --quiet");
  EXPECT_TRUE(contains(json.output, "\"planner\": \"tflms\"",
                       "\"measured_over_predicted\": ", "\"step_flops\": ", "\"step_bytes\": "));
  refused(2, "bench study.yaml --steps 0", "--steps");
}

TEST_F(Program, NeverWritesOverWhatItReadsNorUnaskedOverWhatItDidNotWrite) {
  done("phantom --out p --layout msd --cases 3 --size 24,24,16 --seed 1 --quiet");
  write("study.yaml", tiny);
  done("run study.yaml --out r --quiet");
  const std::string truth = bytes("p/labelsTr/BRATS_001.nii.gz"), scan = bytes("p/imagesTr/BRATS_001.nii.gz"),
                    forecast = bytes("r/plan.json");
  for (const char* force : {"", " --force"}) {
    for (const char* out : {"p/labelsTr", "p/imagesTr"})
      refused(2, std::string("predict r --input p --quiet --out ") + out + force, "never overwritten");
    refused(2,
            std::string("evaluate --truth p/labelsTr --prediction p/labelsTr --out "
                        "p/labelsTr/BRATS_001.nii.gz") +
                force,
            "never overwritten");
  }
  refused(2, "plan study.yaml --estimate --out r", "plan.json: exists already");
  refused(2, "bench study.yaml --steps 1 --out r", "plan.json: exists already");
  refused(2, "preview study.yaml --out study.yaml --force", "never overwritten");
  EXPECT_TRUE(bytes("p/labelsTr/BRATS_001.nii.gz") == truth);
  EXPECT_TRUE(bytes("p/imagesTr/BRATS_001.nii.gz") == scan);
  EXPECT_TRUE(bytes("r/plan.json") == forecast);

  // The program overwrites its own files, but not if somebody else changed them.
  const std::vector<std::string> commands = {
      "predict r --input p --out q --quiet", "evaluate --truth p/labelsTr --prediction q --out s.csv --quiet",
      "plan study.yaml --estimate --out f", "report r --out t --quiet"};
  const std::vector<std::string> outputs = {"q/BRATS_002.nii.gz", "s.csv", "f/arena.svg", "t/epochs.csv"};
  for (std::size_t i = 0; i < commands.size(); ++i) {
    for (int time = 0; time < 2; ++time) done(commands[i]);
  }
  for (std::size_t i = commands.size(); i-- > 0;) {
    write(outputs[i], "mine");
    refused(2, commands[i], outputs[i] + ": exists already");
    EXPECT_EQ(read_file(folder_ / outputs[i]), "mine");
    done(commands[i] + " --force");
  }
}

TEST_F(Program, TakesTheWidthOfFiguresInUnitsOfLengthAndOnlyForFigures) {
  refused(2, "report r --width 89mm", "--figures");
  for (const char* width : {"89", "5mm", "mm", "nanmm", "2m"})
    refused(2, std::string("report r --figures f --width ") + width, "30 to 1000 mm");
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
    const std::string errors = refused(4, command, "needs at least").errors;
    EXPECT_EQ(errors, refused(4, command, "").errors) << command;
  }
  refused(4, "plan large.yaml --estimate preprocess.resolution=1024 network.base_filters=8 network.depth=3",
          "needs at least");
}

TEST_F(Program, TakesPhantomsToScoresAndContinuesOnlyTheSameExperiment) {
  done("phantom --out p --cases 3 --size 24,24,16 --seed 1 --quiet");
  write("study.yaml", tiny);
  const Outcome run = done("run study.yaml --out r --quiet");
  EXPECT_TRUE(contains(run.output, "whole_tumor"));
  EXPECT_TRUE(contains(bytes("r/experiment.yaml"), "ran_with:\n  voxswap: "));
  done("predict r --input p --out q --quiet");
  fs::copy(folder_ / "p", folder_ / "damaged", fs::copy_options::recursive);
  fs::resize_file(folder_ / "damaged/BraTS2021_00001/BraTS2021_00001_t1.nii.gz", 300);
  refused(3, "predict r --input damaged --out d --quiet", "1 of 3 cases could not be predicted");
  EXPECT_TRUE(bytes("d/BraTS2021_00002.nii.gz") == bytes("q/BraTS2021_00002.nii.gz"));
  EXPECT_FALSE(fs::exists(folder_ / "d/BraTS2021_00001.nii.gz"));
  done("evaluate --truth p --prediction q --out dice.csv --regions 'whole=1,2,4;core=1,4'");
  EXPECT_TRUE(bytes("dice.csv").starts_with("run,repeat,resolution,evaluated_at,case,region,dice,"));
  const Outcome json = call(
      "evaluate --truth p --prediction q --out all.csv --labels necrosis=1 --metrics all --json --quiet");
  EXPECT_TRUE(contains(json.output, "\"lesion_wise_hd95\": ")) << json.errors;
  EXPECT_TRUE(contains(json.output, "\"region\": \"necrosis\""));
  EXPECT_TRUE(contains(bytes("all.csv"), ",predicted_voxels,precision,volume_difference,"));
  const Outcome table = done("evaluate --truth p --prediction q --quiet");
  EXPECT_TRUE(contains(table.output, "label_4"));
  write("annotated.csv", "case,labels\nBraTS2021_00002,1;2;4\n");
  done("evaluate --truth p --prediction q --out annotated_scores.csv --annotated annotated.csv --quiet");
  fs::remove(folder_ / "q/BraTS2021_00001.nii.gz");
  refused(3, "evaluate --truth p --prediction q --out some.csv --quiet", "--partial");
  done("evaluate --truth p --prediction q --out some.csv --partial --quiet");
  refused(2, "run study.yaml --out r", "--resume");
  refused(2, "run study.yaml --out r --resume training.seed=2", "training.seed");
  done("run study.yaml --out r --resume --quiet");
  done("run study.yaml --out r --resume --quiet training.epochs=3");
  refused(2, "run study.yaml --out r --resume training.epochs=2", "has completed 3 epochs");
  // Errors in the data are reported before there is a run to resume.
  refused(3, "run study.yaml --out wrong --quiet data.labels='{a: 1}' data.regions='{a: [1]}'",
          "data.labels");
  EXPECT_FALSE(fs::exists(folder_ / "wrong"));
}

}  // namespace
}  // namespace voxswap::cli
