#include "experiments/key_help.h"

#include <gtest/gtest.h>

#include <cctype>

#include "base/text.h"
#include "experiments/keys.h"

namespace voxswap::experiments {
namespace {

// U+2026 and the like count as one.
std::size_t characters(const std::string& text) {
  std::size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

TEST(KeyHelp, IsAtMost90CharactersInOneSentence) {
  for (const Key& key : keys()) {
    EXPECT_LE(characters(key.meaning), 90u) << key.path << ": " << key.meaning;
    EXPECT_FALSE(key.meaning.empty()) << key.path;
    EXPECT_TRUE(std::isupper(static_cast<unsigned char>(key.meaning.front())))
        << key.path << ": " << key.meaning;
    const bool chained = key.meaning.find("; ") != std::string::npos;
    EXPECT_FALSE(chained) << key.path << ": " << key.meaning;
  }
}

TEST(KeyHelp, NamesThirtyCommonKeysAndOnRequestAllUnderTheirHeadings) {
  const auto count_of_keys = [](const std::string& text) {
    std::size_t count = 0;
    for (const std::string& line : split(text, '\n'))
      count += line.starts_with("  ") && !line.starts_with("   ");
    return count;
  };
  const std::string common = describe_keys(Keys::common), all = describe_keys(Keys::all);
  EXPECT_EQ(count_of_keys(common), 30u);
  EXPECT_EQ(count_of_keys(all), keys().size());
  for (const char* heading : {"\nData\n", "\nPreprocessing\n", "\nNetwork\n", "\nTraining\n",
                              "\nAugmentation\n", "\nMemory\n", "\nEvaluation\n", "\nExperiment\n"})
    EXPECT_NE(all.find(heading), std::string::npos) << heading;
}

}  // namespace
}  // namespace voxswap::experiments
