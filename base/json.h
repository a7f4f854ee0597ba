// JSON with keys in insertion order: nlohmann's, with a destructor that cannot fail and fast access to
// objects with many keys.
//
// To avoid deep recursion, nlohmann's destructor moves nested values to a stack that it allocates. If memory
// is exhausted, the allocation throws in the destructor, which terminates the program. Here, the stack falls
// back to a static reserve. Objects with many keys have a hash index; nlohmann's are searched linearly.
#pragma once

#include <algorithm>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace voxswap {

// Allocator of arrays and objects. A distinct type, so that Json is a distinct type, and the memory of
// std::vector<Json> (the destructor's stack) can be treated separately.
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

// An ordered list of keys and values like nlohmann's, with a hash index once there are many keys.
template <typename Key, typename Value, typename Less, typename Allocator>
class IndexedMap : private nlohmann::ordered_map<Key, Value, Less, Allocator> {
  using Base = nlohmann::ordered_map<Key, Value, Less, Allocator>;

 public:
  using Base::Base, Base::begin, Base::end, Base::cbegin, Base::cend, Base::empty, Base::size, Base::max_size;
  using typename Base::const_iterator;
  using typename Base::iterator;
  using typename Base::key_compare;
  using typename Base::key_type;
  using typename Base::mapped_type;
  using typename Base::size_type;
  using typename Base::value_type;

  bool operator==(const IndexedMap& other) const { return bare() == other.bare(); }
  std::partial_ordering operator<=>(const IndexedMap& other) const { return bare() <=> other.bare(); }

  iterator find(std::string_view key) { return begin() + place(key); }
  const_iterator find(std::string_view key) const { return begin() + place(key); }
  size_type count(std::string_view key) const { return find(key) == end() ? 0 : 1; }

  std::pair<iterator, bool> emplace(std::string_view key, Value value) {
    if (const iterator found = find(key); found != end()) return {found, false};
    if (size() >= few && slots_.size() < 2 * (size() + 1)) make_index(4 * (size() + 1));
    Base::emplace_back(Key(key), std::move(value));
    if (!slots_.empty()) slots_[free_slot(key)] = size();
    return {std::prev(end()), true};
  }
  Value& operator[](std::string_view key) { return emplace(key, Value()).first->second; }
  std::pair<iterator, bool> insert(const value_type& entry) { return emplace(entry.first, entry.second); }
  template <typename Iterator>
  void insert(Iterator first, Iterator last) {
    for (; first != last; ++first) insert(*first);
  }

  size_type erase(std::string_view key) {
    const iterator found = find(key);
    if (found == end()) return 0;
    erase(found);
    return 1;
  }
  iterator erase(iterator entry) { return erase(entry, std::next(entry)); }
  iterator erase(iterator first, iterator last) {
    const iterator next = Base::erase(first, last);
    if (!slots_.empty()) make_index(slots_.size());
    return next;
  }
  void clear() {
    slots_.clear();
    Base::clear();
  }

 private:
  static constexpr std::size_t few = 16;  // searched linearly

  const Base& bare() const { return *this; }

  // Index of the key's entry, or size().
  std::ptrdiff_t place(std::string_view key) const {
    if (slots_.empty())
      return std::find_if(begin(), end(), [&](const auto& entry) { return entry.first == key; }) - begin();
    std::size_t slot = first_slot(key);
    while (slots_[slot] != 0 && (begin() + at(slot))->first != key) slot = (slot + 1) % slots_.size();
    return slots_[slot] == 0 ? static_cast<std::ptrdiff_t>(size()) : at(slot);
  }
  std::ptrdiff_t at(std::size_t slot) const { return static_cast<std::ptrdiff_t>(slots_[slot]) - 1; }
  std::size_t first_slot(std::string_view key) const {
    return std::hash<std::string_view>{}(key) % slots_.size();
  }
  std::size_t free_slot(std::string_view key) const {
    std::size_t slot = first_slot(key);
    while (slots_[slot] != 0) slot = (slot + 1) % slots_.size();
    return slot;
  }
  void make_index(std::size_t slots) {
    slots_.assign(slots, 0);
    std::size_t number = 0;
    for (const auto& entry : *this) slots_[free_slot(entry.first)] = ++number;
  }

  std::vector<std::size_t> slots_;  // hash table of entry indices + 1; 0: free. Empty for few entries
};

using Json = nlohmann::basic_json<IndexedMap, std::vector, std::string, bool, std::int64_t, std::uint64_t,
                                  double, JsonAllocator>;

// The only parsers used, because nlohmann copies and compares recursively: nesting deeper than 200 levels is
// rejected as invalid. parse_json() returns a discarded value for invalid text, checked_json() throws
// Json::parse_error.
Json parse_json(std::string_view text);
Json checked_json(std::string_view text);

// Allocates memory, from the reserve (1 MiB, enough for 30,000 values) if no other is available; throws
// std::bad_alloc if the reserve is exhausted.
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
