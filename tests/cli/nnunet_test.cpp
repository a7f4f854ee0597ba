// Tests that a results folder of nnU-Net 2 becomes a run which predicts nnU-Net's own label maps, and that
// unsuitable folders are refused with one message.
#include <gtest/gtest.h>

#include <cstdlib>
#include <functional>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

const fs::path fixtures = fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures/nnunet_results";
const fs::path fixture = fixtures / "nnUNetTrainer__nnUNetPlans__3d_fullres";
const std::string images = (fixtures / "imagesTs").string();

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
  // Predicts two cases, and expects the label maps in a folder of the fixture, which have two labels.
  void expect_label_maps(const std::string& run, const std::string& labels) const {
    const std::string maps = "maps_" + labels;
    done({"predict", path(run), "--input", images, "--out", path(maps), "--quiet"});
    done({"evaluate", "--truth", (fixtures / labels).string(), "--prediction", path(maps), "--out",
          path(maps + ".csv"), "--quiet"});
    const Csv table = read_csv(folder_ / (maps + ".csv"));
    const auto dice = std::find(table.header.begin(), table.header.end(), "dice") - table.header.begin();
    EXPECT_EQ(table.rows.size(), 4u);
    for (const auto& row : table.rows) EXPECT_GE(std::stod(row.at(static_cast<std::size_t>(dice))), 0.999);
  }
};

TEST_F(NnunetResults, PredictNnunetsLabelMaps) {
  expect_label_maps("run", "labels");
}

TEST_F(NnunetResults, OfA2dNetworkPredictItsLabelMapsSliceBySlice) {
  done(
      {"import", (fixtures / "nnUNetTrainer__nnUNetPlans__2d").string(), "--out", path("planes"), "--quiet"});
  expect_label_maps("planes", "labels_2d");
}

TEST_F(NnunetResults, OfACascadePredictTheLabelMapsOfItsSecondNetwork) {
  const fs::path second = fixtures / "nnUNetTrainer__nnUNetPlans__3d_cascade_fullres";
  done({"import", second.string(), "--out", path("cascade"), "--quiet"});
  expect_label_maps("cascade", "labels_cascade");
  const Json record = parse_json(read_file(folder_ / "maps_labels_cascade/prediction.json"));
  EXPECT_EQ(record.at("predictions").at(0).at("weights").size(), 2u) << "of both networks";
  refused(2, {"export", path("cascade"), "--to", "model", "--out", path("cascade.model")}, "cascade");
  refused(2, {"run", path("cascade/experiment.yaml"), "--out", path("trained")}, "preprocess.cascade");
}

TEST_F(NnunetResults, OfACascadeWithoutItsFirstNetworkAreRefused) {
  const fs::path alone = folder_ / "alone" / "nnUNetTrainer__nnUNetPlans__3d_cascade_fullres";
  fs::create_directories(alone.parent_path());
  fs::copy(fixtures / alone.filename(), alone, fs::copy_options::recursive);
  refused(3, {"import", alone.string(), "--out", path("half")}, "nnUNetTrainer__nnUNetPlans__3d_lowres");
  EXPECT_FALSE(fs::exists(folder_ / "half"));
}

TEST_F(NnunetResults, WithPostprocessingPredictWhatItLeaves) {
  const fs::path results = copy(), chosen = results / "crossval_results_folds_0_1/postprocessing.pkl";
  fs::create_directories(chosen.parent_path());
  fs::copy_file(fixtures / "postprocessing.pkl", chosen);
  done({"import", results.string(), "--out", path("postprocessed"), "--quiet"});
  expect_label_maps("postprocessed", "labels_postprocessed");
}

TEST_F(NnunetResults, WithPostprocessingThatMayRunCodeAreRefused) {
  const fs::path results = copy(), chosen = results / "crossval_results_folds_0_1/postprocessing.pkl";
  fs::create_directories(chosen.parent_path());
  write_file(chosen, "cos\nsystem\n(S'true'\ntR.");
  refused(3, {"import", results.string(), "--out", path("refused_steps")}, "postprocessing.pkl");
}

TEST_F(NnunetResults, PredictAloneOrAsAnInstalledModelWithTheSameBits) {
  done({"predict", path("run"), "--input", images, "--out", path("of_run"), "--quiet"});
  done({"export", path("run"), "--to", "model", "--out", path("small.model")});
  done({"models", "--install", path("small.model"), "--models", path("models")});
  done({"predict", "small", "--models", path("models"), "--input", images, "--out", path("of_model"),
        "--quiet"});
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

TEST_F(NnunetResults, AreWrittenBackByExportAndImportedWithTheSameLabelMaps) {
  const std::string planes = (fixtures / "nnUNetTrainer__nnUNetPlans__2d").string();
  done({"import", planes, "--out", path("slices"), "--quiet"});
  for (const std::string run : {"run", "slices"}) {
    const std::string results = "results_of_" + run, again = run + "_again";
    done({"export", path(run), "--to", "nnunet", "--out", path(results)});
    const std::string checkpoint = path(results + "/fold_0/checkpoint_final.pth");
    EXPECT_EQ(std::system(("python3 -m zipfile -t '" + checkpoint + "' >/dev/null").c_str()), 0);
    done({"import", path(results), "--out", path(again), "--quiet"});
    for (const std::string& one : {run, again})
      done({"predict", path(one), "--input", images, "--out", path("maps_of_" + one), "--quiet"});
    EXPECT_TRUE(files("maps_of_" + run, ".nii.gz") == files("maps_of_" + again, ".nii.gz"));
  }
  refused(2, {"export", path("run"), "--to", "nnunet", "--repeat", "2", "--out", path("x")}, "--repeat");
}

TEST_F(NnunetResults, AreNamedWhereARunIsExpected) {
  failed(program({"predict", fixture.string(), "--input", images, "--out", path("x")}), 3,
         {"voxswap import"});
}

}  // namespace
}  // namespace voxswap::cli
