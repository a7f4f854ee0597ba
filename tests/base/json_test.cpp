// JSON can be destroyed without free memory, and excessive nesting is rejected.
#include "base/json.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/philox.h"
#include "base/text.h"
#include "tests/heap.h"

namespace voxswap {
namespace {

// A list of `count` entries, each an object that contains a list.
Json nested(int count) {
  Json all = Json::array();
  for (int i = 0; i < count; ++i) all.push_back({{"name", "a"}, {"values", {1, 2, 3}}});
  return all;
}

// A file of a few kilobytes could otherwise crash the program: copies and comparisons recurse.
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
  for (int time = 0; time < 100; ++time) {  // the reserve is refilled each time
    std::optional<Json> json = nested(1000);
    test::Heap::empty = true;
    json.reset();  // must not throw: that would end this program by a signal
    test::Heap::empty = false;
  }
}

TEST(Json, ThrowsIfTheReserveOfMemoryIsTooSmall) {
  test::Heap::empty = true;
  bool caught = false;
  try {
    give_back(take_or_reserve(std::size_t{2} << 20));
  } catch (const std::bad_alloc&) {
    caught = true;
  }
  test::Heap::empty = false;
  EXPECT_TRUE(caught);
}

// Compared with a list of pairs that is searched linearly.
TEST(Json, OfFewKeysAndOfManyIsTheSameList) {
  const Philox random(20261127, 0x15e1);
  std::uint32_t draw = 0;
  const auto below = [&](std::uint32_t end) { return random.word(draw++) % end; };
  for (const std::uint32_t keys : {5u, 17u, 60u, 1000u}) {
    Json json = Json::object();
    std::vector<std::pair<std::string, std::uint32_t>> list;
    for (int step = 0; step < 3000; ++step) {
      const std::string key = format("key {}", below(keys));
      const auto found =
          std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.first == key; });
      ASSERT_EQ(json.contains(key), found != list.end());
      if (below(3) == 0) {
        ASSERT_EQ(json.erase(key), found != list.end() ? 1u : 0u);
        if (found != list.end()) list.erase(found);
      } else {
        json[key] = step;
        if (found != list.end())
          found->second = static_cast<std::uint32_t>(step);
        else
          list.emplace_back(key, step);
      }
      if (below(500) == 0) json = Json(json);
    }
    Json same = Json::object();
    same.update(json);
    EXPECT_EQ(same, json);
    EXPECT_FALSE(same < json);
    ASSERT_EQ(json.size(), list.size());
    std::size_t at = 0;
    for (const auto& [key, value] : json.items()) {
      EXPECT_EQ(key, list[at].first);
      EXPECT_EQ(value.get<std::uint32_t>(), list[at++].second);
    }
    json.clear();
    EXPECT_FALSE(json.contains(format("key {}", 1)));
  }
}

// With a linear search per key this would exceed the time limit of the suite.
TEST(Json, OfVeryManyKeysIsRead) {
  std::string text = "{";
  constexpr int count = 500'000;
  for (int i = 0; i < count; ++i) text += format("{}\"tensor {}\":{}", i > 0 ? "," : "", i, i);
  const Json json = parse_json(text + "}");
  ASSERT_EQ(json.size(), static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) ASSERT_EQ(json.at(format("tensor {}", i)), i);
}

TEST(Json, KeepsKeysInTheirOrderAndReadsWhatItWrote) {
  const std::string text = R"({"b":1,"a":[1.5,"x",null,true],"c":{"z":0,"y":-1}})";
  EXPECT_EQ(Json::parse(text).dump(), text);
}

}  // namespace
}  // namespace voxswap
