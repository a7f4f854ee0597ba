// Tests that a results folder of nnU-Net 2 becomes a run which predicts nnU-Net's own label maps, and that
// unsuitable folders are refused with one message.
#include <gtest/gtest.h>

#include <functional>

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
  EXPECT_TRUE(files("of_run", ".nii.gz") == files("of_model", ".nii.gz"));
}

TEST_F(NnunetResults, OfAnUnfinishedFoldAreImportedWithoutIt) {
  const fs::path results = copy();
  fs::rename(results / "fold_1/checkpoint_final.pth", results / "fold_1/checkpoint_best.pth");
  const Outcome outcome = succeeded(program({"import", results.string(), "--out", path("one_fold")}));
  EXPECT_TRUE(contains(outcome.output + outcome.errors, "fold_1"));
  EXPECT_TRUE(fs::exists(folder_ / "one_fold/checkpoints/best.safetensors"));
}

TEST_F(NnunetResults, ThatCannotBeImportedAreRefusedWithWhatIsWrong) {
  const std::string checkpoint = "fold_0/checkpoint_final.pth";
  const std::vector<std::pair<std::function<void(const fs::path&)>, std::string>> cases = {
      {[](const fs::path& of) { fs::remove_all(of / "fold_0"), fs::remove_all(of / "fold_1"); },
       "checkpoint_final.pth"},
      {[](const fs::path& of) { fs::remove(of / "plans.json"); }, "plans.json"},
      {[](const fs::path& of) { fs::remove_all(of); }, "no such folder"},
      {[&](const fs::path& of) { fs::resize_file(of / checkpoint, fs::file_size(of / checkpoint) / 2); },
       checkpoint},
      {[](const fs::path& of) { write_file(of / "fold_1/checkpoint_final.pth", ""); },
       "fold_1/checkpoint_final.pth"},
      {[](const fs::path& of) {
         replace(of / "plans.json", "dynamic_network_architectures.architectures.unet.PlainConvUNet",
                 "my_networks.Transformer");
       },
       "Transformer"},
      {[](const fs::path& of) { write_file(of / "dataset.json", "{\"channel_names\": 3}"); }, "dataset.json"},
      {[](const fs::path& of) { replace(of / "plans.json", "[4, 8, 8]", "[2, 4, 8]"); }, "other shapes"}};
  for (const auto& [change, words] : cases) {
    SCOPED_TRACE(words);
    const fs::path results = copy();
    change(results);
    refused(3, {"import", results.string(), "--out", path("refused")}, words);
    EXPECT_FALSE(fs::exists(folder_ / "refused"));
  }
}

TEST_F(NnunetResults, AreNamedWhereARunIsExpected) {
  failed(
      program({"predict", fixture.string(), "--input", (fixture / "imagesTs").string(), "--out", path("x")}),
      3, {"voxswap import"});
}

}  // namespace
}  // namespace voxswap::cli
