// The extents of a dense array, outermost first. Five axes mean N, D, H, W, C throughout the project.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

namespace voxswap {

class Shape {
 public:
  Shape() = default;
  Shape(std::initializer_list<std::int64_t> extents) : extents_(extents) {}
  explicit Shape(std::vector<std::int64_t> extents) : extents_(std::move(extents)) {}

  int rank() const { return static_cast<int>(extents_.size()); }
  std::int64_t operator[](int axis) const {
    return extents_[static_cast<size_t>(axis < 0 ? axis + rank() : axis)];
  }
  std::int64_t& operator[](int axis) {
    return extents_[static_cast<size_t>(axis < 0 ? axis + rank() : axis)];
  }
  const std::vector<std::int64_t>& extents() const { return extents_; }

  // Number of elements, 64-bit: 512^3 x 16 channels is already 2^31.
  std::int64_t count() const { return count_from(0); }
  // Elements of the axes from `axis` inwards: the stride of the preceding axis.
  std::int64_t count_from(std::int64_t axis) const {
    std::int64_t product = 1;
    for (auto i = static_cast<std::size_t>(axis); i < extents_.size(); ++i) product *= extents_[i];
    return product;
  }
  bool operator==(const Shape&) const = default;
  std::string text() const {  // "1x64x64x64x16"
    std::string result;
    for (std::int64_t extent : extents_) {
      if (!result.empty()) result += 'x';
      result += std::to_string(extent);
    }
    return result;
  }

 private:
  std::vector<std::int64_t> extents_;
};

// Ids and counts are signed, so that differences and "none" can be represented; containers are indexed by
// unsigned numbers.

// REQUIRES: an integer that is not negative, or an enumerator.
template <class Id>
constexpr std::size_t index(Id id) {
  return static_cast<std::size_t>(id);
}

}  // namespace voxswap
