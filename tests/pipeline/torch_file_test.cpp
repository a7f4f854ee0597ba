#include "pipeline/record/torch_file.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "pipeline/record/zip_entries.h"
#include "tests/expect.h"
#include "tests/folder.h"

namespace voxswap::pipeline {
namespace {

class FileOfPyTorch : public test::InAFolder {
 protected:
  const fs::path file_ = fs::path(VOXSWAP_SOURCE_DIR) / "tests/fixtures/torch_file.pth";
  const std::string bytes_ = read_file(file_);

  // The fixture with another data.pkl of the same length or shorter, padded with bytes after its end.
  fs::path with_pickle(std::string pickle) const {
    const std::string_view old = zip_entries(bytes_).at("torch_file/data.pkl");
    EXPECT_LE(pickle.size(), old.size());
    pickle.resize(old.size(), '.');
    std::string changed = bytes_;
    changed.replace(static_cast<std::size_t>(old.data() - bytes_.data()), old.size(), pickle);
    write_file(folder_ / "changed.pth", changed);
    return folder_ / "changed.pth";
  }
  void refuses(const std::string& pickle, const std::string& says) const {
    test::expect_failure([&] { TorchFile(with_pickle(pickle)); }, Exit::bad_data, {says});
  }
};

// The values are those of tests/fixtures/torch_file.py.
TEST_F(FileOfPyTorch, GivesTheWeightsThatPyTorchWrote) {
  const std::vector<Tensor> weights = read_torch_weights(file_);
  std::vector<std::string> names;
  for (const Tensor& tensor : weights) names.push_back(tensor.name);
  EXPECT_EQ(names, (std::vector<std::string>{"f32", "f64", "f16", "bf16", "turned", "part", "scalar"}));
  EXPECT_EQ(weights[0].shape, (Shape{2, 3, 4}));
  for (std::size_t i = 0; i < 24; ++i) EXPECT_EQ(weights[0].values[i], static_cast<float>(i) / 4);
  EXPECT_EQ(weights[1].values, (std::vector<float>{0.5, 1.5, 2.5, 3.5}));
  EXPECT_EQ(weights[2].values, (std::vector<float>{-1.5, -0.5, 0.5, 1.5}));
  EXPECT_EQ(weights[3].values, (std::vector<float>{0, 2, 4, 6}));
  EXPECT_EQ(weights[4].shape, (Shape{6, 4}));
  for (std::size_t i = 0; i < 24; ++i)  // transposed
    EXPECT_EQ(weights[4].values[i], static_cast<float>(i % 4 * 6 + i / 4));
  EXPECT_EQ(weights[5].values, (std::vector<float>{5, 6, 7, 8}));
  EXPECT_EQ(weights[6].shape, Shape{});
  EXPECT_EQ(weights[6].values, (std::vector<float>{7}));
}

TEST_F(FileOfPyTorch, GivesTheOtherEntriesOfACheckpoint) {
  const TorchFile file(file_);
  const Pickle& pickle = file.pickle();
  ASSERT_NE(pickle.find(pickle.root(), "trainer_name"), nullptr);
  EXPECT_EQ(pickle.find(pickle.root(), "trainer_name")->text, "nnUNetTrainer");
  const PickledValue* arguments = pickle.find(pickle.root(), "init_args");
  ASSERT_NE(arguments, nullptr);
  EXPECT_EQ(pickle.find(*arguments, "configuration")->text, "3d_fullres");
  const PickledValue* axes = pickle.find(pickle.root(), "inference_allowed_mirroring_axes");
  ASSERT_EQ(axes->items.size(), 3u);
  EXPECT_EQ(pickle.at(axes->items[2]).integer, 2);
  EXPECT_EQ(pickle.find(pickle.root(), "absent"), nullptr);
}

TEST_F(FileOfPyTorch, IsRefusedAtEveryShorterLength) {
  for (std::size_t length = 0; length < bytes_.size(); length += 13) {
    write_file(folder_ / "cut.pth", std::string_view(bytes_).substr(0, length));
    test::expect_failure([&] { read_torch_weights(folder_ / "cut.pth"); }, Exit::bad_data);
  }
}

TEST_F(FileOfPyTorch, WithAFlippedByteIsReadOrRefused) {
  for (std::size_t at = 0; at < bytes_.size(); at += 3) {
    std::string changed = bytes_;
    changed[at] = static_cast<char>(changed[at] ^ 0x55);
    write_file(folder_ / "flipped.pth", changed);
    try {
      read_torch_weights(folder_ / "flipped.pth");
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::bad_data) << at << ": " << error.what();
    }
  }
}

// Python's pickle module would run each of these.
TEST_F(FileOfPyTorch, IsRefusedWithoutRunningItsCode) {
  const fs::path made = folder_ / "made";
  const std::string command = "touch " + made.string();
  const std::string text =
      std::string("X") + static_cast<char>(command.size()) + std::string(3, '\0') + command;
  refuses(
      "\x80\x02"
      "cposix\nsystem\n" +
          text + "\x85R.",
      "posix.system");
  refuses(
      "\x80\x02"
      "c__builtin__\neval\n" +
          text + "\x85R.",
      "__builtin__.eval");
  refuses("\x80\x04\x8c\x02os\x8c\x06system\x93" + text + "\x85R.", "os.system");
  refuses("(S'touch x'\nios\nsystem\n.", "opcode");  // INST
  refuses(
      "\x80\x02"
      "c_codecs\nencode\n" +
          text + "\x85\x81.",
      "opcode");  // NEWOBJ
  refuses(
      "\x80\x02"
      "ctorch.storage\n_load_from_bytes\n" +
          text + "\x85R.",
      "torch.storage._load_from_bytes");
  EXPECT_FALSE(fs::exists(made));
}

TEST_F(FileOfPyTorch, IsRefusedIfItsPickleIsNoPickleOfTensors) {
  refuses("R.", "empty stack");
  refuses("]q\x01h\x02.", "did not remember");
  refuses("}K\x01u.", "lacks a mark");
  refuses("}(K\x01u.", "key without a value");
  refuses(
      "K\x01K\x02"
      "b.",
      "unknown object");
  refuses("K\x01)R.", "no function");
  refuses(
      "\x8a\x09"
      "123456789.",
      "64 bits");
  refuses("X\xff\xff\xff\x7f.", "truncated");
}

// As torch.save() writes the imaginary part of a conjugated tensor.
TEST_F(FileOfPyTorch, IsRefusedIfATensorIsStoredNegated) {
  const auto text = [](const std::string& word) {
    return "X" + std::string(1, static_cast<char>(word.size())) + std::string(3, '\0') + word;
  };
  refuses(
      "\x80\x02"
      "ctorch._utils\n_rebuild_tensor_v2\n((" +
          text("storage") + "ctorch\nFloatStorage\n" + text("0") + text("cpu") + "K\x01tQK" +
          std::string(1, '\0') +
          "(K\x01t(K\x01t\x89"
          "ccollections\nOrderedDict\n)R}" +
          text("neg") + "\x88stR.",
      "stored negated");
}

TEST_F(FileOfPyTorch, MayHoldAListThatContainsItself) {
  const TorchFile file(
      with_pickle("]q\x01h\x01"
                  "a."));
  EXPECT_EQ(&file.pickle().at(file.pickle().root().items[0]), &file.pickle().root());
  test::expect_failure([&] { read_torch_weights(folder_ / "changed.pth"); }, Exit::bad_data, {"dictionary"});
}

TEST_F(FileOfPyTorch, ThatIsCompressedOrNoArchiveIsRefused) {
  std::string compressed = bytes_;
  const std::size_t central = compressed.find("PK\x01\x02");
  compressed[central + 10] = 8;
  write_file(folder_ / "a.pth", compressed);
  test::expect_failure([&] { TorchFile(folder_ / "a.pth"); }, Exit::bad_data, {"compressed"});
  write_file(folder_ / "a.pth",
             "\x80\x02"
             "}q\x01.");
  test::expect_failure([&] { TorchFile(folder_ / "a.pth"); }, Exit::bad_data, {"PyTorch 1.6"});
}

}  // namespace
}  // namespace voxswap::pipeline
