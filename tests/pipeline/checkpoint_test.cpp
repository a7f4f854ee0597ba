#include "pipeline/checkpoint.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>

#include "base/error.h"
#include "base/file.h"

namespace voxswap {
namespace {

namespace fs = std::filesystem;

fs::path temporary(const std::string& name) {
  return fs::path(testing::TempDir()) / name;
}

Checkpoint example() {
  return {{{"position", "1 2"}, {"odd \"key\"", "line\nbreak"}},
          {{"encoder.0.input.conv.weight", Shape{2, 1, 3}, {1, 2, 3, 4, 5, 6.5f}}, {"b", Shape{1}, {-1}}}};
}

TEST(Checkpoint, ReadsBackWhatWasWritten) {
  const fs::path file = temporary("checkpoint.safetensors");
  write_checkpoint(file, example());
  const Checkpoint back = read_checkpoint(file);
  EXPECT_EQ(back.metadata, example().metadata);
  ASSERT_EQ(back.tensors.size(), 2u);
  EXPECT_EQ(back.tensors[0].name, "encoder.0.input.conv.weight");
  EXPECT_EQ(back.tensors[0].shape, (Shape{2, 1, 3}));
  EXPECT_EQ(back.tensors[0].values, example().tensors[0].values);
}

TEST(Checkpoint, RefusesDamagedFilesAtEveryLength) {
  const fs::path file = temporary("whole.safetensors"), cut = temporary("cut.safetensors");
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

// A limit on the size of files stands in for a full disk: write() fails in the middle in the same way.
TEST(Checkpoint, TheLastGoodOneStaysWhenTheDiskIsFull) {
  const fs::path file = temporary("full.safetensors");
  write_checkpoint(file, example());
  const std::string before = read_file(file);
  Checkpoint large = example();
  large.tensors.push_back({"large", Shape{1 << 20}, std::vector<float>(1 << 20, 1.0f)});

  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit = {};
  getrlimit(RLIMIT_FSIZE, &limit);
  const rlimit small = {1 << 20, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  Exit exit = Exit::done;
  std::string message;
  try {
    write_checkpoint(file, large);
  } catch (const Error& error) {
    exit = error.exit();
    message = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);

  EXPECT_EQ(exit, Exit::does_not_fit);
  EXPECT_NE(message.find(file.string()), std::string::npos);
  EXPECT_EQ(read_file(file), before);
  for (const auto& entry : fs::directory_iterator(file.parent_path())) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".full.safetensors")) << entry.path();
  }
}

}  // namespace
}  // namespace voxswap
