// Experiment files as a whole: defaults, overrides, errors, the resolved file.
#include <set>

#include "base/file.h"
#include "experiments/keys.h"
#include "experiments/schema.h"
#include "metrics/metrics.h"
#include "pipeline/record/identity.h"
#include "tests/experiments/support.h"

namespace voxswap::experiments {
namespace {

using test::expect_failure;

// The defaults of all keys as stated in the schema (schema_test.cpp), and some of them as parsed.
TEST_F(Experiments, HaveTheDefaultsOfTheInterface) {
  const LoadedExperiment run = load("");
  EXPECT_EQ(run.name, "study");  // the file's name
  EXPECT_EQ(run.data.root, fs::weakly_canonical(folder_ / "data/phantom"));
  EXPECT_EQ(run.output, "runs/study");
  const Json promised = schema().at("definitions");
  const std::set<std::string> follow_the_file = {
      // these depend on the file, or cannot be set alone
      "name", "data.root", "data.cache", "data.split.fold", "output.dir", "sweep"};
  for (const Key& key : keys()) {
    if (follow_the_file.contains(key.path)) continue;
    const LoadedExperiment reloaded = load(key.path + ": " + promised.at(key.path).at("default").dump());
    EXPECT_EQ(key.print(run), key.print(reloaded)) << key.path;
  }
  EXPECT_TRUE(run.data.labels.empty() && run.data.regions.empty() && run.data.files.empty());
  EXPECT_EQ(run.preprocess.resolution, (Size3{128, 128, 128}));
  EXPECT_FALSE(run.preprocess.corner_background);
  EXPECT_EQ(run.network.heads, net::Heads::plain);
  EXPECT_EQ(run.network.upsampling, net::Upsampling::transposed);
  EXPECT_EQ(run.training.optimizer.learning_rate, 5e-4);
  EXPECT_EQ(run.training.precision, pipeline::Precision::automatic);
  EXPECT_EQ(run.training.augment, data::AugmentOptions{});
  EXPECT_EQ(run.memory.budget_bytes, std::nullopt);
  EXPECT_FALSE(run.memory.host_bytes);
  EXPECT_TRUE(run.memory.disk_folder.empty());
  EXPECT_EQ(run.memory.to_host_rate, 0);
  EXPECT_EQ(run.memory.tflms, swap::TflmsOptions{});
  EXPECT_EQ(run.memory.lms_threshold, 8 << 20);
  EXPECT_EQ(run.evaluate.metrics, (std::vector<std::string>{"dice", "hd95", "sensitivity", "specificity"}));
}

TEST_F(Experiments, LetTheCommandLineWinOverTheFile) {
  const std::string file = "preprocess: {resolution: 128}\ntraining: {epochs: 3}\n";
  const LoadedExperiment run =
      load(file, {"preprocess.resolution=[48, 64, 48]", "training.epochs=7", "training.epochs=9",
                  "evaluate.at=[native,192]", "memory.budget=16GiB", "output.dir=out/{name}/x"});
  EXPECT_EQ(run.preprocess.resolution, (Size3{48, 64, 48}));
  EXPECT_EQ(run.training.epochs, 9);
  EXPECT_EQ(run.evaluate.at, (std::vector<std::string>{"native", "192"}));
  EXPECT_EQ(run.memory.budget_bytes, 16LL << 30);
  EXPECT_EQ(run.output, "out/study/x");
}

TEST_F(Experiments, TakePathsInAFileFromTheFileAndOnTheLineFromTheCurrentFolder) {
  const std::string file =
      "data: {root: scans, cache: kept, split: {file: split.csv}}\nmemory: {disk: {path: scratch, budget: "
      "1GiB}}\noutput: {dir: \"out/{name}\"}\n";
  const fs::path here = fs::weakly_canonical(folder_), current = fs::current_path();
  const LoadedExperiment beside = load(file);
  EXPECT_EQ(beside.data.root, here / "scans");
  EXPECT_EQ(beside.cache, here / "kept");
  EXPECT_EQ(beside.split.file, here / "split.csv");
  EXPECT_EQ(beside.memory.disk_folder, here / "scratch");
  EXPECT_EQ(beside.output, here / "out/study");

  const LoadedExperiment line = load(file, {"data.root=scans", "data.cache=kept", "data.split.file=split.csv",
                                            "memory.disk.path=scratch", "output.dir=out/{name}"});
  for (const fs::path& path :
       {line.data.root, line.cache, line.split.file, line.memory.disk_folder, line.output})
    EXPECT_TRUE(path.is_relative() || path.string().starts_with(current.string())) << path;
  // Paths in the resolved file are valid wherever it is read from.
  for (const char* path : {"root: {}/scans\n", "cache: {}/kept\n", "file: {}/split.csv\n",
                           "disk: {{path: {}/scratch,", "dir: {}/out/study\n"})
    EXPECT_TRUE(contains(line.resolved, fmt::format(fmt::runtime(path), current.string()))) << path;
  // A key of the file is relative to its folder, even if the command line sets another key of the section.
  EXPECT_EQ(load(file, {"memory.disk.budget=2GiB"}).memory.disk_folder, here / "scratch");
  EXPECT_EQ(load("").cache, "runs/.cache");
}

TEST_F(Experiments, TakeOverridesOfSectionsAndOfEntriesOfMaps) {
  const LoadedExperiment run =
      load("data: {labels: {core: 1, edge: 2}}\n",
           {"network={name: unet3d, depth: 4}", "data.labels.edge=3", "data.labels.rim=4",
            "data.layout=files", "data.files.t1={case}/t1*.nii.gz"});
  EXPECT_EQ(run.network.name, "unet3d");
  EXPECT_EQ(run.network.depth, 4);
  EXPECT_EQ(run.data.labels, (data::Labels{{"core", 1}, {"edge", 3}, {"rim", 4}}));
  EXPECT_EQ(run.data.files.at("t1"), "{case}/t1*.nii.gz");
}

TEST_F(Experiments, NameLineAndNearestKeyForAnUnknownOne) {
  EXPECT_EQ(refusal("name: a\npreprocess:\n  resolutoin: 64\n"),
            "study.yaml:3: unknown key 'preprocess.resolutoin'. Did you mean 'preprocess.resolution'?");
  EXPECT_EQ(
      refusal("", {"preprocess.resolutoin=64"}),
      "on the command line: unknown key 'preprocess.resolutoin'. Did you mean 'preprocess.resolution'?");
  expect_refused("resolution: 64\n", "Did you mean 'preprocess.resolution'?");
  expect_refused("trainig: {epochs: 1}\n", "study.yaml:1: unknown key 'trainig'. Did you mean 'training'?");
  expect_refused("xyzzy_plugh: 1\n", "voxswap run --help");
}

TEST_F(Experiments, RefusesAnAutomaticResolutionWithoutASpacing) {
  EXPECT_TRUE(contains(refusal("preprocess: {resolution: auto}\n"), "Set preprocess.spacing=auto"));
  EXPECT_TRUE(load("preprocess: {spacing: [1, 1, 1]}\n").preprocess.automatic_resolution);
  EXPECT_FALSE(load("preprocess: {spacing: [1, 1, 1], resolution: 64}\n").preprocess.automatic_resolution);
}

// Linux returns EIO for reads of unmapped memory there.
TEST_F(Experiments, OnADeviceThatFailsAreNoWrongUsage) {
  expect_failure([&] { load_experiment("/proc/self/mem", {}); }, Exit::failed);
}

TEST_F(Experiments, NameLineExpectedAndFoundForAWrongType) {
  EXPECT_EQ(refusal("training:\n  epochs: many\n"),
            "study.yaml:2: training.epochs: expected a whole number of at least 1 and at most 1000000000, "
            "found 'many'");
  expect_refused("network: 5\n", "study.yaml:1: network: expected a section with the keys name");
  expect_refused("training: 5\n", "study.yaml:1: training.preset: expected one of none, nnunet, found '5'");
  expect_refused("training: {epochs: [1]}\n", "found the list ['1']");
  expect_refused("training: {epochs: 1.5}\n", "expected a whole number");
  expect_refused("training: {epochs:}\n", "found nothing");
  expect_refused("training: {epochs: \"5\"}\n", "found '5'");
  expect_refused("training: {deterministic: perhaps}\n", "expected true or false, found 'perhaps'");
  expect_refused("preprocess: {resolution: [64]}\n", "[x, y, z]");
  expect_refused("memory: {budget: 16GB}\n", "study.yaml:1: memory.budget: '16GB' is not a size");
  expect_refused("- a\n- b\n", "study.yaml:1: expected an experiment");
  expect_refused("", {"training.epochs=soon"}, "on the command line: training.epochs: expected");
  expect_refused("", {"training.epochs"}, "Expected key=value");
}

TEST_F(Experiments, RefuseKeysThatStandTwice) {
  EXPECT_EQ(refusal("name: a\ntraining:\n  epochs: 1\n  epochs: 2\n"),
            "study.yaml:4: 'epochs' is listed twice (first at study.yaml:3). Remove one");
  expect_refused("training: {epochs: 1}\ntraining.epochs: 2\n", "'training.epochs' is set twice");
}

TEST_F(Experiments, RefuseValuesOutOfRange) {
  for (const char* override : {"training.epochs=0",
                               "training.epochs=-1",
                               "training.batch_size=0",
                               "data.split.validation=0",
                               "data.split.validation=1",
                               "preprocess.resolution=0",
                               "preprocess.resolution=-64",
                               "network.dropout=1",
                               "network.dropout=-0.1",
                               "training.schedule.factor=0",
                               "training.schedule.factor=1",
                               "training.schedule.warm_up=-1",
                               "training.optimizer.rate_scaling=cubic",
                               "training.optimizer.reference_batch=0",
                               "training.optimizer.learning_rate=0",
                               "training.optimizer.learning_rate=nan",
                               "training.repeats=0",
                               "training.averaging.name=mean",
                               "training.averaging.decay=1.5",
                               "training.freeze=[]",
                               "training.freeze={a: 1}",
                               "training.augment.channel_dropout=1",
                               "training.seed=-1",
                               "training.augment.flip=1.5",
                               "memory.budget=0B",
                               "evaluate.at=[]",
                               "evaluate.at=0",
                               "network.depth=1",
                               "training.checkpoint_minutes=0",
                               "data.labels={a: 0}",
                               "data.labels={a: 1, b: 1}",
                               "data.labels={Core: 1}",
                               "data.regions={a: []}",
                               "training.epochs=99999999999999999999"}) {
    expect_refused("", {override}, "on the command line: ");
  }
}

TEST_F(Experiments, AcceptWhatIsWrittenDownAtItsDefault) {
  EXPECT_EQ(refusal("sweep: {}\ntraining: {patch: none}\n"),
            "accepted");  // defaults have no effect
  // Whether there is a GPU is checked when it is opened.
  EXPECT_EQ(load("", {"memory.device=cuda:1"}).memory.device, "cuda:1");
  expect_refused("", {"memory.device=tpu"}, "expected one of auto, cpu, cuda, cuda:N, reference");
}

TEST_F(Experiments, OfASweepAreRefusedByCommandsThatWouldRunOneCell) {
  expect_refused("name: a\nsweep: {training.epochs: [1, 2]}\n",
                 "2: sweep: this file is a sweep over training.epochs.");
  // Statements about a sweep are not swept keys.
  expect_refused("sweep: {title: Epochs, command: run, training.epochs: [1, 2]}\n",
                 "this file is a sweep over training.epochs.");
  EXPECT_EQ(refusal("sweep: {training.epochs: [1, 2]}\n", {"sweep={}"}), "accepted");
}

TEST_F(Experiments, NameTheNearestSidesThatFitTheNetwork) {
  EXPECT_EQ(
      refusal("preprocess: {resolution: 100}\n"),
      "study.yaml:1: preprocess.resolution: 100 does not fit: each side must be a multiple of 16 (network "
      "isensee2017 of depth 5). Use 96 or 112");
  const std::string box = refusal("preprocess: {resolution: [48, 60, 8]}\n");
  EXPECT_TRUE(contains(box, "y is 60; use 48 or 64", "z is 8; use 16"));
  EXPECT_EQ(load("preprocess: {resolution: 100}\nnetwork: {depth: 3}\n").preprocess.resolution[0], 100);
  const LoadedExperiment patches = load("preprocess: {resolution: 100}\ntraining: {patch: [64, 64, 32]}\n");
  EXPECT_EQ(patches.training.patch, (Size3{64, 64, 32}));
  EXPECT_TRUE(contains(patches.resolved, "patch: [64, 64, 32]"));
  EXPECT_EQ(load("training: {patch: 64}\n", {"training.patch=none"}).training.patch, std::nullopt);
  expect_refused("training: {patch: 100}\n", "training.patch: 100 does not fit");
  expect_refused("training: {patch: some}\n", "expected a whole number");
}

TEST_F(Experiments, KnowHowDeepEachNetworkMayBe) {
  EXPECT_EQ(refusal("network: {depth: 9}\n"),
            "study.yaml:1: network.depth: isensee2017 supports 2 to 8, found 9");
  EXPECT_EQ(load("network: {name: resnet3d, depth: 1000}\npreprocess: {resolution: 37}\n").network.depth,
            1000);
  expect_refused("network: {name: resnet3d, depth: 2001}\n", "network.depth: expected");
}

TEST_F(Experiments, ScoreEveryMetricOrOneByItsName) {
  EXPECT_EQ(load("", {"evaluate.metrics=all"}).evaluate.metrics, metrics::metric_names());
  EXPECT_EQ(load("", {"evaluate.metrics=dice"}).evaluate.metrics, std::vector<std::string>{"dice"});
}

TEST_F(Experiments, ComeBackTheSameFromTheResolvedFile) {
  const LoadedExperiment run = load(
      "data:\n  root: some/where\n  layout: files\n"
      "  files: {flair: \"{case}/F l*.nii.gz\", t1c: \"{case}/T1c.nii.gz\", truth: \"a: \\\"b\\\" #c\"}\n"
      "  labels: {rim: 4, core: 1}\n  regions: {whole: [4, 1], core: 1}\n  split: {file: split.csv}\n"
      "preprocess: {resolution: [48, 64, 48], background: corner}\n"
      "training: {optimizer: {learning_rate: 3.0e-4}, seed: 18446744073709551615}\n"
      "memory:\n  budget: 1.5GiB\n  host: 3MiB\n  disk: {path: \"/a b\", budget: 1TiB}\n"
      "  link: {to_device: 1.5GB/s}\n  tflms: {swapin_ahead: 3, sync_mode: 2}\n  lms_threshold: "
      "100B\nevaluate: {at: [training, 64], metrics: [dice]}\n");
  fs::create_directories(folder_ / "elsewhere");
  write(run.resolved + "ran_with:\n  voxswap: \"9.9\"\n", "elsewhere/experiment.yaml");
  const LoadedExperiment reloaded = load_experiment(folder_ / "elsewhere/experiment.yaml", {});
  EXPECT_EQ(reloaded.resolved, run.resolved);
  EXPECT_TRUE(changed_settings(run, reloaded).empty());
  EXPECT_EQ(reloaded.data.files, run.data.files);
  EXPECT_EQ(reloaded.data.modalities, (std::vector<std::string>{"flair", "t1c"}));
  EXPECT_EQ(reloaded.data.labels, (data::Labels{{"rim", 4}, {"core", 1}}));  // in the order of the file
  EXPECT_EQ(reloaded.data.regions, (data::Regions{{"whole", {4, 1}}, {"core", {1}}}));
  EXPECT_EQ(reloaded.data.root, fs::weakly_canonical(folder_ / "some/where"));
  EXPECT_EQ(reloaded.split.file, fs::weakly_canonical(folder_ / "split.csv"));
  EXPECT_EQ(reloaded.training.optimizer.learning_rate, 3e-4);
  EXPECT_EQ(reloaded.training.seed, 18446744073709551615u);
  EXPECT_EQ(reloaded.memory.budget_bytes, 1610612736);
  EXPECT_EQ(reloaded.memory.host_bytes, 3 << 20);
  EXPECT_EQ(reloaded.memory.disk_folder, "/a b");
  EXPECT_EQ(reloaded.memory.disk_bytes, 1LL << 40);
  EXPECT_EQ(reloaded.memory.to_host_rate, 0);
  EXPECT_EQ(reloaded.memory.to_device_rate, 1.5e9);
  EXPECT_EQ(reloaded.memory.tflms, (swap::TflmsOptions{{}, 3, {}, 2}));
  EXPECT_EQ(reloaded.memory.lms_threshold, 100);
  EXPECT_TRUE(reloaded.preprocess.corner_background);

  const LoadedExperiment finished = load_run(folder_ / "elsewhere");
  EXPECT_EQ(finished.output, folder_ / "elsewhere");
  EXPECT_EQ(finished.name, "study");
}

// Detects keys whose role was changed by mistake.
TEST_F(Experiments, GoOnWithOtherValuesOfTheseKeysAlone) {
  const std::set<std::string> known = {"data.cache",
                                       "data.memory",
                                       "output.dir",
                                       "output.viewer",
                                       "ranks.slabs",
                                       "sweep",
                                       "training.checkpoint_minutes",
                                       "training.early_stop",
                                       "training.epochs",
                                       "training.loader_threads",
                                       "training.log",
                                       "training.preset"};  // the keys that it sets are in the file too
  for (const Key& key : keys()) {
    const bool expected = known.contains(key.path) || key.path.starts_with("evaluate.") ||
                          (key.path.starts_with("memory.") && key.path != "memory.slabs");
    EXPECT_EQ(pipeline::may_change(key.decides, pipeline::Experiment()), expected) << key.path;
  }
}

TEST_F(Experiments, AreReadForReportsWithWhatEveryKeyDecides) {
  const LoadedExperiment run = load("data: {labels: {rim: 4, core: 1}}\ntraining: {seed: 3}\n");
  const std::string other_versions = "later:\n  key: [a, 2]\nran_with:\n  device: \"a: b\"\n";
  const pipeline::SettingList read = read_settings_of_run(write(run.resolved + other_versions, "run.yaml"));
  ASSERT_EQ(read.size(), run.settings.size() + 2);
  for (std::size_t i = 0; i < run.settings.size(); ++i) {
    EXPECT_EQ(read[i].key, run.settings[i].key);
    EXPECT_EQ(read[i].decides, run.settings[i].decides) << read[i].key;
  }
  const auto expect = [&](const std::string& key, const std::string& value, pipeline::Decides decides) {
    const auto found =
        std::find_if(read.begin(), read.end(), [&](const pipeline::Setting& one) { return one.key == key; });
    ASSERT_NE(found, read.end()) << key;
    EXPECT_EQ(found->value, value);
    EXPECT_EQ(found->decides, decides) << key;
  };
  expect("data.labels", "{rim: 4, core: 1}", pipeline::Decides::data);
  expect("training.seed", "3", pipeline::Decides::chance);
  expect("training.loader_threads", "0", pipeline::Decides::nothing);
  expect("memory.planner", "hybrid", pipeline::Decides::memory);
  expect("later.key", "[a, 2]", pipeline::Decides::model);
  expect("ran_with.device", "a: b", pipeline::Decides::nothing);
}

TEST_F(Experiments, WithTheMeanOfMoreRepeatsAreOtherModels) {
  for (const bool ensemble : {false, true}) {
    const LoadedExperiment run =
        load(format("data: {{labels: {{rim: 4}}}}\ntraining: {{repeats: 3}}\n"
                    "evaluate: {{ensemble: {}}}\n",
                    ensemble));
    for (const auto& setting : read_settings_of_run(write(run.resolved, "run.yaml"))) {
      if (setting.key != "training.repeats") continue;
      EXPECT_EQ(setting.decides, ensemble ? pipeline::Decides::model : pipeline::Decides::chance);
    }
  }
}

TEST_F(Experiments, RefuseNamesThatAreNoFileNames) {
  for (const char* name : {"a/b", "..", ".hidden", "-x", "a b", "a;b", "a\\nb", "ü"})
    expect_refused(format("name: \"{}\"\n", name), "is not a safe file name");
  expect_refused("", {"output.dir=runs/{nmae}"}, "brace");
}

TEST_F(Experiments, CheckThatPatternsLayoutAndLabelsAgree) {
  expect_refused("data: {layout: files}\n", "needs a pattern per channel");
  expect_refused("data: {layout: brats, files: {t1: x}}\n", "patterns need data.layout files");
  expect_refused("data: {layout: files, files: {truth: x}}\n", "found only truth");
  expect_refused("data: {modalities: [t2], files: {t1: x}}\n", "'t2' has no pattern");
  expect_refused("data: {labels: {a: 1}, regions: {b: [1, 2]}}\n", "2 is not a value of data.labels");
}

TEST_F(Experiments, AreRefusedWithOneMessageWhateverTheFileHolds) {
  expect_refused("a: [1, 2\nb: 3\n", "is not valid YAML");
  expect_refused("a: &x [*x]\n", "study.yaml:1: ");
  expect_refused("name: a\n---\nname: b\n", "second YAML document");
  expect_refused(std::string("\0\1\2", 3), "is not a text file");
  expect_refused(std::string(100000, '['), "study.yaml");
  expect_refused("? [a, b]\n: 1\n", "must be a plain word");
  expect_refused(std::string(2 << 20, '#'), "too large for an experiment file");
  EXPECT_THROW(load_experiment(folder_ / "nowhere.yaml", {}), Error);
  EXPECT_THROW(load_experiment(folder_, {}), Error);
}

TEST_F(Experiments, OfNoRunAreBadData) {
  expect_failure([&] { load_run(folder_); }, Exit::bad_data);
}

TEST_F(Experiments, OfRunsThatADeviceFailsToReadAreNotCalledDamaged) {
  fs::create_symlink("/proc/self/mem", folder_ / "experiment.yaml");
  expect_failure([&] { load_run(folder_); }, Exit::failed);
}

TEST(ExperimentSettings, AreComparedByValue) {
  const pipeline::Experiment experiment = default_experiment();
  pipeline::Experiment other = experiment;
  EXPECT_TRUE(other == experiment);
  other.training.augment.flip[1] = 0.5;
  EXPECT_FALSE(other == experiment);
}

}  // namespace
}  // namespace voxswap::experiments
