// Tests our own kernels around a library's convolution, emulated, against plain loops.
#include "net/backends/cuda/weights.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "base/philox.h"
#include "net/backends/reference/elements.h"

namespace voxswap::net {
namespace {

constexpr ElementType types[] = {ElementType::f32, ElementType::bf16, ElementType::f16};

std::vector<double> numbers(std::int64_t count, std::uint64_t seed) {
  const Philox random(seed, 4);
  std::vector<double> result;
  for (std::int64_t i = 0; i < count; ++i)
    result.push_back(static_cast<float>(random.normal(static_cast<std::uint64_t>(i))));
  return result;
}

// Memory of an element type, with the alignment that kernels require.
class Array {
 public:
  Array(ElementType type, const std::vector<double>& values)
      : type_(type), count_(static_cast<std::int64_t>(values.size())), bytes_(values.size() * 8 + 64) {
    store_elements(data(), values.data(), type, count_);
  }
  void* data() {
    auto at = reinterpret_cast<std::uintptr_t>(bytes_.data());
    return reinterpret_cast<void*>((at + 63) / 64 * 64);
  }
  float* floats() { return static_cast<float*>(data()); }
  std::vector<double> values() {
    std::vector<double> result(static_cast<std::size_t>(count_));
    load_elements(result.data(), data(), type_, count_);
    return result;
  }

 private:
  ElementType type_;
  std::int64_t count_;
  std::vector<std::byte> bytes_;
};

std::vector<double> rounded(const std::vector<double>& values, ElementType type) {
  return Array(type, values).values();
}

TEST(Parts, AreAddedUpInDouble) {
  for (const std::int64_t count : {1, 31, 32, 33, 1000}) {
    for (const std::int64_t parts : {2, 7, 8, 9, 513}) {
      const std::vector<double> values = numbers(parts * count, 6);
      std::vector<double> expected(static_cast<std::size_t>(count), 0.0);
      for (std::size_t i = 0; i < values.size(); ++i)
        expected[i % static_cast<std::size_t>(count)] += values[i];
      Array from(ElementType::f32, values),
          to(ElementType::f32, std::vector<double>(static_cast<std::size_t>(count), 99));
      cuda::add_parts(from.floats(), parts, count, to.floats());
      const std::vector<double> found = to.values();
      for (std::size_t i = 0; i < found.size(); ++i)  // one rounding, and the order of sums in double
        ASSERT_NEAR(found[i], expected[i], 6.1e-8 * std::abs(expected[i]) + 1e-12) << count << " " << parts;
    }
  }
}

TEST(Bias, IsAddedToEveryVoxelAndRoundedOnce) {
  for (const std::int64_t channels : {1, 3, 8, 20, 64}) {
    for (ElementType type : types) {
      const std::int64_t voxels = 1001;
      const std::vector<double> before = rounded(numbers(voxels * channels, 3), type),
                                bias = numbers(channels, 4);
      std::vector<double> expected = before;
      for (std::size_t i = 0; i < expected.size(); ++i)
        expected[i] =
            static_cast<float>(before[i]) + static_cast<float>(bias[i % static_cast<std::size_t>(channels)]);
      Array y(type, before), b(ElementType::f32, bias);
      cuda::add_bias(y.data(), b.floats(), type, voxels, channels, {});
      EXPECT_EQ(y.values(), rounded(expected, type)) << channels << " " << element_name(type);
    }
  }
}

TEST(Bias, ItsGradientIsTheSumOverTheVoxels) {
  for (const std::int64_t channels : {1, 3, 8, 20, 64}) {
    for (ElementType type : types) {
      const std::int64_t voxels = 1003;
      const std::vector<double> values = rounded(numbers(voxels * channels, 5), type);
      std::vector<double> expected(static_cast<std::size_t>(channels), 0.0);
      for (std::size_t i = 0; i < values.size(); ++i)
        expected[i % static_cast<std::size_t>(channels)] += values[i];
      const std::int64_t workspace_bytes = cuda::channel_sums_workspace(type, voxels, channels, {});
      Array y(type, values), sums(ElementType::f32, std::vector<double>(expected.size(), 99));
      Array workspace(ElementType::f64,
                      std::vector<double>(static_cast<std::size_t>(workspace_bytes + 7) / 8, 99));
      cuda::channel_sums(y.data(), sums.floats(), type, voxels, channels, workspace.data(), {});
      const std::vector<double> found = sums.values();
      for (std::size_t c = 0; c < expected.size(); ++c)
        EXPECT_NEAR(found[c], expected[c], 1e-6 * static_cast<double>(voxels))
            << channels << " " << element_name(type);
    }
  }
}

}  // namespace
}  // namespace voxswap::net
