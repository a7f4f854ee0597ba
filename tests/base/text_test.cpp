#include "base/text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/csv.h"
#include "base/error.h"
#include "base/philox.h"
#include "base/units.h"

namespace voxswap {
namespace {

TEST(Sizes, AreReadWithBinaryUnitsAndRefusedWithout) {
  EXPECT_EQ(parse_bytes("16GiB"), 16LL << 30);
  EXPECT_EQ(parse_bytes("1.5 MiB"), 1572864);
  for (const char* bad : {"16", "16GB", "-1GiB", "GiB", "1e30TiB", ""})
    EXPECT_THROW(parse_bytes(bad), Error) << bad;
  EXPECT_EQ(parse_rate("12GB/s"), 12e9);
  EXPECT_EQ(format_bytes(3LL << 30), "3.00 GiB");
}

TEST(Sizes, AreSuggestedWithTheUnitThatWasMeant) {
  const auto refusal = [](const auto& parse, const char* text) {
    try {
      parse(text);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  for (const char* slip : {"4GB", "4G", "4gib", "4gb"})
    EXPECT_EQ(refusal(parse_bytes, slip), "'" + std::string(slip) + "' is not a size. Did you mean 4GiB?");
  EXPECT_EQ(refusal(parse_rate, "1.5GiB/s"), "'1.5GiB/s' is not a rate. Did you mean 1.5GB/s?");
  EXPECT_EQ(refusal(parse_bytes, "4"),
            "'4' is not a size. Write a number followed by one of B, KiB, MiB, GiB, TiB");
}

TEST(Nearest, FindsTheKeyASlipWasMeantToBe) {
  const std::vector<std::string> keys = {"resolution", "crop", "normalize"};
  EXPECT_EQ(nearest("resolutoin", keys), "resolution");
  EXPECT_EQ(nearest("something_else_entirely", keys), "");
}

TEST(Number, ReadsBackAsTheSameDouble) {
  for (double value : {0.1, 1.0 / 3, 123456789.125, 5e-4, 0.0}) EXPECT_EQ(std::stod(number(value)), value);
  EXPECT_EQ(number(5e-4), "0.0005");
  EXPECT_EQ(number(std::nan("")), "nan");
}

TEST(Csv, KeepsCommasQuotesAndLineBreaksInFields) {
  const Csv csv{{"a", "b"}, {{"x,y", "say \"hi\"\nthere"}, {"", "2"}}};
  const Csv back = parse_csv(csv_text(csv), "memory");
  EXPECT_EQ(back.header, csv.header);
  EXPECT_EQ(back.rows, csv.rows);
  EXPECT_THROW(parse_csv("a,b\n1\n", "short"), Error);
  EXPECT_THROW(parse_csv("a,b\n\"1,2\n", "open quote"), Error);
}

// Known answer of Philox4x32-10 from Random123's kat_vectors: all-zero counter and key.
TEST(Philox, GivesThePublishedKnownAnswers) {
  EXPECT_EQ(Philox(0, 0).block(0), (Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox(0xffffffffffffffff, 0xffffffffffffffff, 0xffffffff).block(0xffffffff),
            (Philox::Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
}

TEST(SnakeCase, JoinsWordsByOneUnderscoreWhateverStoodBetweenThem) {
  EXPECT_EQ(snake_case("Non-enhancing  tumor"), "non_enhancing_tumor");
  EXPECT_EQ(snake_case("(T1 + Gd)"), "t1_gd");
  EXPECT_EQ(snake_case("whole_tumor"), "whole_tumor");
  EXPECT_EQ(snake_case("--"), "");
}

}  // namespace
}  // namespace voxswap
