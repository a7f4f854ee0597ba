// Networks of images as a user has them: trained on classes, on pictures with masks and on slices, continued,
// and asked about what they have not seen.
#include <gtest/gtest.h>

#include "base/csv.h"
#include "base/file.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Images : public ProgramInAFolder {
 protected:
  void phantoms(const std::string& layout, const std::string& cases) {
    ASSERT_EQ(program({"phantom", "--out", (folder_ / "data").string(), "--cases", cases, "--size", "16",
                       "--seed", "3", "--layout", layout})
                  .code,
              0);
  }
  Words words(const std::string& command, const Words& settings) {
    write_file(folder_ / "experiment.yaml", R"(name: tiny
data: {root: data}
preprocess: {resolution: 16}
network: {base_filters: 2}
training: {epochs: 2, batch_size: 2, seed: 5, loss: softmax_cross_entropy}
)");
    Words result = {command, (folder_ / "experiment.yaml").string(), "data.cache=" + cache_.string()};
    result.insert(result.end(), settings.begin(), settings.end());
    return result;
  }
  Outcome run(Words settings, const std::string& out = "out") {
    settings.insert(settings.end(), {"--out", (folder_ / out).string()});
    return program(words("run", settings));
  }
};

TEST_F(Images, GetAClassEachWithAccuracyAndConfusions) {
  phantoms("classes", "8");
  const Words settings = {"network.name=resnet18"};
  const Outcome outcome = run(settings);
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("accuracy"), std::string::npos) << outcome.output;
  const Csv classes = read_csv(folder_ / "out/classes.csv"),
            accuracy = read_csv(folder_ / "out/accuracy.csv");
  EXPECT_EQ(accuracy.rows.size(), 2U);
  EXPECT_EQ(classes.rows.size(), 2U);
  EXPECT_FALSE(fs::exists(folder_ / "out/dice.csv"));
  EXPECT_NE(read_file(folder_ / "out/report.html").find("Predicted tumor"), std::string::npos);

  // Killed after an epoch or not: the same.
  Words shorter = settings;
  shorter.insert(shorter.end(), {"training.epochs=1"});
  ASSERT_EQ(run(shorter, "again").code, 0);
  Words longer = settings;
  longer.push_back("--resume");
  const Outcome resumed = run(longer, "again");
  ASSERT_EQ(resumed.code, 0) << resumed.output;
  EXPECT_EQ(read_file(folder_ / "again/classes.csv"), read_file(folder_ / "out/classes.csv"));

  const fs::path folder = folder_ / "data/tumor", out = folder_ / "told";
  ASSERT_EQ(
      program({"predict", (folder_ / "out").string(), "--input", folder.string(), "--out", out.string()})
          .code,
      0);
  const Csv told = read_csv(out / "classes.csv");
  EXPECT_EQ(told.rows.size(), 4U);
  EXPECT_EQ(told.header,
            (std::vector<std::string>{"case", "predicted", "probability_healthy", "probability_tumor"}));
}

TEST_F(Images, WithMasksAreSegmentedAndWrittenAsPictures) {
  phantoms("masks", "6");
  const Outcome outcome = run({"network.name=deeplabv3"});
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(read_csv(folder_ / "out/dice.csv").rows.size(), 3U);
  EXPECT_TRUE(fs::exists(folder_ / "out/slices"));
  const Words predict = {
      "predict", (folder_ / "out").string(),  "--input",         (folder_ / "data/images").string(),
      "--out",   (folder_ / "maps").string(), "--probabilities", "--tta"};
  const Outcome predicted = program(predict);
  ASSERT_EQ(predicted.code, 0) << predicted.output;
  EXPECT_TRUE(fs::exists(folder_ / "maps/phantom_000.png"));
  const Outcome scored = program({"evaluate", "--truth", (folder_ / "data/masks").string(), "--prediction",
                                  (folder_ / "maps").string(), "--out", (folder_ / "scores.csv").string()});
  EXPECT_EQ(scored.code, 0) << scored.output;
  EXPECT_EQ(program(words("preview", {"network.name=deeplabv3", "--out", (folder_ / "p.png").string()})).code,
            0);
  EXPECT_EQ(program({"check", (folder_ / "data").string()}).code, 0);
}

TEST_F(Images, OfVolumesAreSlicesAndScoredAsVolumes) {
  phantoms("brats2021", "5");
  const Words settings = {"network.name=deeplabv3", "preprocess.slices=axial",
                          "evaluate.at=[native, training, 12]"};
  ASSERT_EQ(program(words("plan", settings)).code, 0);
  const Outcome outcome = run(settings);
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(read_csv(folder_ / "out/dice.csv").rows.size(), 9U);
  EXPECT_EQ(program(words("preview", {settings[0], settings[1], "--out", (folder_ / "p.png").string()})).code,
            0);
  const Outcome predicted = program({"predict", (folder_ / "out").string(), "--input",
                                     (folder_ / "data").string(), "--out", (folder_ / "maps").string()});
  EXPECT_EQ(predicted.code, 0) << predicted.output;
  EXPECT_TRUE(fs::exists(folder_ / "maps/BraTS2021_00000.nii.gz"));
}

TEST_F(Images, GiveTheSameBytesUnderAnyPlan) {
  phantoms("brats2021", "4");
  const Words settings = {"network.name=deeplabv3", "preprocess.slices=axial", "training.epochs=1"};
  Words swapped = settings;
  swapped.insert(swapped.end(),
                 {"memory.planner=lms-threshold", "memory.lms_threshold=1KiB", "memory.host=64MiB"});
  ASSERT_EQ(run(settings, "kept").code, 0);
  const Outcome outcome = run(swapped, "swapped");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(read_file(folder_ / "kept/dice.csv"), read_file(folder_ / "swapped/dice.csv"));
}

TEST_F(Images, AreRefusedWithOneClearMessage) {
  phantoms("classes", "4");
  fs::resize_file(folder_ / "data/tumor/phantom_000.png", 60);
  const Outcome truncated = run({"network.name=resnet18"});
  EXPECT_EQ(truncated.code, 3);
  EXPECT_NE(truncated.output.find("phantom_000.png"), std::string::npos) << truncated.output;
  EXPECT_EQ(program({"check", (folder_ / "data").string()}).code, 3);
  const Outcome other = run({"network.name=deeplabv3"});
  EXPECT_EQ(other.code, 2);
  const Outcome loss = run({"network.name=resnet18", "training.loss=weighted_dice"});
  EXPECT_EQ(loss.code, 2);
  EXPECT_NE(loss.output.find("softmax_cross_entropy"), std::string::npos) << loss.output;
}

}  // namespace
}  // namespace voxswap::cli
