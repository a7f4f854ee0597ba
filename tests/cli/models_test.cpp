// Tests packing a run as a model, installing it elsewhere, and predicting with it by name.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Models : public ProgramInASharedFolder<Models> {
 public:
  void make_for_all() const {
    phantoms("3", "16");
    write("tiny.yaml",
          "data: {root: data, cache: cache}\npreprocess: {resolution: 16}\n"
          "network: {name: unet3d, base_filters: 2, depth: 2}\n"
          "training: {epochs: 1, precision: f32, repeats: 2, averaging: {name: ema}}\nevaluate: {ensemble: "
          "true}\n");
    done({"run", path("tiny.yaml"), "--out", path("run"), "--quiet"});
    write("about.md", "# Tiny\n\nTrained on phantoms.\n");
    done({"export", path("run"), "--to", "model", "--readme", path("about.md"), "--out", path("tiny.model")});
    done({"models", "--install", path("tiny.model"), "--models", path("models")});
  }
};

TEST_F(Models, PredictTheLabelMapsOfTheirRunFromAnyMachine) {
  done({"predict", path("run"), "--input", path("data"), "--out", path("of_run"), "--quiet"});
  done({"predict", "tiny", "--models", path("models"), "--input", path("data"), "--out", path("of_model"),
        "--quiet"});
  const auto maps = files("of_run", ".nii.gz");
  EXPECT_EQ(maps.size(), 3u);
  EXPECT_TRUE(files("of_model", ".nii.gz") == maps);
}

TEST_F(Models, HaveNoNamesOfCasesAndNoPaths) {
  const std::string model = bytes("tiny.model");
  EXPECT_TRUE(contains(bytes("run/split.csv"), "BraTS2021_00000"));
  EXPECT_FALSE(contains(model, "BraTS2021_0000"));
  EXPECT_FALSE(contains(model, folder_.string()));
}

TEST_F(Models, AreTheSameBytesEachTime) {
  done({"export", path("run"), "--to", "model", "--readme", path("about.md"), "--out", path("again.model")});
  EXPECT_EQ(bytes("again.model"), bytes("tiny.model"));
}

TEST_F(Models, CanBePackedAgainFromTheirFolder) {
  done({"export", path("models/tiny"), "--to", "model", "--readme", path("about.md"), "--out",
        path("packed.model")});
  EXPECT_EQ(bytes("packed.model"), bytes("tiny.model"));
}

TEST_F(Models, AreListedAndDescribed) {
  const Outcome list = succeeded(program({"models", "--models", path("models")}));
  EXPECT_TRUE(contains(list.output, "name", "channels", "labels", "tiny", path("models/tiny")));
  const Outcome json = succeeded(program({"models", "--models", path("models"), "--json"}));
  bool found = false;
  for (const Json& one : Json::parse(json.output)) found = found || one["name"] == "tiny";
  EXPECT_TRUE(found) << json.output;
  EXPECT_EQ(succeeded(program({"models", "tiny", "--models", path("models")})).output,
            "# Tiny\n\nTrained on phantoms.\n");
  failed(program({"models", "tinny", "--models", path("models")}), 2, {"no such model", "tiny"});
}

TEST_F(Models, AreNotReplaced) {
  failed(program({"models", "--install", path("tiny.model"), "--models", path("models")}), 2,
         {"exists already"});
  done({"models", "--install", path("tiny.model"), "--name", "other", "--models", path("models")});
  EXPECT_TRUE(fs::exists(folder_ / "models/other/experiment.yaml"));
}

TEST_F(Models, OfOtherFilesAreRefused) {
  const auto install = [&](const char* file) {
    return program({"models", "--install", path(file), "--name", "x", "--models", path("empty")});
  };
  write("text.model", "no model");
  failed(install("text.model"), 3, {"text.model"});
  failed(install("run/checkpoints/repeat_1/best.safetensors"), 3, {"is not a model"});
  std::string damaged = bytes("tiny.model");
  damaged[damaged.size() - 5] ^= 1;
  write("damaged.model", damaged);
  failed(install("damaged.model"), 3, {"damaged"});
  EXPECT_FALSE(fs::exists(folder_ / "empty/x"));
}

TEST_F(Models, ThatAreNotInstalledAreReportedAsMissingFoldersOrWithASimilarName) {
  const auto predict = [&](const char* name) {
    return program(
        {"predict", name, "--models", path("models"), "--input", path("data"), "--out", path("out")});
  };
  failed(predict("nothing"), 3, {"nothing: no such folder"});
  failed(predict("tinny"), 3, {"tinny: no such folder or model (did you mean 'tiny'?)"});
}

TEST_F(Models, OutWithTheNameOfAnImageIsALabelMap) {
  done({"phantom", "--out", path("msd"), "--cases", "1", "--size", "16", "--layout", "msd", "--quiet"});
  std::string input;
  for (const auto& entry : fs::directory_iterator(folder_ / "msd/imagesTr")) input = entry.path().string();
  done({"predict", "tiny", "--models", path("models"), "--input", input, "--out", path("map.nii.gz"),
        "--quiet"});
  done({"predict", path("run"), "--input", input, "--label-map", path("same.nii.gz"), "--quiet"});
  EXPECT_EQ(bytes("map.nii.gz"), bytes("same.nii.gz"));
  const Words less = {"predict", path("run"), "--input", input, "--out", path("less.nii.gz"), "--quiet"};
  done(less + Words{"memory.budget=64MiB", "memory.host=none"});
  EXPECT_EQ(bytes("less.nii.gz"), bytes("map.nii.gz"));
  failed(program(less + Words{"data.layout=msd"}), 2, {"data.*", "--out DIR"});
  failed(program({"predict", path("run"), "--input", input, "--out", path("map2.nii.gz"), "--probabilities"}),
         2, {"--probabilities", "--out DIR"});
  failed(program({"predict", path("run"), "--input", input, "--out", path("none/map.nii.gz")}), 2,
         {"there is no folder"});
  failed(program({"predict", path("run"), "--input", input, "--out", path("map.mhd")}), 2,
         {"label maps are written as .nii.gz"});
}

TEST_F(Models, TakeNoRepeat) {
  failed(program({"export", path("run"), "--to", "model", "--repeat", "1", "--out", path("x.model")}), 2,
         {"--repeat"});
  failed(program({"export", path("run"), "--readme", path("about.md"), "--out", path("x.onnx")}), 2,
         {"--readme"});
}

}  // namespace
}  // namespace voxswap::cli
