// Keys that have no effect are reported.
#include "base/file.h"
#include "experiments/rules.h"
#include "experiments/sweep.h"
#include "tests/experiments/support.h"

namespace voxswap::experiments {
namespace {

using Found = std::map<std::string, std::string>;

class KeysWithoutEffect : public Experiments {
 protected:
  Found found(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    return load_experiment(write(text), overrides).without_effect;
  }
};

TEST_F(KeysWithoutEffect, AreThoseThatMeanNothingBesideOthers) {
  EXPECT_EQ(found("training: {schedule: {name: poly, factor: 0.3}}\n"),
            (Found{{"training.schedule.factor", "training.schedule.name is poly"}}));
  EXPECT_EQ(found("network: {name: unet3d}\n", {"network.dropout=0.1"}),
            (Found{{"network.dropout", "network.name is unet3d"}}));
  EXPECT_EQ(found("data: {split: {file: split.csv, validation: 0.5, seed: 7}}\n").size(), 2u);
  const std::vector<std::vector<std::string>> in_vain = {
      {"network.name=unet3d", "network.slope=0.1"},
      {"training.schedule.name=cosine", "training.schedule.patience=3"},
      {"training.batch_size=4", "training.optimizer.reference_batch=2"},
      {"training.augment.symmetries=true", "training.augment.flip=0.5"},
      {"training.augment.elastic=0", "training.augment.elastic_grid=20"},
      {"network.name=resnet50", "network.depth=3"},
      {"network.name=deeplabv3", "network.slope=0.1"},
      {"training.optimizer.name=adam", "training.optimizer.momentum=0.5"},
      {"training.averaging.name=swa", "training.averaging.decay=0.9"},
      {"training.averaging.name=none", "training.averaging.start=2"},
      {"training.loss=weighted_dice", "training.label_smoothing=0.1"},
      {"training.loss=weighted_dice", "training.focal_gamma=2"},
      {"training.batch_size=1", "training.batch_dice=true"},
      {"data.split.folds=3", "data.split.validation=0.5"},
      {"memory.device=cpu", "training.deterministic=false"},
      {"memory.planner=keep", "memory.disk={path: d, budget: 1GiB}"},
      {"memory.planner=checkpoint", "memory.link={to_host: 1GB/s}"},
      {"memory.planner=hybrid", "memory.tflms.sync_mode=1"},
      {"memory.planner=tflms", "memory.lms_threshold=1MiB"},
      {"evaluate.metrics=dice", "evaluate.surface_tolerance=2"},
      {"evaluate.metrics=dice", "evaluate.lesions.dilation=2"}};
  for (const auto& lines : in_vain) {
    const std::string key = lines[1].substr(0, lines[1].find('='));
    EXPECT_EQ(found("", lines).count(key), 1u) << key;
    EXPECT_EQ(found("", lines).size(), 1u) << key;
  }
}

TEST_F(KeysWithoutEffect, AreNoneWhereTheyHaveOneOrWereLeftAtTheirDefault) {
  const std::vector<std::vector<std::string>> effective = {
      {"network.name=resnet3d",
       "network.upsampling=nearest"},  // the network rejects it: one message is enough
      {"network.name=resnet3d", "network.slope=0.1"},
      {"network.name=deeplabv3", "network.dropout=0.5"},
      {"training.schedule.name=plateau", "training.schedule.patience=3"},
      {"training.optimizer.rate_scaling=sqrt", "training.optimizer.reference_batch=2"},
      {"training.augment.symmetries=false", "training.augment.flip=0.5"},
      {"training.augment.elastic=2", "training.augment.elastic_grid=20"},
      {"memory.planner=tflms", "memory.tflms.sync_mode=1"},
      {"memory.planner=hybrid", "memory.disk={path: d, budget: 1GiB}"},
      {"evaluate.metrics=[dice, surface_dice]", "evaluate.surface_tolerance=2"},
      {"evaluate.metrics=[dice, boundary_iou]", "evaluate.surface_tolerance=2"},
      {"evaluate.metrics=[dice, lesion_wise_hd95]", "evaluate.lesions.dilation=2"},
      {"network.name=unet3d", "network.dropout=0.3"}};  // the default
  for (const auto& lines : effective) EXPECT_EQ(found("", lines), Found{}) << lines[1];
  const LoadedExperiment run = load("");
  EXPECT_EQ(found(run.resolved), Found{}) << "the resolved file has every key";
}

TEST_F(KeysWithoutEffect, OfASweepAreThoseThatHaveNoneInAnyCell) {
  const fs::path file = write("training: {schedule: {factor: 0.3}}\n");
  EXPECT_EQ(load_sweep(file, {"training.schedule.name=plateau,poly"}, "").base.without_effect, Found{});
  EXPECT_EQ(load_sweep(file, {"training.schedule.name=cosine,poly"}, "").base.without_effect.size(), 1u);
}

TEST_F(KeysWithoutEffect, AreInNoExperimentThatShips) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(VOXSWAP_SOURCE_DIR) / "experiments")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    const bool sweep = contains(read_file(entry.path()), "\nsweep:");
    const Found vain = sweep ? load_sweep(entry.path(), {}, "").base.without_effect
                             : load_experiment(entry.path(), {}).without_effect;
    for (const auto& [key, why] : vain) ADD_FAILURE() << entry.path() << ": " << key << ": " << why;
  }
  EXPECT_GT(files, 20);
}

}  // namespace
}  // namespace voxswap::experiments
