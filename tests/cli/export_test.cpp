// A run's network leaves for other programs and its weights come back, from the outside.
#include <gtest/gtest.h>

#include <optional>

#include "base/json.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Export : public testing::Test {
 protected:
  static inline std::optional<test::TemporaryFolder> shared_;
  static const fs::path& folder() { return shared_->path(); }
  static std::string path(const std::string& name) { return (folder() / name).string(); }
  static Outcome call(const Words& arguments) {
    return run_program(arguments, {.log = folder() / "log.txt"});
  }
  static void SetUpTestSuite() {
    shared_.emplace();
    test::share_costs(folder() / "cache");
    ASSERT_EQ(call({"phantom", "--out", path("data"), "--cases", "3", "--size", "16", "--quiet"}).code, 0);
    write_file(folder() / "tiny.yaml",
               "data: {root: data, cache: cache}\npreprocess: {resolution: 16}\n"
               "network: {name: unet3d, base_filters: 2, depth: 2}\ntraining: {epochs: 2, precision: f32}\n");
    const Outcome train = call({"train", path("tiny.yaml"), "--out", path("run"), "--quiet"});
    ASSERT_EQ(train.code, 0) << train.output;
  }
  static void TearDownTestSuite() { shared_.reset(); }

  static bool has_onnx() { return call({"info", "--json"}).output.find("\"onnx ") != std::string::npos; }
  // The header of a safetensors file, and what is behind it.
  static std::pair<Json, std::string> read_weights(const std::string& name) {
    const std::string file = read_file(folder() / name);
    std::uint64_t size = 0;
    std::memcpy(&size, file.data(), sizeof size);
    return {Json::parse(file.substr(sizeof size, size)), file.substr(sizeof size + size)};
  }
  static void write_weights(const std::string& name, const Json& header, const std::string& data) {
    const std::string text = header.dump();
    const std::uint64_t size = text.size();
    std::string start(sizeof size, '\0');
    std::memcpy(start.data(), &size, sizeof size);
    write_file(folder() / name, start + text + data);
  }
};

TEST_F(Export, ToOnnxWritesOneFileAndSaysWhich) {
  const Outcome outcome = call({"export", path("run"), "--out", path("model.onnx")});
  if (!has_onnx()) {
    EXPECT_EQ(outcome.code, 2) << outcome.output;
    GTEST_SKIP() << "built without the ONNX library";
  }
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(outcome.output, path("model.onnx") + "\n");
  const std::string bytes = read_file(folder() / "model.onnx");
  for (const char* part : {"voxswap", "normalization", "whole_tumor", "decide", "encoder.0.conv.0.weight"})
    EXPECT_NE(bytes.find(part), bytes.npos) << part;
  EXPECT_EQ(call({"export", path("run"), "--out", path("again.onnx")}).code, 0);
  EXPECT_EQ(read_file(folder() / "again.onnx"), bytes);
}

TEST_F(Export, WritesOverNothingThatIsNotItsOwn) {
  write_file(folder() / "mine.safetensors", "mine");
  const Words words = {"export", path("run"), "--to", "pytorch", "--out", path("mine.safetensors")};
  EXPECT_EQ(call(words).code, 2);
  EXPECT_EQ(read_file(folder() / "mine.safetensors"), "mine");
  EXPECT_FALSE(fs::exists(folder() / "mine.py"));
  const Outcome best = call({"export", path("run"), "--to", "pytorch", "--force", "--out",
                             path("run/checkpoints/best.safetensors")});
  EXPECT_EQ(best.code, 2) << best.output;
}

TEST_F(Export, RefusesRepeatsFormatsAndRunsThatThereAreNot) {
  EXPECT_EQ(call({"export", path("run"), "--out", path("x.onnx"), "--repeat", "2"}).code, 2);
  EXPECT_EQ(call({"export", path("run"), "--out", path("x.onnx"), "--to", "keras"}).code, 2);
  EXPECT_EQ(call({"export", path("run"), "--out", path("x.py"), "--to", "pytorch"}).code, 2);
  EXPECT_EQ(call({"export", path("data"), "--out", path("x.onnx")}).code, 3);
}

TEST_F(Export, ToPytorchAndBackPredictsTheSame) {
  ASSERT_EQ(call({"export", path("run"), "--to", "pytorch", "--out", path("model.safetensors")}).code, 0);
  EXPECT_NE(read_file(folder() / "model.py").find("load_state_dict(tensors, strict=True)"),
            std::string::npos);
  const auto [header, data] = read_weights("model.safetensors");
  EXPECT_EQ(header["decoder.0.up.weight"]["shape"], Json({8, 8, 2, 2, 2}));
  EXPECT_EQ(Json::parse(header["__metadata__"]["modalities"].get<std::string>()).size(), 4U);
  const Outcome import =
      call({"import", path("model.safetensors"), "--run", path("run"), "--out", path("back")});
  ASSERT_EQ(import.code, 0) << import.output;
  for (const char* run : {"run", "back"}) {
    const Outcome predict = call({"predict", path(run), "--input", path("data"), "--out",
                                  path(std::string("maps_") + run), "--probabilities", "--quiet"});
    ASSERT_EQ(predict.code, 0) << predict.output;
  }
  int files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(folder() / "maps_run")) {
    if (entry.path().extension() != ".gz") continue;
    ++files;
    EXPECT_EQ(read_file(entry.path()),
              read_file(folder() / "maps_back" / fs::relative(entry.path(), folder() / "maps_run")));
  }
  EXPECT_EQ(files, 3 + 3 * 3);
}

TEST_F(Export, ImportsOnlyAllWeightsOfTheNetwork) {
  ASSERT_EQ(call({"export", path("run"), "--to", "pytorch", "--out", path("whole.safetensors")}).code, 0);
  auto [header, data] = read_weights("whole.safetensors");
  header.erase("__metadata__");
  const auto import = [&](const Json& changed) {
    write_weights("other.safetensors", changed, data);
    const Outcome outcome =
        call({"import", path("other.safetensors"), "--run", path("run"), "--out", path("other")});
    fs::remove_all(folder() / "other");
    return outcome;
  };
  Json named = Json::object(), renamed = header, turned = header;
  for (const auto& [name, entry] : header.items()) named["module." + name] = entry;
  EXPECT_EQ(import(named).code, 0);  // as torch.nn.DataParallel names them
  renamed["head.0.conv.biased"] = renamed["head.0.conv.bias"];
  renamed.erase("head.0.conv.bias");
  const Outcome other = import(renamed);
  EXPECT_EQ(other.code, 3);
  EXPECT_NE(
      other.output.find(
          "lacks 'head.0.conv.bias'; it has tensors that the network does not have: 'head.0.conv.biased'"),
      std::string::npos)
      << other.output;
  turned["encoder.0.conv.0.weight"]["shape"] = {4, 2, 3, 3, 3};
  const Outcome shape = import(turned);
  EXPECT_EQ(shape.code, 3);
  EXPECT_NE(shape.output.find("encoder.0.conv.0.weight (4x2x3x3x3, not 2x4x3x3x3)"), std::string::npos)
      << shape.output;
  EXPECT_EQ(call({"import", path("whole.safetensors"), "--run", path("run"), "--out", path("data")}).code, 2);
}

}  // namespace
}  // namespace voxswap::cli
