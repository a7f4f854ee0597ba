// How the program's threads wait: with OMP_DISPLAY_ENV, GNU's OpenMP prints its settings to stderr each time
// it is loaded. Only commands that compute restart for it.
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "tests/cli/program.h"
#include "tests/environment.h"

namespace voxswap::cli {
namespace {

class Restart : public ProgramInAFolder {
 protected:
  // The spin counts that the library prints, one for each start of the program.
  std::vector<std::string> spins(std::map<std::string, std::optional<std::string>> values,
                                 const std::vector<std::string>& arguments = {"train", "missing.yaml"}) {
    values.emplace("OMP_DISPLAY_ENV", "VERBOSE");
    for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) values.emplace(name, std::nullopt);
    test::Environment environment;
    for (const auto& [name, value] : values) environment.set(name, value);
    const Outcome outcome = program(arguments);
    std::vector<std::string> found;
    const std::string name = "GOMP_SPINCOUNT = '";
    for (std::size_t at = 0; (at = outcome.output.find(name, at)) != std::string::npos;) {
      at += name.size();
      found.push_back(outcome.output.substr(at, outcome.output.find('\'', at) - at));
    }
    if (found.empty()) skip_ = true;  // another library
    return found;
  }
  bool skip_ = false;
};

TEST_F(Restart, ThreadsThatWaitSleepAfterMicroseconds) {
  const auto found = spins({{"OMP_NUM_THREADS", "2"}});
  if (skip_) GTEST_SKIP() << "this OpenMP does not tell how its threads wait";
  ASSERT_EQ(found.size(), 2u) << "the program begins once more, and once only";
  EXPECT_EQ(found[1], "1000");
  const std::vector<std::vector<std::string>> short_ones = {
      {"--version"}, {"watch", "missing.yaml"}, {"train", "missing.yaml", "--help"}};
  for (const auto& arguments : short_ones) EXPECT_EQ(spins({{"OMP_NUM_THREADS", "2"}}, arguments).size(), 1u);
}

TEST_F(Restart, IsLeftOutWhereTheEnvironmentSaysHowToWaitAndForOneThread) {
  if (spins({{"OMP_NUM_THREADS", "1"}}).size() != 1) {
    EXPECT_TRUE(skip_);
    GTEST_SKIP() << "this OpenMP does not tell how its threads wait";
  }
  EXPECT_EQ(spins({{"OMP_NUM_THREADS", "2"}, {"OMP_WAIT_POLICY", "active"}}).size(), 1u);
  EXPECT_EQ(spins({{"OMP_NUM_THREADS", "2"}, {"GOMP_SPINCOUNT", "77"}}), std::vector<std::string>{"77"});
}

}  // namespace
}  // namespace voxswap::cli
