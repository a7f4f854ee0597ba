// JSON is destroyed also where no memory is left.
#include "base/json.h"

#include <gtest/gtest.h>

#include <optional>

#include "tests/heap.h"

namespace voxswap {
namespace {

// A list of `count` entries, each an object that holds a list.
Json nested(int count) {
  Json all = Json::array();
  for (int i = 0; i < count; ++i) all.push_back({{"name", "a"}, {"values", {1, 2, 3}}});
  return all;
}

TEST(Json, IsDestroyedWhereNoMemoryIsLeft) {
  for (int time = 0; time < 100; ++time) {  // the reserve is whole again after each
    std::optional<Json> json = nested(1000);
    test::Heap::empty = true;
    json.reset();  // may not throw: where it does, this program ends by a signal
    test::Heap::empty = false;
  }
}

TEST(Json, TellsOfALackOfMemoryThatTheReserveCannotMend) {
  test::Heap::empty = true;
  bool told = false;
  try {
    give_back(take_or_reserve(std::size_t{2} << 20));
  } catch (const std::bad_alloc&) {
    told = true;
  }
  test::Heap::empty = false;
  EXPECT_TRUE(told);
}

TEST(Json, KeepsKeysInTheirOrderAndReadsWhatItWrote) {
  const std::string text = R"({"b":1,"a":[1.5,"x",null,true],"c":{"z":0,"y":-1}})";
  EXPECT_EQ(Json::parse(text).dump(), text);
}

}  // namespace
}  // namespace voxswap
