#include "experiments/experiment.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/error.h"
#include "base/file.h"

namespace voxswap {
namespace {

namespace fs = std::filesystem;

// A folder of the test's own, with experiment files in it.
class Experiments : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / format("voxswap_experiments_{}", ::getpid());
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  fs::path write(const std::string& text, const std::string& name = "study.yaml") const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  RunOptions load(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    return load_experiment(write(text), overrides).run;
  }
  // The message with which the experiment is refused; the folder's name is cut from it.
  std::string refusal(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    try {
      load(text, overrides);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::usage) << error.what();
      std::string message = error.what();
      const std::string prefix = folder_.string() + "/";
      for (std::size_t at; (at = message.find(prefix)) != message.npos;) message.erase(at, prefix.size());
      return message;
    }
    return "accepted";
  }

  fs::path folder_;
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != text.npos;
}

// Expected values: INTERFACE's "The experiment file (defaults shown)".
TEST_F(Experiments, HaveTheDefaultsOfTheInterface) {
  const RunOptions run = load("");
  EXPECT_EQ(run.name, "study");  // the file's name
  EXPECT_EQ(run.data.root, fs::weakly_canonical(folder_ / "data/phantom"));
  EXPECT_EQ(run.data.layout, "auto");
  EXPECT_TRUE(run.data.labels.empty() && run.data.regions.empty() && run.data.files.empty());
  EXPECT_EQ(run.split.validation, 0.2);
  EXPECT_EQ(run.split.seed, 1u);
  EXPECT_EQ(run.preprocess.resolution, (Size3{128, 128, 128}));
  EXPECT_EQ(run.preprocess.crop, "foreground");
  EXPECT_EQ(run.preprocess.normalize, "dataset");
  EXPECT_EQ(run.preprocess.background, 0);
  EXPECT_FALSE(run.preprocess.corner_background);
  EXPECT_EQ(run.network.name, "isensee2017");
  EXPECT_EQ(run.network.base_filters, 16);
  EXPECT_EQ(run.network.depth, 5);
  EXPECT_EQ(run.network.dropout, 0.3);
  EXPECT_EQ(run.network.slope, 0.3);
  EXPECT_EQ(run.network.heads, "plain");
  EXPECT_EQ(run.training.epochs, 500);
  EXPECT_EQ(run.training.batch_size, 1);
  EXPECT_EQ(run.training.optimizer.name, "adam");
  EXPECT_EQ(run.training.optimizer.learning_rate, 5e-4);
  EXPECT_EQ(run.training.optimizer.weight_decay, 0);
  EXPECT_EQ(run.training.schedule.name, "plateau");
  EXPECT_EQ(run.training.schedule.factor, 0.5);
  EXPECT_EQ(run.training.schedule.patience, 10);
  EXPECT_EQ(run.training.early_stop, 50);
  EXPECT_EQ(run.training.loss, "weighted_dice");
  EXPECT_EQ(run.training.targets, "labels");
  EXPECT_EQ(run.training.precision, "auto");
  EXPECT_TRUE(run.training.augment.symmetries);
  EXPECT_EQ(run.training.augment, AugmentOptions{});
  EXPECT_EQ(run.training.seed, 1u);
  EXPECT_TRUE(run.training.deterministic);
  EXPECT_EQ(run.training.repeats, 1);
  EXPECT_EQ(run.training.checkpoint_minutes, 10);
  EXPECT_EQ(run.memory.device, "auto");
  EXPECT_EQ(run.memory.budget_bytes, 0);
  EXPECT_EQ(run.memory.planner, "hybrid");
  EXPECT_FALSE(run.memory.host_bytes);
  EXPECT_TRUE(run.memory.disk_folder.empty());
  EXPECT_EQ(run.memory.to_host_rate, 0);
  EXPECT_EQ(run.memory.to_device_rate, 0);
  EXPECT_EQ(run.memory.tflms, TflmsOptions{});
  EXPECT_EQ(run.memory.lms_threshold, 8 << 20);
  EXPECT_EQ(run.evaluate.at, std::vector<std::string>{"native"});
  EXPECT_EQ(run.evaluate.empty, "brats");
  EXPECT_EQ(run.evaluate.metrics, (std::vector<std::string>{"dice", "hd95", "sensitivity", "specificity"}));
  EXPECT_EQ(run.output, "runs/study");
}

TEST_F(Experiments, LetTheCommandLineWinOverTheFile) {
  const std::string file = "preprocess: {resolution: 128}\ntraining: {epochs: 3}\n";
  const RunOptions run =
      load(file, {"preprocess.resolution=[48, 64, 48]", "training.epochs=7", "training.epochs=9",
                  "evaluate.at=[native,192]", "memory.budget=16GiB", "output.dir=out/{name}/x"});
  EXPECT_EQ(run.preprocess.resolution, (Size3{48, 64, 48}));
  EXPECT_EQ(run.training.epochs, 9);
  EXPECT_EQ(run.evaluate.at, (std::vector<std::string>{"native", "192"}));
  EXPECT_EQ(run.memory.budget_bytes, 16LL << 30);
  EXPECT_EQ(run.output, "out/study/x");
}

TEST_F(Experiments, TakeOverridesOfSectionsAndOfEntriesOfMaps) {
  const RunOptions run = load("data: {labels: {core: 1, edge: 2}}\n",
                              {"network={name: unet3d, depth: 4}", "data.labels.edge=3", "data.labels.rim=4",
                               "data.layout=files", "data.files.t1={case}/t1*.nii.gz"});
  EXPECT_EQ(run.network.name, "unet3d");
  EXPECT_EQ(run.network.depth, 4);
  EXPECT_EQ(run.data.labels, (Labels{{"core", 1}, {"edge", 3}, {"rim", 4}}));
  EXPECT_EQ(run.data.files.at("t1"), "{case}/t1*.nii.gz");
}

TEST_F(Experiments, NameLineAndNearestKeyForAnUnknownOne) {
  EXPECT_EQ(refusal("name: a\npreprocess:\n  resolutoin: 64\n"),
            "study.yaml:3: unknown key 'preprocess.resolutoin'; did you mean 'preprocess.resolution'?");
  EXPECT_EQ(
      refusal("", {"preprocess.resolutoin=64"}),
      "on the command line: unknown key 'preprocess.resolutoin'; did you mean 'preprocess.resolution'?");
  EXPECT_TRUE(contains(refusal("resolution: 64\n"), "did you mean 'preprocess.resolution'?"));
  EXPECT_TRUE(contains(refusal("trainig: {epochs: 1}\n"),
                       "study.yaml:1: unknown key 'trainig'; did you mean 'training'?"));
  EXPECT_TRUE(contains(refusal("xyzzy_plugh: 1\n"), "voxswap run --help"));
}

TEST_F(Experiments, NameLineExpectedAndFoundForAWrongType) {
  EXPECT_EQ(refusal("training:\n  epochs: many\n"),
            "study.yaml:2: training.epochs: expected a whole number of at least 1 and at most 1000000000, "
            "found 'many'");
  EXPECT_TRUE(
      contains(refusal("training: 5\n"), "study.yaml:1: training: expected a section with the keys epochs"));
  EXPECT_TRUE(contains(refusal("training: {epochs: [1]}\n"), "found the list ['1']"));
  EXPECT_TRUE(contains(refusal("training: {epochs: 1.5}\n"), "expected a whole number"));
  EXPECT_TRUE(contains(refusal("training: {epochs:}\n"), "found nothing"));
  EXPECT_TRUE(contains(refusal("training: {epochs: \"5\"}\n"), "found '5'"));
  EXPECT_TRUE(
      contains(refusal("training: {deterministic: perhaps}\n"), "expected true or false, found 'perhaps'"));
  EXPECT_TRUE(contains(refusal("preprocess: {resolution: [64, 64]}\n"), "[x, y, z]"));
  EXPECT_TRUE(
      contains(refusal("memory: {budget: 16GB}\n"), "study.yaml:1: memory.budget: '16GB' is not a size"));
  EXPECT_TRUE(contains(refusal("- a\n- b\n"), "study.yaml:1: expected an experiment"));
  EXPECT_TRUE(
      contains(refusal("", {"training.epochs=soon"}), "on the command line: training.epochs: expected"));
  EXPECT_TRUE(contains(refusal("", {"training.epochs"}), "expected key=value"));
}

TEST_F(Experiments, RefuseKeysThatStandTwice) {
  EXPECT_EQ(refusal("name: a\ntraining:\n  epochs: 1\n  epochs: 2\n"),
            "study.yaml:4: 'epochs' stands twice (first at study.yaml:3); remove one");
  EXPECT_TRUE(
      contains(refusal("training: {epochs: 1}\ntraining.epochs: 2\n"), "'training.epochs' is set twice"));
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
                               "training.optimizer.learning_rate=0",
                               "training.optimizer.learning_rate=nan",
                               "training.repeats=0",
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
    EXPECT_TRUE(contains(refusal("", {override}), "on the command line: ")) << override;
  }
}

TEST_F(Experiments, AcceptWhatIsWrittenDownAtItsDefault) {
  EXPECT_EQ(refusal("sweep: {}\ntraining: {patch: none}\n"),
            "accepted");  // at their defaults they ask for nothing
  // Whether there is a GPU is found out when it is opened.
  EXPECT_EQ(load("", {"memory.device=cuda:1"}).memory.device, "cuda:1");
  EXPECT_TRUE(contains(refusal("", {"memory.device=gpu"}), "expected one of auto, cpu, cuda, reference"));
  EXPECT_TRUE(contains(describe_keys(), "training.optimizer.learning_rate"));
}

TEST_F(Experiments, OfASweepAreRefusedByCommandsThatWouldRunOneCell) {
  EXPECT_TRUE(
      contains(refusal("name: a\nsweep: {training.epochs: [1, 2]}\n"), "2: sweep: this file is a sweep"));
  EXPECT_EQ(refusal("sweep: {training.epochs: [1, 2]}\n", {"sweep={}"}), "accepted");
}

TEST_F(Experiments, TakeBiasCorrectionAndClipping) {
  EXPECT_TRUE(load("preprocess: {bias_correction: none, clip: none}\n").preprocess.bias_correction.empty());
  const PrepareOptions named = load("preprocess: {bias_correction: [t1, t2], clip: [0.5, 99]}\n").preprocess;
  EXPECT_EQ(named.bias_correction, (std::vector<std::string>{"t1", "t2"}));
  EXPECT_EQ(named.clip_low, 0.5);
  EXPECT_EQ(named.clip_high, 99);
  EXPECT_EQ(load("preprocess: {bias_correction: n4}\n").preprocess.bias_correction,
            std::vector<std::string>{"n4"});
  for (const char* setting : {"bias_correction: n3", "bias_correction: []", "clip: 5", "clip: [99, 1]",
                              "clip: [0, 101]", "normalize: zscore"})
    EXPECT_TRUE(contains(refusal(format("preprocess: {{{}}}\n", setting)), "study.yaml:1: preprocess."))
        << setting;
}

TEST_F(Experiments, TakeAugmentationAsANumberOrARangeWithAProbability) {
  const AugmentOptions augment =
      load(
          "training:\n  augment:\n    rotation: 15\n    zoom: {range: [0.8, 1.3], probability: 0.25}\n"
          "    gamma: {range: [0.7, 1.5]}\n    low_resolution: 0.4\n    noise: 0.1\n    flip: [0.5, 0, "
          "0.25]\n")
          .training.augment;
  EXPECT_EQ(augment.rotation, (Draw{-15, 15, 1}));
  EXPECT_EQ(augment.zoom, (Draw{0.8, 1.3, 0.25}));
  EXPECT_EQ(augment.gamma, (Draw{0.7, 1.5, 1}));
  EXPECT_EQ(augment.low_resolution, (Draw{0.6, 1, 1}));
  EXPECT_EQ(augment.noise, (Draw{0, 0.1, 1}));
  EXPECT_EQ(augment.flip, (std::array{0.5, 0.0, 0.25}));
  EXPECT_EQ(augment.blur, Draw{});
}

TEST_F(Experiments, BeginAugmentationAtAPresetThatSingleKeysChange) {
  EXPECT_EQ(load("training: {augment: nnunet}\n").training.augment, nnunet_augmentation());
  EXPECT_EQ(load("training: {augment: {preset: nnunet}}\n").training.augment, nnunet_augmentation());
  AugmentOptions expected = nnunet_augmentation();
  expected.rotation.probability = 0.5;
  expected.zoom = {};
  expected.gamma = {0.9, 1.1, 1};
  // The order of the keys in the file does not matter.
  EXPECT_EQ(load("training: {augment: {zoom: 0, preset: nnunet}}\n",
                 {"training.augment.rotation.probability=0.5", "training.augment.gamma={range: [0.9, 1.1]}"})
                .training.augment,
            expected);
  EXPECT_EQ(load("", {"training.augment=nnunet"}).training.augment, nnunet_augmentation());
  EXPECT_TRUE(
      contains(refusal("training: {augment: monai}\n"), "study.yaml:1: training.augment.preset: expected"));
}

TEST_F(Experiments, RefuseAugmentationThatMeansNothing) {
  for (const char* setting :
       {"rotation: 200", "rotation: {range: [20, -20]}", "rotation: {probability: 0.5}",
        "rotation: {range: [1]}", "rotation: {range: [-5, 5], probability: 2}", "rotation: {}",
        "rotation: [5]", "zoom: 1", "zoom: {range: [0, 1]}", "gamma: 1", "low_resolution: 1", "noise: -1",
        "flip: [0.5, 0.5]", "flip: [0.5, 0.5, 2]", "scale: 2", "elastic_grid: 0", "elastic: 6",
        "blur: {range: [0, 1], chance: 1}"}) {
    const std::string message = refusal(format("training: {{augment: {{{}}}}}\n", setting));
    EXPECT_TRUE(contains(message, "study.yaml:1: ") && contains(message, "training.augment."))
        << setting << ": " << message;
  }
  EXPECT_EQ(refusal("training: {augment: {elastic: 6, elastic_grid: 40}}\n"), "accepted");
}

TEST_F(Experiments, TakeTiersLinksAndKnobsOfPlanners) {
  const MemoryOptions memory =
      load(
          "memory:\n  host: none\n  disk: {path: scratch, budget: 200GiB}\n"
          "  link: {to_host: 12GB/s, to_device: 500MB/s}\n",
          {"memory.disk.budget=1GiB",
           "memory.tflms={swapout_threshold: 7, swapin_ahead: auto, swapin_groupby: -1}"})
          .memory;
  EXPECT_EQ(memory.host_bytes, 0);
  EXPECT_EQ(memory.disk_folder, "scratch");
  EXPECT_EQ(memory.disk_bytes, 1 << 30);
  EXPECT_EQ(memory.to_host_rate, 12e9);
  EXPECT_EQ(memory.to_device_rate, 5e8);
  EXPECT_EQ(memory.tflms, (TflmsOptions{7, {}, {}, 0}));
  EXPECT_TRUE(load("", {"memory.disk=none"}).memory.disk_folder.empty());
  EXPECT_EQ(load("memory: {host: 1GiB}", {"memory.host=auto"}).memory.host_bytes, std::nullopt);
}

TEST_F(Experiments, SayWhereAndWhatIsWrongWithTiersAndLinks) {
  EXPECT_EQ(refusal("memory:\n  host: 12 potatoes\n").substr(0, 40),
            "study.yaml:2: memory.host: '12 potatoes'");
  EXPECT_TRUE(
      contains(refusal("", {"memory.host=0B"}), "memory.host: expected auto, none or a size above 0B"));
  EXPECT_TRUE(contains(refusal("", {"memory.host=[1GiB]"}), "found the list"));
  EXPECT_TRUE(contains(refusal("", {"memory.disk=somewhere"}), "expected none or {path: DIR, budget:"));
  EXPECT_TRUE(contains(refusal("", {"memory.disk={path: x}"}), "expected none or {path: DIR, budget:"));
  EXPECT_TRUE(contains(refusal("memory:\n  disk:\n    path: x\n    budgte: 1GiB\n"),
                       "study.yaml:4: unknown key 'memory.disk.budgte'; did you mean 'memory.disk.budget'?"));
  EXPECT_TRUE(contains(refusal("", {"memory.link={to_host: 12GB}"}), "'12GB' is not a rate"));
  EXPECT_TRUE(contains(refusal("", {"memory.link={to_host: 0GB/s}"}), "expected a rate above 0"));
  EXPECT_TRUE(contains(refusal("", {"memory.link={to_hots: 1GB/s}"}), "did you mean 'memory.link.to_host'?"));
  EXPECT_TRUE(contains(refusal("", {"memory.link=fast"}), "expected measured or {to_host:"));
  EXPECT_TRUE(contains(refusal("", {"memory.tflms.sync_mode=4"}), "of at least 0 and at most 3"));
  EXPECT_TRUE(
      contains(refusal("", {"memory.tflms.swapin_ahead=soon"}), "memory.tflms.swapin_ahead: expected"));
  EXPECT_TRUE(
      contains(refusal("", {"memory.lms_threshold=auto"}), "memory.lms_threshold: 'auto' is not a size"));
  EXPECT_TRUE(contains(refusal("", {"memory.planner=kep"}), "did you mean 'keep'?"));
}

TEST_F(Experiments, NameTheNearestSidesThatFitTheNetwork) {
  EXPECT_EQ(refusal("preprocess: {resolution: 100}\n"),
            "study.yaml:1: preprocess.resolution: 100 does not fit: sides must be multiples of 16 (network "
            "isensee2017 "
            "of depth 5); nearest: 96 and 112");
  const std::string box = refusal("preprocess: {resolution: [48, 60, 8]}\n");
  EXPECT_TRUE(contains(box, "y is 60, nearest: 48 and 64")) << box;
  EXPECT_TRUE(contains(box, "z is 8, nearest: 16")) << box;
  EXPECT_EQ(load("preprocess: {resolution: 100}\nnetwork: {depth: 3}\n").preprocess.resolution[0], 100);
  const RunOptions patches = load("preprocess: {resolution: 100}\ntraining: {patch: [64, 64, 32]}\n");
  EXPECT_EQ(patches.training.patch, (Size3{64, 64, 32}));
  EXPECT_TRUE(contains(patches.resolved, "patch: [64, 64, 32]"));
  EXPECT_EQ(load("training: {patch: 64}\n", {"training.patch=none"}).training.patch, std::nullopt);
  EXPECT_TRUE(contains(refusal("training: {patch: 100}\n"), "training.patch: 100 does not fit"));
  EXPECT_TRUE(contains(refusal("training: {patch: some}\n"), "expected a whole number"));
}

TEST_F(Experiments, KnowHowDeepEachNetworkMayBe) {
  EXPECT_EQ(refusal("network: {depth: 9}\n"),
            "study.yaml:1: network.depth: isensee2017 takes 2 to 8, found 9");
  EXPECT_EQ(load("network: {name: resnet3d, depth: 1000}\npreprocess: {resolution: 37}\n").network.depth,
            1000);
  EXPECT_TRUE(contains(refusal("network: {name: resnet3d, depth: 2001}\n"), "network.depth: expected"));
}

TEST_F(Experiments, ComeBackTheSameFromTheResolvedFile) {
  const RunOptions run = load(
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
  const RunOptions again = load_experiment(folder_ / "elsewhere/experiment.yaml", {}).run;
  EXPECT_EQ(again.resolved, run.resolved);
  EXPECT_EQ(changed_keys(run, again), std::vector<std::string>{});
  EXPECT_EQ(again.data.files, run.data.files);
  EXPECT_EQ(again.data.modalities, (std::vector<std::string>{"flair", "t1c"}));
  EXPECT_EQ(again.data.labels, (Labels{{"rim", 4}, {"core", 1}}));  // in the order of the file
  EXPECT_EQ(again.data.regions, (Regions{{"whole", {4, 1}}, {"core", {1}}}));
  EXPECT_EQ(again.data.root, fs::weakly_canonical(folder_ / "some/where"));
  EXPECT_EQ(again.split.file, fs::weakly_canonical(folder_ / "split.csv"));
  EXPECT_EQ(again.training.optimizer.learning_rate, 3e-4);
  EXPECT_EQ(again.training.seed, 18446744073709551615u);
  EXPECT_EQ(again.memory.budget_bytes, 1610612736);
  EXPECT_EQ(again.memory.host_bytes, 3 << 20);
  EXPECT_EQ(again.memory.disk_folder, "/a b");
  EXPECT_EQ(again.memory.disk_bytes, 1LL << 40);
  EXPECT_EQ(again.memory.to_host_rate, 0);
  EXPECT_EQ(again.memory.to_device_rate, 1.5e9);
  EXPECT_EQ(again.memory.tflms, (TflmsOptions{{}, 3, {}, 2}));
  EXPECT_EQ(again.memory.lms_threshold, 100);
  EXPECT_TRUE(again.preprocess.corner_background);

  const Experiment finished = load_run(folder_ / "elsewhere");
  EXPECT_EQ(finished.run.output, folder_ / "elsewhere");
  EXPECT_EQ(finished.run.name, "study");
}

TEST_F(Experiments, RefuseNamesThatAreNoFileNames) {
  for (const char* name : {"a/b", "..", ".hidden", "-x", "a b", "a;b", "a\\nb", "ü"})
    EXPECT_TRUE(contains(refusal(format("name: \"{}\"\n", name)), "is no safe file name")) << name;
  EXPECT_TRUE(contains(refusal("", {"output.dir=runs/{nmae}"}), "brace"));
}

TEST_F(Experiments, CheckThatPatternsLayoutAndLabelsAgree) {
  EXPECT_TRUE(contains(refusal("data: {layout: files}\n"), "needs a pattern per channel"));
  EXPECT_TRUE(
      contains(refusal("data: {layout: brats, files: {t1: x}}\n"), "patterns belong to data.layout files"));
  EXPECT_TRUE(contains(refusal("data: {layout: files, files: {truth: x}}\n"), "found only truth"));
  EXPECT_TRUE(contains(refusal("data: {modalities: [t2], files: {t1: x}}\n"), "'t2' has no pattern"));
  EXPECT_TRUE(
      contains(refusal("data: {labels: {a: 1}, regions: {b: [1, 2]}}\n"), "2 is no value of data.labels"));
}

TEST_F(Experiments, AreRefusedWithOneMessageWhateverTheFileHolds) {
  EXPECT_TRUE(contains(refusal("a: [1, 2\nb: 3\n"), "is not valid YAML"));
  EXPECT_TRUE(contains(refusal("a: &x [*x]\n"), "study.yaml:1: "));
  EXPECT_TRUE(contains(refusal("name: a\n---\nname: b\n"), "second document"));
  EXPECT_TRUE(contains(refusal(std::string("\0\1\2", 3)), "is no text file"));
  EXPECT_TRUE(contains(refusal(std::string(100000, '[')), "study.yaml"));
  EXPECT_TRUE(contains(refusal("? [a, b]\n: 1\n"), "must be a plain word"));
  EXPECT_TRUE(contains(refusal(std::string(2 << 20, '#')), "are no experiment file"));
  EXPECT_THROW(load_experiment(folder_ / "nowhere.yaml", {}), Error);
  EXPECT_THROW(load_experiment(folder_, {}), Error);
}

TEST_F(Experiments, OfNoRunAreBadData) {
  try {
    load_run(folder_);
    FAIL() << "accepted";
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::bad_data);
  }
}

}  // namespace
}  // namespace voxswap
