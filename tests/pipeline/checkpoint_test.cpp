#include "pipeline/record/checkpoint.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <functional>
#include <limits>

#include "base/error.h"
#include "base/file.h"
#include "tests/expect.h"
#include "tests/folder.h"
#include "tests/safetensors.h"
#include "tests/swap/disk.h"

namespace voxswap::pipeline {
namespace {

class CheckpointFile : public test::InAFolder {};

Checkpoint example() {
  return {{{"position", "1 2"}, {"odd \"key\"", "line\nbreak"}},
          {{"encoder.0.input.conv.weight", Shape{2, 1, 3}, {1, 2, 3, 4, 5, 6.5f}}, {"b", Shape{1}, {-1}}}};
}

TEST_F(CheckpointFile, ReadsBackWhatWasWritten) {
  const fs::path file = folder_ / "checkpoint.safetensors";
  write_checkpoint(file, example());
  const Checkpoint back = read_checkpoint(file);
  EXPECT_EQ(back.metadata, example().metadata);
  ASSERT_EQ(back.tensors.size(), 2u);
  EXPECT_EQ(back.tensors[0].name, "encoder.0.input.conv.weight");
  EXPECT_EQ(back.tensors[0].shape, (Shape{2, 1, 3}));
  EXPECT_EQ(back.tensors[0].values, example().tensors[0].values);
}

TEST_F(CheckpointFile, RefusesDamagedFilesAtEveryLength) {
  const fs::path file = folder_ / "whole.safetensors", cut = folder_ / "cut.safetensors";
  write_checkpoint(file, example());
  const std::string bytes = read_file(file);
  for (std::size_t length = 0; length < bytes.size(); length += 7) {
    write_file(cut, std::string_view(bytes).substr(0, length));
    EXPECT_THROW(read_checkpoint(cut), Error) << length;
  }
  std::string huge = bytes;
  huge[6] = 0x7f;  // a header of 2^54 bytes
  write_file(cut, huge);
  EXPECT_THROW(read_checkpoint(cut), Error);
}

// Writes bytes without any of the safeguards of write_file().
void put(const fs::path& file, const std::string& bytes) {
  fs::ofstream(file, std::ios::binary) << bytes;
}

// Reading /proc/self/mem at unmapped addresses fails with EIO.
TEST_F(CheckpointFile, OnADeviceThatFailsIsNotCalledDamaged) {
  for (const auto read : {read_checkpoint, read_checkpoint_header}) {
    test::expect_failure([&] { read("/proc/self/mem"); }, Exit::failed);
  }
}

// Covers the header's length, the header, its padding and the tensors.
TEST_F(CheckpointFile, NoticesABitThatIsFlippedWhereverItIs) {
  const fs::path file = folder_ / "flipped.safetensors";
  write_checkpoint(file, example());
  const std::string bytes = read_file(file);
  for (std::size_t byte = 0; byte < bytes.size(); ++byte) {
    std::string flipped = bytes;
    flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << byte * 5 % 8));
    put(file, flipped);
    SCOPED_TRACE(byte);
    test::expect_failure([&] { read_checkpoint(file); }, Exit::bad_data);
  }
}

TEST_F(CheckpointFile, HasTheSameDigestWhenWrittenReadAndInspected) {
  const fs::path file = folder_ / "digest.safetensors";
  const std::string digest = write_checkpoint(file, example());
  EXPECT_EQ(digest.size(), 32u);
  EXPECT_EQ(read_checkpoint(file).digest, digest);
  const Checkpoint header = read_checkpoint_header(file);
  EXPECT_EQ(header.digest, digest);
  EXPECT_EQ(header.metadata, example().metadata);
  Checkpoint other = example();
  other.tensors[1].values[0] = -2;
  EXPECT_NE(write_checkpoint(file, other), digest);
  other = example();
  other.metadata["position"] = "1 3";
  EXPECT_NE(write_checkpoint(file, other), digest);
}

// rewrite() parses a file, lets the test change it, and writes it again with a valid length.
using Change = std::function<void(Json& header, std::string& data)>;

void rewrite(const fs::path& file, const Change& change) {
  auto [header, data] = test::parts_of_safetensors(read_file(file));
  change(header, data);
  put(file, test::safetensors_of(header, data));
}
// The change of a file that has no checksums.
Change plain(const Change& change) {
  return [change](Json& header, std::string& data) {
    header.erase("__metadata__");
    change(header, data);
  };
}

TEST_F(CheckpointFile, OfAnotherProgramIsReadWithoutADigest) {
  const fs::path file = folder_ / "plain.safetensors";
  write_checkpoint(file, example());
  rewrite(file, plain([](Json&, std::string&) {}));
  const Checkpoint plain = read_checkpoint(file);
  EXPECT_EQ(plain.digest, "");
  EXPECT_EQ(plain.tensor("b", "").values, std::vector<float>{-1});
}

TEST_F(CheckpointFile, RefusesWhatWasAlteredAndSaysHow) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::string conv = "encoder.0.input.conv.weight";
  struct Bad {
    const char* what;
    const char* says;
    Change change;
  };
  const std::vector<Bad> table = {
      {"one tensor's checksum is another's", "its header does not match",
       [&](Json& h, std::string&) {
         std::swap(h["__metadata__"]["checksum." + conv], h["__metadata__"]["checksum.b"]);
       }},
      {"the header's checksum is gone", "its header does not match",
       [](Json& h, std::string&) { h["__metadata__"].erase("checksum"); }},
      {"a tensor's checksum is gone", "its header does not match",
       [](Json& h, std::string&) { h["__metadata__"].erase("checksum.b"); }},
      {"a metadata entry is changed", "its header does not match",
       [](Json& h, std::string&) { h["__metadata__"]["position"] = "9 9"; }},
      {"a tensor has another name", "its header does not match",
       [](Json& h, std::string&) { h["c"] = h["b"], h.erase("b"); }},
      {"a value is changed", "tensor 'b' does not match its checksum",
       [&](Json&, std::string& d) { d.back() = static_cast<char>(d.back() ^ 1); }},
      {"overlap", "overlaps another", plain([&](Json& h, std::string& d) {
         h["b"]["data_offsets"] = {0, 4};
         d.resize(24);
       })},
      {"a gap", "there are unused bytes before tensor 'b'", plain([](Json& h, std::string& d) {
         h["b"]["data_offsets"] = {28, 32};
         d += "1234";
       })},
      {"bytes behind the end", "4 bytes that belong to no tensor",
       plain([](Json&, std::string& d) { d += "1234"; })},
      {"another shape", "length does not match its shape", plain([&](Json& h, std::string&) {
         h[conv]["shape"] = {2, 1, 4};
       })},
      {"a shape that overflows", "is outside the file", plain([&](Json& h, std::string&) {
         h[conv]["shape"] = {std::int64_t{1} << 62, std::int64_t{1} << 62, 6};
       })},
      {"a negative shape", "is outside the file", plain([&](Json& h, std::string&) {
         h[conv]["shape"] = {-2, -1, 3};
       })},
      {"offsets behind the file", "is outside the file", plain([&](Json& h, std::string&) {
         h["b"]["data_offsets"] = {1 << 20, (1 << 20) + 4};
       })},
      {"whole numbers", "tensor 'b' is I32; expected one of F32",
       plain([](Json& h, std::string&) { h["b"]["dtype"] = "I32"; })},
      {"NaN", "tensor 'b' holds nan at index 0",
       plain([&](Json&, std::string& d) { std::memcpy(d.data() + 24, &nan, sizeof nan); })},
      {"a header that is a list", "not a JSON object", [](Json& h, std::string&) { h = Json::array({1}); }},
      {"metadata that is a number", "not a valid safetensors file",
       [](Json& h, std::string&) { h["__metadata__"] = 7; }},
  };
  const fs::path file = folder_ / "altered.safetensors";
  for (const Bad& bad : table) {
    write_checkpoint(file, example());
    rewrite(file, bad.change);
    SCOPED_TRACE(bad.what);
    test::expect_failure([&] { read_checkpoint(file); }, Exit::bad_data, {bad.says});
  }
}

TEST_F(CheckpointFile, IsNotWrittenWithWeightsThatAreNotFinite) {
  const fs::path file = folder_ / "nan.safetensors";
  write_checkpoint(file, example());
  const std::string before = read_file(file);
  for (const float value :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    Checkpoint bad = example();
    bad.tensors[0].values[3] = value;
    EXPECT_THROW(write_checkpoint(file, bad), Error);
    EXPECT_EQ(read_file(file), before);
  }
}

// A limit on file sizes stands in for a full disk: write() fails midway in the same way.
TEST_F(CheckpointFile, TheLastGoodOneStaysWhenTheDiskIsFull) {
  const fs::path file = folder_ / "full.safetensors";
  write_checkpoint(file, example());
  const std::string before = read_file(file);
  Checkpoint large = example();
  large.tensors.push_back({"large", Shape{1 << 20}, std::vector<float>(1 << 20, 1.0f)});

  {
    const test::FileSizeLimit full(1 << 20);
    test::expect_failure([&] { write_checkpoint(file, large); }, Exit::does_not_fit, {file.string()});
  }
  EXPECT_EQ(read_file(file), before);
  for (const auto& entry : fs::directory_iterator(file.parent_path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".full.safetensors")) << entry.path();
  }
}

// Weights written by other programs in other number types.
template <class Stored>
std::string bytes_of(const std::vector<Stored>& values) {
  std::string bytes(values.size() * sizeof(Stored), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(StoredNumbers, OfEveryTypeAreReadAsTheNumberTheyStandFor) {
  const std::vector<float> expected = {1, -2.5F, 0};
  EXPECT_EQ(read_numbers("F32", bytes_of(expected)), expected);
  EXPECT_EQ(read_numbers("F64", bytes_of(std::vector<double>{1, -2.5, 0})), expected);
  EXPECT_EQ(read_numbers("F16", bytes_of(std::vector<std::uint16_t>{0x3c00, 0xc100, 0})), expected);
  EXPECT_EQ(read_numbers("BF16", bytes_of(std::vector<std::uint16_t>{0x3f80, 0xc020, 0})), expected);
}

TEST(StoredNumbers, OfOtherTypesHaveNoSize) {
  EXPECT_EQ(stored_bytes("F16"), 2U);
  EXPECT_FALSE(stored_bytes("I64"));
  EXPECT_FALSE(stored_bytes("F8_E4M3"));
}

}  // namespace
}  // namespace voxswap::pipeline
