// JSON is destroyed also where no memory is left.
#include "base/json.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <optional>

// While this is on, no `new` of this program gets memory.
namespace {
std::atomic<bool> memory_is_gone = false;
[[gnu::noinline]] void* get(std::size_t size) noexcept {
  return memory_is_gone ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void* get_or_throw(std::size_t size) {
  void* const memory = get(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
[[gnu::noinline]] void release(void* memory) noexcept {
  std::free(memory);
}
}  // namespace
// All forms: sanitizers bring their own for those that are left out, and insist on pairs.
void* operator new(std::size_t size) {
  return get_or_throw(size);
}
void* operator new[](std::size_t size) {
  return get_or_throw(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return get(size);
}
void* operator new[](std::size_t size, const std::nothrow_t&) noexcept {
  return get(size);
}
void operator delete(void* memory) noexcept {
  release(memory);
}
void operator delete[](void* memory) noexcept {
  release(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete[](void* memory, std::size_t) noexcept {
  release(memory);
}
void operator delete(void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}
void operator delete[](void* memory, const std::nothrow_t&) noexcept {
  release(memory);
}

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
    memory_is_gone = true;
    json.reset();  // may not throw: where it does, this program ends by a signal
    memory_is_gone = false;
  }
}

TEST(Json, TellsOfALackOfMemoryThatTheReserveCannotMend) {
  memory_is_gone = true;
  bool told = false;
  try {
    give_back(take_or_reserve(std::size_t{2} << 20));
  } catch (const std::bad_alloc&) {
    told = true;
  }
  memory_is_gone = false;
  EXPECT_TRUE(told);
}

TEST(Json, KeepsKeysInTheirOrderAndReadsWhatItWrote) {
  const std::string text = R"({"b":1,"a":[1.5,"x",null,true],"c":{"z":0,"y":-1}})";
  EXPECT_EQ(Json::parse(text).dump(), text);
}

}  // namespace
}  // namespace voxswap
