// Emulated tiles behave as Intel describes the instructions, the processor's tiles (and trapped ones) like
// the emulated ones, and convolutions with tiles give the same bits for any number of threads.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "base/philox.h"
#include "net/backends/convolution/instruction_set.h"
#include "net/backends/convolution/tiled_products.h"
#include "net/backends/convolution/tiles_emulated.h"
#include "net/backends/convolution/volume_convolution.h"
#include "net/backends/convolution/weight_gradient.h"
#include "tests/net/training.h"
#include "tests/trapped_tiles.h"
#if defined(__x86_64__)
#include "net/backends/convolution/tiles_amx.h"
#endif

namespace voxswap::net {
namespace {

using convolution::EmulatedTiles;
using convolution::Instructions;

std::uint16_t bf16(float value) {  // its upper half
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return static_cast<std::uint16_t>(bits >> 16);
}

// Product of a row and a column, added to a sum.
float product(const std::vector<float>& row, const std::vector<float>& column, float sum) {
  std::vector<std::uint16_t> a, b;
  for (const float value : row) a.push_back(bf16(value));
  for (std::size_t i = 0; i < column.size(); i += 2)  // sixteen columns, only the first of which is used
    for (int lane = 0; lane < 16; ++lane)
      for (std::size_t j = 0; j < 2; ++j) b.push_back(lane == 0 ? bf16(column[i + j]) : 0);
  float sums[16] = {sum};
  EmulatedTiles tiles;
  tiles.configure(convolution::shapes_of(1, static_cast<std::int64_t>(row.size())));
  tiles.load<0>(sums, 64);
  tiles.load<4>(a.data(), 64);
  tiles.load<6>(b.data(), 64);
  tiles.multiply_add<0, 4, 6>();
  tiles.store<0>(sums, 64);
  return sums[0];
}

TEST(EmulatedTiles, SumEvenAndOddNumbersApartAndAddThemAtTheEnd) {
  EXPECT_EQ(product({1, 2, 3, 4}, {5, 6, 7, 8}, 9), 5 + 12 + 21 + 32 + 9);
  const float large = 0x1p24F;  // too large for adding 1 to have an effect
  EXPECT_EQ(product({large, 1, -large, 1}, {1, 1, 1, 1}, 0), 2) << "one after the other it would be 1";
  EXPECT_EQ(product({1, 1, 1, 1}, {1, 1, 1, 1}, large), large + 4) << "one after the other it would be 2^24";
  EXPECT_EQ(product({large, 0, 1, 0}, {1, 0, 1, 0}, 0), large) << "ties to even";
  EXPECT_EQ(product({large, 0, 3, 0}, {1, 0, 1, 0}, 0), large + 4) << "ties to even";
}

TEST(EmulatedTiles, TakeNumbersTooSmallToBeNormalForZero) {
  const float smallest = std::numeric_limits<float>::min();
  EXPECT_EQ(product({smallest, 0}, {1, 0}, 0), smallest);
  EXPECT_EQ(product({smallest / 2, 0}, {0x1p100F, 0}, 0), 0);
  EXPECT_EQ(product({smallest, 0}, {0.5F, 0}, 0), 0);
  EXPECT_EQ(product({smallest, smallest}, {1.5F, -1}, 0), 0);
  EXPECT_EQ(product({0, 0}, {0, 0}, smallest / 2), 0);
}

std::vector<std::uint16_t> random_numbers(std::int64_t count, std::uint64_t seed) {
  const Philox random(seed, 1);
  std::vector<std::uint16_t> numbers(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = bf16(random.uniform(i) - 0.5F);
  return numbers;
}

template <class Tiles>
std::vector<float> sums_of(Tiles tiles, std::int64_t rows, std::int64_t numbers) {
  const auto a = random_numbers(rows * numbers, 1), b = random_numbers(numbers * 16, 2);
  std::vector<float> sums(static_cast<std::size_t>(rows * 16), 0.125F);
  tiles.configure(convolution::shapes_of(rows, numbers));
  tiles.template load<3>(sums.data(), 64);
  tiles.template load<5>(a.data(), 2 * numbers);
  tiles.template load<7>(b.data(), 64);
  tiles.template multiply_add<3, 5, 7>();
  tiles.template multiply_add<3, 5, 7>();
  tiles.template store<3>(sums.data(), 64);
  tiles.release();
  return sums;
}

#if defined(__x86_64__)
void expect_the_bits_of_emulated_tiles() {
  for (const auto& [rows, numbers] : {std::pair{16, 32}, {1, 2}, {7, 30}, {16, 24}, {12, 18}})
    EXPECT_EQ(sums_of(convolution::AmxTiles(), rows, numbers), sums_of(EmulatedTiles(), rows, numbers));
}

TEST(TilesOfTheProcessor, GiveTheBitsOfTheEmulatedOnes) {
  if (convolution::instructions_for(ElementType::bf16).back() != Instructions::amx)
    GTEST_SKIP() << "no AMX on this processor";
  expect_the_bits_of_emulated_tiles();
}

TEST(TrappedTiles, AreThoseThatTheInstructionsName) {
  if (!TrappedTiles::work_here()) GTEST_SKIP() << "this processor has AMX, or not what else is needed";
  const TrappedTiles trapped;
  expect_the_bits_of_emulated_tiles();
}
#endif

// The output of a kernel with this many threads.
std::vector<std::uint8_t> made(Kernel& kernel, const void* a, const void* b, std::int64_t bytes,
                               int threads) {
  const WithThreads with(threads);
  std::vector<std::uint8_t> result(static_cast<std::size_t>(bytes));
  std::vector<std::uint8_t> workspace(static_cast<std::size_t>(kernel.workspace_bytes()));
  void* inputs[2] = {const_cast<void*>(a), const_cast<void*>(b)};
  void* outputs[1] = {result.data()};
  kernel.run({inputs, outputs, {}, workspace.data(), nullptr});
  return result;
}

TEST(EmulatedTiles, GiveTheSameBitsWithAnyNumberOfThreads) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer does not see the barriers of OpenMP's threads";
#endif
  for (const std::int64_t inputs : {4, 16, 130}) {
    const Shape x = {1, 6, 7, 29, inputs}, y = {1, 6, 7, 29, 40};
    const KernelAxes axes = cube(3, 1, 1);
    const auto values = random_numbers(x.count(), 3), dy = random_numbers(y.count(), 4);
    std::vector<float> weights(static_cast<std::size_t>(27 * inputs * 40));
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] = static_cast<float>(i % 17) - 8;
    const auto of_volume =
        make_volume_convolution(*convolution::volume_sizes(x, y, axes, false), ElementType::bf16,
                                Instructions::emulated_amx, convolution::Added::nothing);
    const auto of_weights =
        make_weight_gradient(convolution::weight_gradient_node(x, y, axes, {2, 3, 3}, ElementType::bf16),
                             ElementType::bf16, Instructions::emulated_amx);
    const std::int64_t of_y = 2 * y.count(), of_dw = 4 * 27 * inputs * 40;
    const auto volume = made(*of_volume, values.data(), weights.data(), of_y, 1);
    const auto gradient = made(*of_weights, values.data(), dy.data(), of_dw, 1);
    for (const int threads : {2, 3, 7}) {
      EXPECT_TRUE(made(*of_volume, values.data(), weights.data(), of_y, threads) == volume) << inputs;
      EXPECT_TRUE(made(*of_weights, values.data(), dy.data(), of_dw, threads) == gradient) << inputs;
    }
  }
}

}  // namespace
}  // namespace voxswap::net
