// The pages in docs/reference/ are those that the program generates, and are readable.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/text.h"
#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

class Reference : public ProgramInAFolder {
 protected:
  void SetUp() override {
    done({"help", "--reference", path("reference")});
    for (const auto& entry : fs::directory_iterator(folder_ / "reference")) pages_.push_back(entry.path());
    ASSERT_EQ(pages_.size(), 8U);
  }
  std::vector<fs::path> pages_;
};

std::vector<std::string> cells_of(const std::string& line) {
  std::string text;
  for (std::size_t i = 0; i < line.size(); ++i)
    if (line[i] == '|' && i > 0 && line[i - 1] == '\\')
      text.back() = '/';
    else
      text += line[i];
  return split(text, '|');
}

std::size_t words_in(const std::string& cell) {
  std::size_t words = 0;
  for (const std::string& word : split(trim(cell), ' ')) words += word.empty() || word == "/" ? 0 : 1;
  return words;
}

TEST_F(Reference, IsCommittedAsTheProgramWritesIt) {
  const fs::path committed = fs::path(VOXSWAP_SOURCE_DIR) / "docs/reference";
  for (const fs::path& page : pages_) {
    const fs::path file = committed / page.filename();
    ASSERT_TRUE(fs::exists(file)) << file << " is missing. Run: voxswap help --reference docs/reference";
    EXPECT_EQ(read_file(file), read_file(page))
        << file << " is not current. Run: voxswap help --reference docs/reference";
  }
}

TEST_F(Reference, OpensEveryPageWithATitleAndASentence) {
  for (const fs::path& page : pages_) {
    const std::string text = read_file(page);
    EXPECT_TRUE(text.starts_with("# ")) << page;
    EXPECT_EQ(text.find("\n\nThis page lists "), text.find('\n')) << page;
  }
}

TEST_F(Reference, HasShortLinesAndShortCells) {
  for (const fs::path& page : pages_)
    for (const std::string& line : split(read_file(page), '\n')) {
      if (!line.starts_with('|')) {
        EXPECT_LE(line.size(), 120U) << page << ": " << line;
        continue;
      }
      for (const std::string& cell : cells_of(line)) EXPECT_LE(words_in(cell), 15U) << page << ": " << cell;
    }
}

TEST_F(Reference, NeedsOneFolder) {
  refused(2, {"help", "--reference"});
}

}  // namespace
}  // namespace voxswap::cli
