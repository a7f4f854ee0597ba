// Tests that a results folder of nnU-Net 2 becomes a run which predicts nnU-Net's own label maps, and that
// unsuitable folders are refused with one message.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

const fs::path fixture = fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures/nnunet_results";

class NnunetResults : public ProgramInASharedFolder<NnunetResults> {
 public:
  void make_for_all() const { done({"import", fixture.string(), "--out", path("run"), "--quiet"}); }

 protected:
  // A copy of the fixture, without its cases, to change.
  fs::path copy() const {
    static int count = 0;
    const fs::path to = folder_ / format("copy_{}", ++count);
    for (const char* file :
         {"plans.json", "dataset.json", "fold_0/checkpoint_final.pth", "fold_1/checkpoint_final.pth"}) {
      fs::create_directories((to / file).parent_path());
      fs::copy_file(fixture / file, to / file);
    }
    return to;
  }
  // The exit code must be 3 and nothing be written.
  void refused(const fs::path& results, const Words& words) const {
    failed(program({"import", results.string(), "--out", path("refused")}), 3, words);
    EXPECT_FALSE(fs::exists(folder_ / "refused"));
  }
  static void replace(const fs::path& file, const std::string& text, const std::string& by) {
    std::string content = read_file(file);
    ASSERT_NE(content.find(text), content.npos) << file << text;
    content.replace(content.find(text), text.size(), by);
    write_file(file, content);
  }
  // Case and label map as `evaluate` scores them against nnU-Net's.
  Csv scores(const std::string& prediction) const {
    done({"evaluate", "--truth", (fixture / "labels").string(), "--prediction", path(prediction), "--out",
          path(prediction + ".csv"), "--quiet"});
    return read_csv(folder_ / (prediction + ".csv"));
  }
};

TEST_F(NnunetResults, PredictNnunetsLabelMaps) {
  done(
      {"predict", path("run"), "--input", (fixture / "imagesTs").string(), "--out", path("maps"), "--quiet"});
  std::size_t scored = 0;
  const Csv table = scores("maps");
  for (std::size_t row = 0; row < table.rows.size(); ++row)
    for (std::size_t c = 0; c < table.header.size(); ++c)
      if (table.header[c] == "dice") {
        EXPECT_GE(std::stod(table.rows[row][c]), 0.999);
        ++scored;
      }
  EXPECT_EQ(scored, 4u);  // two cases, two labels
}

TEST_F(NnunetResults, PredictAloneOrAsAnInstalledModelWithTheSameBits) {
  done({"predict", path("run"), "--input", (fixture / "imagesTs").string(), "--out", path("of_run"),
        "--quiet"});
  done({"export", path("run"), "--to", "model", "--out", path("small.model")});
  done({"models", "--install", path("small.model"), "--models", path("models")});
  done({"predict", "small", "--models", path("models"), "--input", (fixture / "imagesTs").string(), "--out",
        path("of_model"), "--quiet"});
  for (const char* file : {"case_006.nii.gz", "case_007.nii.gz"})
    EXPECT_EQ(bytes(std::string("of_run/") + file), bytes(std::string("of_model/") + file));
}

TEST_F(NnunetResults, WithoutACheckpointAreRefused) {
  fs::path results = copy();
  fs::remove_all(results / "fold_0");
  fs::remove_all(results / "fold_1");
  refused(results, {"checkpoint_final.pth"});
  results = copy();
  fs::remove(results / "plans.json");
  refused(results, {"plans.json"});
  refused(folder_ / "nowhere", {"no such folder"});
}

TEST_F(NnunetResults, OfAnUnfinishedFoldAreImportedWithoutIt) {
  const fs::path results = copy();
  fs::rename(results / "fold_1/checkpoint_final.pth", results / "fold_1/checkpoint_best.pth");
  const Outcome outcome = succeeded(program({"import", results.string(), "--out", path("one_fold")}));
  EXPECT_TRUE(contains(outcome.output + outcome.errors, "fold_1"));
  EXPECT_TRUE(fs::exists(folder_ / "one_fold/checkpoints/best.safetensors"));
}

TEST_F(NnunetResults, WithDamagedOrOtherFilesAreRefused) {
  fs::path results = copy();
  const std::string whole = read_file(results / "fold_0/checkpoint_final.pth");
  write_file(results / "fold_0/checkpoint_final.pth", whole.substr(0, whole.size() / 2));
  refused(results, {"fold_0/checkpoint_final.pth"});
  results = copy();
  write_file(results / "fold_1/checkpoint_final.pth", "");
  refused(results, {"fold_1/checkpoint_final.pth"});
  results = copy();
  replace(results / "plans.json", "dynamic_network_architectures.architectures.unet.PlainConvUNet",
          "my_networks.Transformer");
  refused(results, {"Transformer"});
  results = copy();
  write_file(results / "dataset.json", "{\"channel_names\": 3}");
  refused(results, {"dataset.json"});
}

TEST_F(NnunetResults, WithWeightsOfAnotherNetworkAreRefused) {
  const fs::path results = copy();
  replace(results / "plans.json", "[4, 8, 8]", "[2, 4, 8]");
  refused(results, {"other shapes"});
}

TEST_F(NnunetResults, AreNamedWhereARunIsExpected) {
  failed(
      program({"predict", fixture.string(), "--input", (fixture / "imagesTs").string(), "--out", path("x")}),
      3, {"voxswap import"});
}

}  // namespace
}  // namespace voxswap::cli
