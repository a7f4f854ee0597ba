// How the program's threads wait: with OMP_DISPLAY_ENV, GNU's OpenMP prints its settings to stderr each time
// it is loaded.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>

#include "tests/cli/program.h"

namespace voxswap::cli {
namespace {

// Sets environment variables while it exists; nullopt: unset.
class Environment {
 public:
  explicit Environment(const std::map<std::string, std::optional<std::string>>& values) {
    for (const auto& [name, value] : values) {
      if (const char* before = std::getenv(name.c_str())) before_[name] = before;
      set(name, value);
      names_.push_back(name);
    }
  }
  ~Environment() {
    for (const std::string& name : names_)
      set(name, before_.contains(name) ? std::optional(before_[name]) : std::nullopt);
  }

 private:
  static void set(const std::string& name, const std::optional<std::string>& value) {
    if (value)
      ::setenv(name.c_str(), value->c_str(), 1);
    else
      ::unsetenv(name.c_str());
  }
  std::map<std::string, std::string> before_;
  std::vector<std::string> names_;
};

class Restart : public ProgramInAFolder {
 protected:
  // The spin counts that the library prints, one for each start of the program.
  std::vector<std::string> spins(std::map<std::string, std::optional<std::string>> values) {
    values.emplace("OMP_DISPLAY_ENV", "VERBOSE");
    for (const char* name : {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}) values.emplace(name, std::nullopt);
    const Environment environment(values);
    const Outcome outcome = done({"--version"});
    EXPECT_TRUE(contains(outcome.output, "voxswap 0."));
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
