// What launchers tell their ranks through the environment.
#include "net/collective/launched.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <string>

namespace voxswap::net {
namespace {

class Launched : public testing::Test {
 protected:
  ~Launched() override {
    for (const auto& [name, value] : before_)
      value.empty() ? unsetenv(name.c_str()) : setenv(name.c_str(), value.c_str(), 1);
  }
  void set(const std::string& name, const std::string& value) {
    const char* const before = std::getenv(name.c_str());
    before_.emplace(name, before == nullptr ? "" : before);
    setenv(name.c_str(), value.c_str(), 1);
  }

 private:
  std::map<std::string, std::string> before_;
};

TEST_F(Launched, AreOneByItselfWithoutALauncher) {
  EXPECT_EQ(launched_rank(), 0);
  EXPECT_EQ(launched_count(), 1);
  EXPECT_EQ(launched_place().count, 1u);
  EXPECT_TRUE(launched_ranks().is_alone());
}

TEST_F(Launched, ByMpirunKnowTheirPlaceOnTheirMachine) {
  set("OMPI_COMM_WORLD_RANK", "5");
  set("OMPI_COMM_WORLD_SIZE", "8");
  set("OMPI_COMM_WORLD_LOCAL_RANK", "1");
  set("OMPI_COMM_WORLD_LOCAL_SIZE", "4");
  EXPECT_EQ(launched_rank(), 5);
  EXPECT_EQ(launched_count(), 8);
  EXPECT_EQ(launched_place().index, 1u);
  EXPECT_EQ(launched_place().count, 4u);
}

TEST_F(Launched, BySlurmCountTheTasksOfTheirNode) {
  set("PMIX_RANK", "6");
  set("SLURM_STEP_NUM_TASKS", "8");
  set("SLURM_STEP_TASKS_PER_NODE", "2(x3),1,1");
  set("SLURM_LOCALID", "0");
  for (const auto& [node, tasks] :
       {std::pair("0", 2u), std::pair("2", 2u), std::pair("3", 1u), std::pair("4", 1u)}) {
    set("SLURM_NODEID", node);
    EXPECT_EQ(launched_place().count, tasks) << node;
  }
  set("SLURM_NODEID", "1");
  set("SLURM_LOCALID", "1");
  EXPECT_EQ(launched_place().index, 1u);
}

TEST_F(Launched, BySlurmWithoutAnMpiAreProgramsByThemselves) {
  set("SLURM_STEP_NUM_TASKS", "8");
  set("SLURM_STEP_TASKS_PER_NODE", "8");
  set("SLURM_LOCALID", "3");
  set("SLURM_NODEID", "0");
  EXPECT_EQ(launched_count(), 1);
  EXPECT_EQ(launched_place().count, 1u);
}

TEST_F(Launched, TakeNothingAbsurdForAPlace) {
  set("OMPI_COMM_WORLD_RANK", "0");
  set("OMPI_COMM_WORLD_SIZE", "2");
  for (const auto& [rank, size] : {std::pair("2", "2"), std::pair("-1", "2"), std::pair("0", "3")}) {
    set("OMPI_COMM_WORLD_LOCAL_RANK", rank);
    set("OMPI_COMM_WORLD_LOCAL_SIZE", size);
    EXPECT_EQ(launched_place().count, 1u) << rank << " of " << size;
  }
}

}  // namespace
}  // namespace voxswap::net
