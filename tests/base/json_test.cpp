// JSON is destroyed also where no memory is left, and is not parsed where it is nested without end.
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

// A file of a few kilobytes could otherwise end the program: copies and comparisons recurse.
TEST(Json, ThatIsNestedTooDeepIsInvalid) {
  const auto deep = [](int levels, const std::string& open, const std::string& close) {
    std::string text;
    for (int i = 0; i < levels; ++i) text += open;
    text += "1";
    for (int i = 0; i < levels; ++i) text += close;
    return text;
  };
  for (const int levels : {1, 200, 201, 100'000}) {
    const bool valid = levels <= 200;
    for (const std::string& text : {deep(levels, "[", "]"), deep(levels, "{\"a\":", "}")}) {
      EXPECT_EQ(parse_json(text).is_discarded(), !valid) << levels;
      if (valid)
        EXPECT_EQ(checked_json(text), parse_json(text));
      else
        EXPECT_THROW(checked_json(text), Json::parse_error) << levels;
    }
  }
  const std::string in_a_string = "[\"" + deep(1000, "[", "") + "\\\"{[\"]";
  EXPECT_EQ(parse_json(in_a_string).size(), 1u);
  EXPECT_TRUE(parse_json("[1").is_discarded());
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
