// Weights of other programs in other types of numbers.
#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "pipeline/record/checkpoint.h"

namespace voxswap::pipeline {
namespace {

template <class Stored>
std::string bytes_of(const std::vector<Stored>& values) {
  std::string bytes(values.size() * sizeof(Stored), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

TEST(StoredNumbers, OfEveryTypeAreReadAsTheNumberTheyStandFor) {
  const std::vector<float> expected = {1, -2.5F, 0};
  EXPECT_EQ(read_numbers("F32", bytes_of(expected)), expected);
  EXPECT_EQ(read_numbers("F64", bytes_of(std::vector<double>{1, -2.5, 0})), expected);
  EXPECT_EQ(read_numbers("F16", bytes_of(std::vector<std::uint16_t>{0x3c00, 0xc100, 0})), expected);
  EXPECT_EQ(read_numbers("BF16", bytes_of(std::vector<std::uint16_t>{0x3f80, 0xc020, 0})), expected);
}

TEST(StoredNumbers, OfOtherTypesHaveNoSize) {
  EXPECT_EQ(stored_bytes("F16"), 2U);
  EXPECT_FALSE(stored_bytes("I64"));
  EXPECT_FALSE(stored_bytes("F8_E4M3"));
}

}  // namespace
}  // namespace voxswap::pipeline
