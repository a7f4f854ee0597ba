// Phrases that the program avoids because readers in a hurry have to read them twice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <regex>
#include <string>
#include <vector>

#include "tests/base/house.h"

namespace voxswap {
namespace {

using testing::IsEmpty;

// Regular expressions of whole words, and what to write instead.
struct Avoided {
  const char *words, *instead;
};
constexpr std::array avoided = {
    Avoided{"tells? (of|nothing)", "describes, lists"},
    Avoided{"knows? nothing", "ignores, does not know"},
    Avoided{"(is|are) had", "is available"},
    Avoided{"(gone|going|goes|go) on (from|with|where|under)", "resumes from, continues"},
    Avoided{"stands? (there|twice|beside)", "is listed"},
    Avoided{"(lies|lie) (in|at|on|outside|beside|there)", "is in, is stored in"},
    Avoided{"(made|computed|found|planned) again|anew", "recomputed, measured again"},
    Avoided{"comes? back", "is swapped in"},
    Avoided{"vouch(es|ed)?( for)?", "verifies"},
    Avoided{"put (it |them )?back", "restore"},
    Avoided{"in all\\b(?! of)", "in total"},
    Avoided{"therein", "in it"},
    Avoided{"it is of", "it belongs to"},
    Avoided{"what would help", "the next step itself"},
    Avoided{"whatever its name says", "despite its name"},
    Avoided{"to mend", "to fix"}};

// Part of cache keys and run identities; never shown.
constexpr const char* hashed = "tells of";

std::vector<std::string> faults_of_words(const std::vector<house::SourceFile>& files) {
  std::vector<std::pair<std::regex, std::string>> patterns;
  for (const Avoided& one : avoided)
    patterns.emplace_back(std::regex("\\b(" + std::string(one.words) + ")\\b", std::regex::icase),
                          one.instead);
  std::vector<std::string> faults;
  for (const house::SourceFile& file : files)
    for (const std::string& text : file.strings)
      for (const auto& [pattern, instead] : patterns)
        if (text != hashed && std::regex_search(text, pattern))
          faults.push_back(file.path.string() + ": \"" + text + "\": write " + instead);
  return faults;
}

TEST(Words, OfMessagesArePlain) {
  const auto sources = house::read_sources(
      VOXSWAP_SOURCE_DIR, {"base", "data", "metrics", "net", "swap", "pipeline", "experiments", "cli"});
  EXPECT_GT(sources.size(), 300u);
  EXPECT_THAT(faults_of_words(sources), IsEmpty());
}

TEST(Words, ThatAreNotPlainAreFound) {
  EXPECT_EQ(faults_of_words({house::parse("cli/x.cpp", "f(\"a file that tells of nothing\");")}).size(), 1u);
  EXPECT_EQ(faults_of_words({house::parse("cli/x.cpp", "f(\"a file that describes nothing\");")}).size(), 0u);
}

}  // namespace
}  // namespace voxswap
