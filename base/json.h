// JSON with keys in insertion order: nlohmann's, with a destructor that cannot fail.
//
// Before it destroys an array or object it moves the values onto a stack that it makes for that, so that deep
// nesting needs no deep recursion. The stack takes memory, the destructor may not throw, and where memory had
// run out the program ended by a signal. Here the stack is made from a reserve where there is no other
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace voxswap {

// What arrays and objects are made with; nothing but another name, so that Json is a type of our own and the
// memory of std::vector<Json>, which that stack is, can be told from it.
template <typename T>
struct JsonAllocator : std::allocator<T> {
  JsonAllocator() = default;
  template <typename U>
  explicit(false) JsonAllocator(const JsonAllocator<U>& other) noexcept : std::allocator<T>(other) {}
  template <typename U>
  struct rebind {
    using other = JsonAllocator<U>;
  };
};

using Json = nlohmann::basic_json<nlohmann::ordered_map, std::vector, std::string, bool, std::int64_t,
                                  std::uint64_t, double, JsonAllocator>;

// All texts are parsed by these, because nlohmann copies and compares by recursion: what is nested deeper
// than 200 levels counts as invalid. parse_json() returns a discarded value for an invalid text,
// checked_json() throws Json::parse_error.
Json parse_json(std::string_view text);
Json checked_json(std::string_view text);

// Memory, of the reserve (1 MiB, the values of 30,000 entries) where there is no other; std::bad_alloc when
// that is used up.
void* take_or_reserve(std::size_t bytes);
void give_back(void* memory) noexcept;

}  // namespace voxswap

template <>
struct std::allocator<voxswap::Json> {
  using value_type = voxswap::Json;
  allocator() = default;
  template <typename T>
  explicit(false) allocator(const std::allocator<T>&) noexcept {}
  voxswap::Json* allocate(std::size_t count);
  void deallocate(voxswap::Json* values, std::size_t) noexcept { voxswap::give_back(values); }
  bool operator==(const allocator&) const = default;
};

inline voxswap::Json* std::allocator<voxswap::Json>::allocate(std::size_t count) {
  return static_cast<voxswap::Json*>(voxswap::take_or_reserve(count * sizeof(voxswap::Json)));
}
