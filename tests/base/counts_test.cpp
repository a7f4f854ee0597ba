#include <gtest/gtest.h>

#include <regex>

#include "base/file.h"
#include "base/text.h"

namespace voxswap {
namespace {

TEST(Counts, AgreeWithTheirNouns) {
  EXPECT_EQ(counted(1, "validation case"), "1 validation case");
  EXPECT_EQ(counted(0, "case"), "0 cases");
  EXPECT_EQ(counted(2, "series"), "2 series");
  EXPECT_EQ(counted(2, "spatial axis"), "2 spatial axes");
  EXPECT_EQ(counted(2, "class"), "2 classes");
  EXPECT_EQ(counted(2, "patch"), "2 patches");
  EXPECT_EQ(counted(2, "epoch"), "2 epochs");
  EXPECT_EQ(counted(2, "bounding box"), "2 bounding boxes");
  EXPECT_EQ(counted(2, "directory"), "2 directories");
  EXPECT_EQ(counted(2, "key"), "2 keys");
}

// With "{} cases" in a message, a user with one case reads "1 cases".
TEST(Counts, AreWrittenByCountedInEveryMessage) {
  const std::regex by_hand(
      R"re("[^"]*\{\} (cases|folders|series|files|labels|channels|images|epochs|ranks|nodes|threads|steps|regions|planes|repeats|cells|rows|problems|errors|warnings|folds|patients|samples|parameters|outputs|cores|machines|volumes|dimensions)\b)re");
  for (const char* room : {"base", "data", "metrics", "net", "swap", "pipeline", "experiments", "cli"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(VOXSWAP_SOURCE_DIR) / room)) {
      if (entry.path().extension() != ".cpp") continue;
      for (const std::string& line : split(read_file(entry.path()), '\n'))
        EXPECT_FALSE(std::regex_search(line, by_hand)) << entry.path().string() << ": " << line;
    }
  }
}

}  // namespace
}  // namespace voxswap
