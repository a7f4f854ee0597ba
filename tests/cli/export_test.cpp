// Tests export of a run's network to other programs, and import of its weights, as external programs.
#include <gtest/gtest.h>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Export : public ProgramInASharedFolder<Export> {
 public:
  void make_for_all() const {
    phantoms("3", "16");
    write("tiny.yaml",
          "data: {root: data, cache: cache}\npreprocess: {resolution: 16}\n"
          "network: {name: unet3d, base_filters: 2, depth: 2}\ntraining: {epochs: 2, precision: f32}\n");
    done({"train", path("tiny.yaml"), "--out", path("run"), "--quiet"});
  }

 protected:
  bool has_onnx() const { return contains(program({"info", "--json"}).output, "\"onnx "); }
};

TEST_F(Export, ToOnnxWritesOneFileAndSaysWhich) {
  const Outcome outcome = program({"export", path("run"), "--out", path("model.onnx")});
  if (!has_onnx()) {
    EXPECT_EQ(outcome.code, 2) << outcome.output;
    GTEST_SKIP() << "built without the ONNX library";
  }
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(outcome.output, path("model.onnx") + "\n");
  const std::string model = bytes("model.onnx");
  EXPECT_TRUE(
      contains(model, "voxswap", "normalization", "whole_tumor", "decide", "encoder.0.conv.0.weight"));
  done({"export", path("run"), "--out", path("again.onnx")});
  EXPECT_EQ(bytes("again.onnx"), model);
}

// The metadata that a caller needs to get the same label maps as predict.
TEST_F(Export, SaysHowPredictUsesTheNetwork) {
  done({"train", path("tiny.yaml"), "training.patch=8", "evaluate.tta=true",
        "training.augment.flip=[0.5, 0, 0.5]", "training.augment.symmetries=false", "--out", path("tta"),
        "--quiet"});
  write("tta/postprocessing.json",
        R"({"steps": [{"region": "enhancing_tumor", "remove": "small_whole", "below_mm3": 500}]})");
  done({"export", path("tta"), "--to", "monai", "--out", path("bundle")});
  const auto [header, data] = read_weights(folder_ / "bundle/models/model.safetensors");
  const auto about = [&](const char* name) {
    return Json::parse(header["__metadata__"][name].get<std::string>());
  };
  EXPECT_EQ(
      about("inference"),
      Json::parse(
          R"({"window": [8, 8, 8], "overlap": 0.5, "sigma": 0.125, "mirror": ["x", "z"], "networks": 1})"));
  EXPECT_EQ(about("postprocessing"), Json::parse(R"([{"region": "enhancing_tumor", "remove": "small_whole",
    "below_mm3": 500.0, "values": [4], "becomes": 1}])"));
  EXPECT_TRUE(contains(bytes("bundle/scripts/steps.py"), "about[\"inference\"]", "about[\"postprocessing\"]",
                       "original_affine"));
}

// Exporting a repeat as a bundle and importing the bundle gives the label maps of that repeat.
TEST_F(Export, BundlesAreImportedAsTheRunThatTheyCameFrom) {
  const Words more = {"training.repeats=2", "network.name=isensee2017", "network.depth=3", "--quiet"};
  done(Words{"train", path("tiny.yaml"), "--out", path("twice")} + more);
  write("twice/postprocessing.json",
        R"({"steps": [{"region": "whole_tumor", "remove": "all_but_largest"}]})");
  done({"export", path("twice"), "--repeat", "2", "--to", "monai", "--out", path("of_twice")});
  done({"import", path("of_twice"), "--out", path("again")});
  const Words input = {"--input", path("data"), "--quiet"};
  done(Words{"predict", path("twice"), "--out", path("original")} + input);
  done(Words{"predict", path("again"), "--out", path("maps")} + input);
  EXPECT_TRUE(files("maps", ".nii.gz") == files("original/repeat_2", ".nii.gz"));
  done({"export", path("again"), "--to", "monai", "--out", path("of_again")});
  EXPECT_EQ(bytes("of_again/configs/voxswap.json"), bytes("of_twice/configs/voxswap.json"));
  EXPECT_EQ(read_weights(folder_ / "of_again/models/model.safetensors").second,
            read_weights(folder_ / "of_twice/models/model.safetensors").second);
  EXPECT_FALSE(contains(bytes("of_twice/configs/voxswap.json"), folder_.string()));
}

TEST_F(Export, BundlesOfOthersAndDamagedOnesAreRefused) {
  done({"export", path("run"), "--to", "monai", "--out", path("mine")});
  const auto import = [&](const std::string& bundle) {
    return program({"import", path(bundle), "--out", path("of_" + bundle)});
  };
  write("zoo/configs/metadata.json", "{}");
  write("zoo/configs/inference.json", R"({"network_def": {"_target_": "SegResNet"}})");
  failed(import("zoo"), 3, {"SegResNet", "did not write"});
  const std::string good = bytes("mine/configs/voxswap.json"),
                    weights = bytes("mine/models/model.safetensors");
  for (const char* bad : {"", "{", "[]", R"({"files": {}, "weights": {}})", R"({"files": {"../x": "y"}})"}) {
    write("mine/configs/voxswap.json", bad);
    failed(import("mine"), 3, {"voxswap.json"});
  }
  write("mine/configs/voxswap.json", good);
  write("mine/models/model.safetensors", weights.substr(0, weights.size() / 2));
  failed(import("mine"), 3, {"model.safetensors"});
  EXPECT_FALSE(fs::exists(folder_ / "of_mine"));
  EXPECT_FALSE(fs::exists(folder_ / "x"));
}

TEST_F(Export, WritesOverNothingThatIsNotItsOwn) {
  write("mine.safetensors", "mine");
  const Words words = {"export", path("run"), "--to", "pytorch", "--out", path("mine.safetensors")};
  refused(2, words);
  EXPECT_EQ(bytes("mine.safetensors"), "mine");
  EXPECT_FALSE(fs::exists(folder_ / "mine.py"));
  refused(2, {"export", path("run"), "--to", "pytorch", "--force", "--out",
              path("run/checkpoints/best.safetensors")});
}

TEST_F(Export, RefusesRepeatsFormatsAndRunsThatThereAreNot) {
  refused(2, {"export", path("run"), "--out", path("x.onnx"), "--repeat", "2"});
  refused(2, {"export", path("run"), "--out", path("x.onnx"), "--to", "keras"});
  refused(2, {"export", path("run"), "--out", path("x.py"), "--to", "pytorch"});
  refused(2, {"export", path("run"), "--out", path("x.onnx"), "--to", "pytorch"},
          "--to pytorch was asked for");
  refused(2, {"export", path("run"), "--out", path("x"), "--to", "nnunet"}, "cannot be exported to nnU-Net");
  refused(3, {"export", path("data"), "--out", path("x.onnx")});
}

TEST_F(Export, ToPytorchAndBackPredictsTheSame) {
  done({"export", path("run"), "--to", "pytorch", "--out", path("model.safetensors")});
  EXPECT_TRUE(contains(bytes("model.py"), "load_state_dict(tensors, strict=True)"));
  const auto [header, data] = read_weights(folder_ / "model.safetensors");
  EXPECT_EQ(header["decoder.0.up.weight"]["shape"], Json({8, 8, 2, 2, 2}));
  EXPECT_EQ(Json::parse(header["__metadata__"]["modalities"].get<std::string>()).size(), 4U);
  succeeded(program({"import", path("model.safetensors"), "--run", path("run"), "--out", path("back")}));
  for (const char* run : {"run", "back"}) {
    done({"predict", path(run), "--input", path("data"), "--out", path(std::string("maps_") + run),
          "--probabilities", "--quiet"});
  }
  const auto maps = files("maps_run", ".gz");
  EXPECT_EQ(maps.size(), 3u + 3 * 3);
  EXPECT_TRUE(files("maps_back", ".gz") == maps);
}

TEST_F(Export, ImportsOnlyAllWeightsOfTheNetwork) {
  done({"export", path("run"), "--to", "pytorch", "--out", path("whole.safetensors")});
  auto [header, data] = read_weights(folder_ / "whole.safetensors");
  header.erase("__metadata__");
  const auto import = [&](const Json& changed) {
    write("other.safetensors", test::safetensors_of(changed, data));
    const Outcome outcome =
        program({"import", path("other.safetensors"), "--run", path("run"), "--out", path("other")});
    fs::remove_all(folder_ / "other");
    return outcome;
  };
  Json named = Json::object(), renamed = header, turned = header;
  for (const auto& [name, entry] : header.items()) named["module." + name] = entry;
  succeeded(import(named));  // names written by torch.nn.DataParallel
  renamed["head.0.conv.biased"] = renamed["head.0.conv.bias"];
  renamed.erase("head.0.conv.bias");
  const Outcome other = failed(import(renamed), 3);
  EXPECT_TRUE(contains(
      other.output,
      "lacks 'head.0.conv.bias'; it has tensors that the network does not have: 'head.0.conv.biased'"));
  turned["encoder.0.conv.0.weight"]["shape"] = {4, 2, 3, 3, 3};
  failed(import(turned), 3, {"encoder.0.conv.0.weight (4x2x3x3x3, not 2x4x3x3x3)"});
  refused(2, {"import", path("whole.safetensors"), "--run", path("run"), "--out", path("data")});
}

}  // namespace
}  // namespace voxswap::cli
