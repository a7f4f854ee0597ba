// Networks for images from a user's view: trained on classes, on images with masks and on slices, resumed,
// and applied to new images.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Images : public ProgramInAFolder {
 protected:
  Words words(const std::string& command, const Words& settings) {
    write("experiment.yaml", R"(name: tiny
data: {root: data}
preprocess: {resolution: 16}
network: {base_filters: 2}
training: {epochs: 2, batch_size: 2, seed: 5, loss: softmax_cross_entropy}
)");
    return Words{command, path("experiment.yaml"), "data.cache=" + cache_.string()} + settings;
  }
  Outcome run(const Words& settings, const std::string& out = "out") {
    return program(words("run", settings + Words{"--out", path(out)}));
  }
};

TEST_F(Images, GetAClassEachWithAccuracyAndConfusions) {
  phantoms("8", "16", {"--layout", "classes"});
  const Words settings = {"network.name=resnet18"};
  const Outcome outcome = succeeded(run(settings));
  EXPECT_TRUE(contains(outcome.output, "accuracy"));
  const Csv classes = read_csv(folder_ / "out/classes.csv"),
            accuracy = read_csv(folder_ / "out/accuracy.csv");
  EXPECT_EQ(accuracy.rows.size(), 2U);
  EXPECT_EQ(classes.rows.size(), 2U);
  EXPECT_FALSE(fs::exists(folder_ / "out/dice.csv"));
  EXPECT_TRUE(contains(bytes("out/report.html"), "Predicted tumor"));

  // Interrupted after an epoch, the results are the same.
  succeeded(run(settings + Words{"training.epochs=1"}, "again"));
  succeeded(run(settings + Words{"--resume"}, "again"));
  EXPECT_EQ(bytes("again/classes.csv"), bytes("out/classes.csv"));

  const fs::path folder = folder_ / "data/tumor", out = folder_ / "predicted";
  succeeded(program({"predict", path("out"), "--input", folder.string(), "--out", out.string()}));
  const Csv predicted = read_csv(out / "classes.csv");
  EXPECT_EQ(predicted.rows.size(), 4U);
  EXPECT_EQ(predicted.header,
            (std::vector<std::string>{"case", "predicted", "probability_healthy", "probability_tumor"}));
  EXPECT_FALSE(contains(bytes("out/report.html"), "trained, not scored"));
}

TEST_F(Images, WithMasksAreSegmentedAndWrittenAsPictures) {
  phantoms("6", "16", {"--layout", "masks"});
  succeeded(run({"network.name=deeplabv3"}));
  EXPECT_EQ(read_csv(folder_ / "out/dice.csv").rows.size(), 3U);
  EXPECT_TRUE(fs::exists(folder_ / "out/slices"));
  const Words predict = {"predict", path("out"),  "--input",         path("data/images"),
                         "--out",   path("maps"), "--probabilities", "--tta"};
  done(predict);
  EXPECT_TRUE(fs::exists(folder_ / "maps/phantom_000.png"));
  const std::string image = path("data/images/phantom_000.png");
  done({"predict", path("out"), "--input", image, "--out", path("one.png"), "--tta"});
  EXPECT_EQ(bytes("one.png"), bytes("maps/phantom_000.png"));
  refused(2, {"predict", path("out"), "--input", image, "--out", path("one.jpg")}, "2D images as .png");
  done(
      {"evaluate", "--truth", path("data/masks"), "--prediction", path("maps"), "--out", path("scores.csv")});
  done(words("preview", {"network.name=deeplabv3", "--out", path("p.png")}));
  done({"check", path("data")});
}

TEST_F(Images, OfVolumesAreSlicesAndScoredAsVolumes) {
  phantoms("5", "16", {"--layout", "brats2021"});
  const Words settings = {"network.name=deeplabv3", "preprocess.slices=axial",
                          "evaluate.at=[native, training, 12]"};
  done(words("plan", settings));
  succeeded(run(settings));
  EXPECT_EQ(read_csv(folder_ / "out/dice.csv").rows.size(), 9U);
  done(words("preview", {settings[0], settings[1], "--out", path("p.png")}));
  done({"predict", path("out"), "--input", path("data"), "--out", path("maps")});
  EXPECT_TRUE(fs::exists(folder_ / "maps/BraTS2021_00000.nii.gz"));
}

TEST_F(Images, GiveTheSameBytesUnderAnyPlan) {
  phantoms("4", "16", {"--layout", "brats2021"});
  const Words settings = {"network.name=deeplabv3", "preprocess.slices=axial", "training.epochs=1"};
  const Words swapped =
      settings + Words{"memory.planner=lms-threshold", "memory.lms_threshold=1KiB", "memory.host=64MiB"};
  succeeded(run(settings, "kept"));
  succeeded(run(swapped, "swapped"));
  EXPECT_EQ(bytes("kept/dice.csv"), bytes("swapped/dice.csv"));
}

TEST_F(Images, AreRefusedWithOneClearMessage) {
  phantoms("4", "16", {"--layout", "classes"});
  fs::resize_file(folder_ / "data/tumor/phantom_000.png", 60);
  failed(run({"network.name=resnet18"}), 3, {"phantom_000.png"});
  refused(3, {"check", path("data")});
  failed(run({"network.name=deeplabv3"}), 2);
  failed(run({"network.name=resnet18", "training.loss=weighted_dice"}), 2, {"softmax_cross_entropy"});
}

}  // namespace
}  // namespace voxswap::cli
