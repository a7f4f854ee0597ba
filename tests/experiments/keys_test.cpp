// Keys of data, losses, weights and memory: parsing, printing and errors.
#include "base/file.h"
#include "tests/experiments/support.h"

namespace voxswap::experiments {
namespace {

TEST_F(Experiments, TakeBiasCorrectionAndClipping) {
  EXPECT_TRUE(load("preprocess: {bias_correction: none, clip: none}\n").preprocess.bias_correction.empty());
  const data::PrepareOptions named =
      load("preprocess: {bias_correction: [t1, t2], clip: [0.5, 99]}\n").preprocess;
  EXPECT_EQ(named.bias_correction, (std::vector<std::string>{"t1", "t2"}));
  EXPECT_EQ(named.clip_low, 0.5);
  EXPECT_EQ(named.clip_high, 99);
  EXPECT_EQ(load("preprocess: {bias_correction: n4}\n").preprocess.bias_correction,
            std::vector<std::string>{"n4"});
  for (const char* setting : {"bias_correction: n3", "bias_correction: []", "clip: 5", "clip: [99, 1]",
                              "clip: [0, 101]", "normalize: zscore"})
    expect_refused(format("preprocess: {{{}}}\n", setting), "study.yaml:1: preprocess.");
}

TEST_F(Experiments, TakeTheSpacingOfEachCaseAndCascadesOnlyWithTheRecipeOfNnunet) {
  const std::string recipe = "recipe: nnunet, schemes: [zscore]";
  const data::PrepareOptions read =
      load("preprocess: {spacing: [0.8, 0.9, own], cascade: true, " + recipe + "}\n").preprocess;
  EXPECT_EQ(data::spacing_for(read.spacing, {1, 1, 5}), (Spacing{0.8, 0.9, 5}));
  EXPECT_TRUE(read.cascade);
  expect_refused("preprocess: {spacing: [own, 1, 1], " + recipe + "}\n", "expected a number");
  expect_refused("preprocess: {spacing: [1, 1, own]}\n", "own is for the recipe nnunet");
  expect_refused("preprocess: {cascade: true}\n", "needs preprocess.recipe: nnunet");
}

TEST_F(Experiments, TakeAugmentationAsANumberOrARangeWithAProbability) {
  const data::AugmentOptions augment =
      load(
          "training:\n  augment:\n    rotation: 15\n    zoom: {range: [0.8, 1.3], probability: 0.25}\n"
          "    gamma: {range: [0.7, 1.5]}\n    low_resolution: 0.4\n    noise: 0.1\n    flip: [0.5, 0, "
          "0.25]\n")
          .training.augment;
  EXPECT_EQ(augment.rotation, (data::Draw{-15, 15, 1}));
  EXPECT_EQ(augment.zoom, (data::Draw{0.8, 1.3, 0.25}));
  EXPECT_EQ(augment.gamma, (data::Draw{0.7, 1.5, 1}));
  EXPECT_EQ(augment.low_resolution, (data::Draw{0.6, 1, 1}));
  EXPECT_EQ(augment.noise, (data::Draw{0, 0.1, 1}));
  EXPECT_EQ(augment.flip, (std::array{0.5, 0.0, 0.25}));
  EXPECT_EQ(augment.blur, data::Draw{});
}

TEST_F(Experiments, BeginAugmentationAtAPresetThatSingleKeysChange) {
  EXPECT_EQ(load("training: {augment: nnunet}\n").training.augment, data::nnunet_augmentation());
  EXPECT_EQ(load("training: {augment: {preset: nnunet}}\n").training.augment, data::nnunet_augmentation());
  data::AugmentOptions expected = data::nnunet_augmentation();
  expected.rotation.probability = 0.5;
  expected.zoom = {};
  expected.gamma = {0.9, 1.1, 1};
  // The order of the keys in the file does not matter.
  EXPECT_EQ(load("training: {augment: {zoom: 0, preset: nnunet}}\n",
                 {"training.augment.rotation.probability=0.5", "training.augment.gamma={range: [0.9, 1.1]}"})
                .training.augment,
            expected);
  EXPECT_EQ(load("", {"training.augment=nnunet"}).training.augment, data::nnunet_augmentation());
  expect_refused("training: {augment: monai}\n", "study.yaml:1: training.augment.preset: expected");
}

TEST_F(Experiments, RefuseAugmentationThatMeansNothing) {
  for (const char* setting :
       {"rotation: 200", "rotation: {range: [20, -20]}", "rotation: {probability: 0.5}",
        "rotation: {range: [1]}", "rotation: {range: [-5, 5], probability: 2}", "rotation: {}",
        "rotation: [5]", "zoom: 1", "zoom: {range: [0, 1]}", "gamma: 1", "low_resolution: 1", "noise: -1",
        "flip: [0.5, 0.5]", "flip: [0.5, 0.5, 2]", "scale: 2", "elastic_grid: 0", "elastic: 6",
        "blur: {range: [0, 1], chance: 1}"}) {
    const std::string message = refusal(format("training: {{augment: {{{}}}}}\n", setting));
    EXPECT_TRUE(contains(message, "study.yaml:1: ", "training.augment.")) << setting;
  }
  EXPECT_EQ(refusal("training: {augment: {elastic: 6, elastic_grid: 40}}\n"), "accepted");
}

TEST_F(Experiments, RefuseToMirrorForANetworkThatWasNeverShownMirroredImages) {
  const std::string plain = "training: {augment: {symmetries: false}}\n";
  EXPECT_EQ(refusal("evaluate: {tta: true}\n"), "accepted");
  EXPECT_EQ(refusal(plain), "accepted");
  EXPECT_EQ(refusal(plain + "evaluate: {tta: true}\n", {"training.augment.flip=[0.5, 0, 0]"}), "accepted");
  EXPECT_TRUE(contains(refusal(plain + "evaluate: {tta: true}\n"), "study.yaml:2: evaluate.tta: "));
  EXPECT_TRUE(contains(refusal("network: {name: deeplabv3}\n" + plain + "evaluate: {tta: true}\n",
                               {"training.augment.flip=[0, 0, 0.5]"}),
                       "evaluate.tta"));
}

TEST_F(Experiments, TakeOneNumberForBothSidesOfAnImage) {
  const std::string image = "network: {name: deeplabv3}\n";
  EXPECT_EQ(load(image).preprocess.resolution, (Size3{128, 128, 1}));
  EXPECT_EQ(load(image + "preprocess: {resolution: 96}\n").preprocess.resolution, (Size3{96, 96, 1}));
  EXPECT_EQ(load(image + "preprocess: {resolution: [80, 96]}\n").preprocess.resolution, (Size3{80, 96, 1}));
  EXPECT_EQ(load(image + "training: {patch: 32}\n").training.patch, (Size3{32, 32, 1}));
  expect_refused(image + "preprocess: {resolution: [8, 8, 4]}\n", "found 4 planes");
  expect_refused("preprocess: {resolution: [32, 32]}\n", "Network isensee2017 takes volumes: use [x, y, z]");
}

TEST_F(Experiments, RefuseImagesThatMeanNothing) {
  const std::string softmax = "training: {loss: softmax_cross_entropy",
                    classes = "network: {name: resnet50}\n";
  EXPECT_EQ(refusal(classes + softmax + "}\n"), "accepted");
  EXPECT_EQ(refusal(classes), "accepted") << "there is one loss that it takes";
  expect_refused(classes + "training: {loss: weighted_dice}\n", "training.loss");
  expect_refused(classes + softmax + ", patch: 32}\n", "training.patch");
  expect_refused("preprocess: {slices: axial}\n", "Use deeplabv3");
  expect_refused(classes + softmax + "}\npreprocess: {slices: axial}\n", "Use deeplabv3");
  expect_refused(softmax + ", targets: regions}\n", "training.targets");
}

// Without folds, every fold would be the same split.
TEST_F(Experiments, RefuseAFoldWhereThereAreNoFolds) {
  expect_refused("data:\n  split: {fold: 1}\n",
                 "study.yaml:2: data.split.fold: fold 1 needs several folds, but data.split.file is not set");
  expect_refused("", {"data.split.fold=2", "data.split.file=split.csv"}, "is not a .json");
  EXPECT_EQ(load("data: {split: {file: splits_final.json, fold: 3}}\n").split.fold, 3);
  expect_refused("data: {split: {fold: 0}}\n", "data.split.fold: fold 0 needs");
  EXPECT_EQ(load("data: {split: {folds: 5, fold: 4}}\n").split.folds, 5);
  EXPECT_TRUE(contains(load("data: {split: {folds: 5}}\n").resolved, "fold: 0"));
  expect_refused("data: {split: {folds: 5, fold: 5}}\n", "There is no fold 5");
  expect_refused("data: {split: {folds: 1}}\n", "no case would train");
  expect_refused("data: {split: {folds: 5, file: split.csv}}\n", "Use one of the two");
  EXPECT_FALSE(contains(load("").resolved, "fold:"));
  EXPECT_TRUE(contains(load("data: {split: {file: splits_final.json}}\n").resolved, "fold: 0"));
  // Runs of version 0.1 have this setting anyway, and can be resumed.
  fs::create_directories(folder_ / "before");
  write("data: {split: {fold: 0}}\nsweep: {}\n", "before/experiment.yaml");
  EXPECT_EQ(load_run(folder_ / "before").split.fold, 0);
}

TEST_F(Experiments, ReadWhatTheLossIs) {
  const LoadedExperiment plain = load("");
  EXPECT_EQ(plain.training.label_smoothing, 0);
  EXPECT_EQ(plain.training.focal_gamma, 0);
  EXPECT_FALSE(plain.training.batch_dice || plain.training.class_weights.automatic);
  EXPECT_FALSE(plain.data.ignore_label) << "as the data set says";
  EXPECT_TRUE(contains(plain.resolved, "  ignore_label: auto\n", "  class_weights: none\n"));

  const LoadedExperiment run = load(
      "data: {ignore_label: 9}\ntraining: {loss: softmax_dice_cross_entropy, label_smoothing: 0.1,\n"
      "  focal_gamma: 2, batch_size: 2, batch_dice: true, class_weights: {background: 0.5, edema: 2}}\n",
      {"training.class_weights.core=3"});
  EXPECT_EQ(run.data.ignore_label, 9);
  EXPECT_EQ(run.training.label_smoothing, 0.1);
  EXPECT_EQ(run.training.focal_gamma, 2);
  EXPECT_TRUE(run.training.batch_dice);
  const std::vector<std::pair<std::string, double>> weights = {
      {"background", 0.5}, {"edema", 2}, {"core", 3}};
  EXPECT_EQ(run.training.class_weights.by_name, weights);
  EXPECT_EQ(load(run.resolved).training.class_weights.by_name, weights);
  EXPECT_TRUE(load("training: {class_weights: auto}\n").training.class_weights.automatic);
  EXPECT_EQ(load("data: {ignore_label: none}\n").data.ignore_label, 0);
}

TEST_F(Experiments, RefuseLossesThatCannotBe) {
  expect_refused("training: {class_weights: {edema: 0}}\n",
                 "training.class_weights.edema: expected a number above 0");
  expect_refused("training: {class_weights: often}\n", "none, auto or a map");
  expect_refused("training: {label_smoothing: 1}\n", "below 1");
  expect_refused(
      "network: {name: deeplabv3}\npreprocess: {resolution: 64, slices: axial}\n"
      "training: {loss: softmax_dice_cross_entropy, batch_size: 2, batch_dice: true}\n",
      "training.batch_dice: deeplabv3 has batch norm");
}

TEST_F(Experiments, TakeWeightsToBeginWithUnderTheirEarlierNameToo) {
  const fs::path here = fs::weakly_canonical(folder_);
  EXPECT_EQ(load("network: {init: a.safetensors}\n").training.init, here / "a.safetensors");
  const LoadedExperiment run = load("training: {weights: a.safetensors}\n");
  EXPECT_EQ(run.training.init, here / "a.safetensors");
  EXPECT_TRUE(contains(run.resolved, "  init: " + (here / "a.safetensors").string() + "\n"));
  EXPECT_EQ(load("", {"training.weights=none"}).training.init, "");
  expect_refused("network: {init: a}\ntraining: {weights: b}\n", "is set twice");
}

TEST_F(Experiments, SplitVolumesIntoSlabsUnderTheFormerNameOfTheKeyToo) {
  EXPECT_EQ(load("memory: {slabs: 8}\n").memory.slabs, 8);
  const LoadedExperiment run = load("memory: {pieces: 8}\n");
  EXPECT_EQ(run.memory.slabs, 8);
  EXPECT_TRUE(contains(run.resolved, "  slabs: 8\n"));
  EXPECT_EQ(load("", {"memory.pieces=none"}).memory.slabs, net::whole_volumes);
  expect_refused("memory: {pieces: 8, slabs: 4}\n", "is set twice");
}

TEST_F(Experiments, FreezeNothingOnePartOrSeveral) {
  EXPECT_TRUE(load("training: {freeze: none}\n").network.frozen.empty());
  EXPECT_EQ(load("", {"training.freeze=encoder"}).network.frozen, std::vector<std::string>{"encoder"});
  const LoadedExperiment run = load("training: {freeze: [encoder.0, \"*.norm\"]}\n");
  EXPECT_EQ(run.network.frozen, (std::vector<std::string>{"encoder.0", "*.norm"}));
  EXPECT_EQ(load(run.resolved).network.frozen, run.network.frozen);
}

TEST_F(Experiments, AverageNothingThatCannotBeAveraged) {
  expect_refused("training: {epochs: 3, averaging: {name: ema, start: 4}}\n",
                 "study.yaml:1: training.averaging.start: epoch 4 is after the last epoch (3)");
  const std::string images = "preprocess: {resolution: 32}\nnetwork: {name: resnet18}\n";
  expect_refused(images, {"training.averaging.name=swa"}, "swa does not support resnet18");
  EXPECT_EQ(load(images, {"training.averaging.name=ema"}).training.averaging.name, pipeline::Averaging::ema);
}

TEST_F(Experiments, NameTheDeviceThatAGpuIsHere) {
  for (const char* name : {"gpu", "GPU", "gpu:0", "nvidia", "cuda1"})
    expect_refused("", {format("memory.device={}", name)}, "cuda for a GPU");
  EXPECT_EQ(load("", {"memory.device=cuda:1"}).memory.device, "cuda:1");
  expect_refused("", {"memory.budget=4GB"}, "Did you mean 4GiB?");
}

TEST_F(Experiments, TakeTiersLinksAndKnobsOfPlanners) {
  const pipeline::MemoryOptions memory =
      load(
          "memory:\n  host: none\n  disk: {path: scratch, budget: 200GiB}\n"
          "  link: {to_host: 12GB/s, to_device: 500MB/s}\n",
          {"memory.disk.budget=1GiB",
           "memory.tflms={swapout_threshold: 7, swapin_ahead: auto, swapin_groupby: -1}"})
          .memory;
  EXPECT_EQ(memory.host_bytes, 0);
  EXPECT_EQ(memory.disk_folder, fs::weakly_canonical(folder_ / "scratch"));  // relative to the file
  EXPECT_EQ(memory.disk_bytes, 1 << 30);
  EXPECT_EQ(memory.to_host_rate, 12e9);
  EXPECT_EQ(memory.to_device_rate, 5e8);
  EXPECT_EQ(memory.tflms, (swap::TflmsOptions{7, {}, {}, 0}));
  EXPECT_TRUE(load("", {"memory.disk=none"}).memory.disk_folder.empty());
  EXPECT_EQ(load("memory: {host: 1GiB}", {"memory.host=auto"}).memory.host_bytes, std::nullopt);
}

TEST_F(Experiments, OfASweepsCellsAreReadWithTheMemoryThatWasAskedFor) {
  const std::string asked = load("memory: {planner: keep}\n").resolved;
  const std::string got =
      load("training: {epochs: 7}\nmemory: {planner: keep, budget: 3GiB, host: none}\n").resolved;
  const fs::path file = write(got, "experiment.yaml");
  const auto value = [&](const std::string& key) {
    for (const pipeline::Setting& setting : read_settings_of_run(file))
      if (setting.key == key) return setting.value;
    return std::string("not there");
  };
  EXPECT_EQ(value("memory.budget"), "3GiB");
  write("# voxswap run cell.yaml\n" + asked, cell_file);
  EXPECT_EQ(value("memory.budget"), "auto");
  EXPECT_EQ(value("memory.host"), "auto");
  EXPECT_EQ(value("training.epochs"), "7");
}

TEST_F(Experiments, SayWhereAndWhatIsWrongWithTiersAndLinks) {
  EXPECT_EQ(refusal("memory:\n  host: 12 potatoes\n").substr(0, 40),
            "study.yaml:2: memory.host: '12 potatoes'");
  expect_refused("", {"memory.host=0B"}, "memory.host: expected auto, none or a size above 0B");
  expect_refused("", {"memory.host=[1GiB]"}, "found the list");
  expect_refused("", {"memory.disk=somewhere"}, "expected none or {path: DIR, budget:");
  expect_refused("", {"memory.disk={path: x}"}, "expected none or {path: DIR, budget:");
  expect_refused("memory:\n  disk:\n    path: x\n    budgte: 1GiB\n",
                 "study.yaml:4: unknown key 'memory.disk.budgte'. Did you mean 'memory.disk.budget'?");
  expect_refused("", {"memory.link={to_host: 12GB}"}, "'12GB' is not a rate");
  expect_refused("", {"memory.link={to_host: 0GB/s}"}, "expected a rate above 0");
  expect_refused("", {"memory.link={to_hots: 1GB/s}"}, "Did you mean 'memory.link.to_host'?");
  expect_refused("", {"memory.link=fast"}, "expected measured or {to_host:");
  expect_refused("", {"memory.tflms.sync_mode=4"}, "of at least 0 and at most 3");
  expect_refused("", {"memory.tflms.swapin_ahead=soon"}, "memory.tflms.swapin_ahead: expected");
  expect_refused("", {"memory.lms_threshold=auto"}, "memory.lms_threshold: 'auto' is not a size");
  expect_refused("", {"memory.planner=kep"}, "Did you mean 'keep'?");
  expect_refused("", {"memory.slabs=some"}, "memory.slabs: expected auto, none, or a whole number");
  expect_refused("", {"memory.slabs=0"}, "memory.slabs: expected auto, none, or a whole number");
  expect_refused("", {"memory.slabs=[4]"}, "expected auto, none, or a whole number of planes");
}

}  // namespace
}  // namespace voxswap::experiments
