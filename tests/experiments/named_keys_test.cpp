// Every key named in a message exists: those that lower rooms take from base/keys.h, and those in string
// literals of rooms that know all keys.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>
#include <vector>

#include "base/keys.h"
#include "base/text.h"
#include "experiments/key_help.h"
#include "experiments/keys.h"
#include "experiments/sweep_draft.h"
#include "experiments/sweep_words.h"
#include "tests/base/house.h"
#include "tests/experiments/support.h"

namespace voxswap::experiments {
namespace {

using testing::IsEmpty;

const std::vector<std::string> named_keys = {
#define VOXSWAP_TEXT_OF_KEY(name, text) text,
    VOXSWAP_NAMED_KEYS(VOXSWAP_TEXT_OF_KEY)
#undef VOXSWAP_TEXT_OF_KEY
};

std::set<std::string> sections() {
  std::set<std::string> all;
  for (const Key& key : keys())
    if (key.path != "name") all.insert(key.path.substr(0, key.path.find('.')));
  return all;
}

// Names of files of a run or of the system that look like keys.
const std::set<std::string> others = {"data.pkl",       "memory.csv",
                                      "memory.current", "memory.max",
                                      "memory.stat",    "memory.limit_in_bytes",
                                      "memory.svg",     "memory.usage_in_bytes",
                                      "sweep.csv",      "sweep.png",
                                      "sweep.svg"};

class NamedKeys : public Experiments {
 protected:
  // A key, an entry of a map key, a section, or a statement of `sweep:`.
  bool is_known(const std::string& word) const {
    if (word.ends_with(".")) return sections().contains(word.substr(0, word.size() - 1));
    if (word.starts_with("sweep.")) return is_sweep_statement(word.substr(6));
    for (const Key& key : keys())
      if (key.path == word || key.path.starts_with(word + ".")) return true;
    return !contains(refusal("{}", {word + "=x"}), "unknown key");
  }
};

TEST_F(NamedKeys, OfLowerRoomsAreKeys) {
  EXPECT_FALSE(is_known("memory.bugdet"));
  EXPECT_FALSE(is_known("memory.disk.folder"));
  EXPECT_FALSE(is_known("sweep.bytes"));
  for (const std::string& key : named_keys) EXPECT_TRUE(is_known(key)) << key;
}

TEST_F(NamedKeys, AreWrittenByNoLowerRoomItself) {
  const auto sources =
      house::read_sources(VOXSWAP_SOURCE_DIR, {"base", "data", "metrics", "net", "swap", "pipeline"});
  EXPECT_GT(sources.size(), 300u);
  EXPECT_THAT(house::faults_of_keys(sources, sections(), others), IsEmpty());
}

TEST_F(NamedKeys, OfTheRoomsThatKnowAllAreKeys) {
  for (const house::SourceFile& file : house::read_sources(VOXSWAP_SOURCE_DIR, {"experiments", "cli"})) {
    for (const std::string& fault : house::faults_of_keys({file}, sections(), others)) {
      const std::string word = fault.substr(fault.rfind(' ') + 1);
      EXPECT_TRUE(is_known(word)) << fault;
    }
  }
}

// Counts code points, so U+2026 and the like count as one.
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
  for (const std::string& line : split(all, '\n')) EXPECT_LE(line.size(), 100u) << line;
  EXPECT_EQ(count_of_keys(common), 30u);
  EXPECT_EQ(count_of_keys(all), keys().size());
  EXPECT_TRUE(contains(all, "\nData\n", "\nPreprocessing\n", "\nNetwork\n", "\nTraining\n",
                       "\nAugmentation\n", "\nMemory\n", "\nEvaluation\n", "\nExperiment\n"));
}

}  // namespace
}  // namespace voxswap::experiments
