#include "pipeline/report/lettering.h"

#include <gtest/gtest.h>

namespace voxswap::pipeline {
namespace {

// The dots of a text, as a picture of rows.
std::vector<std::string> drawn(const std::string& text) {
  Pixels picture(60, 8);
  write_text(picture, 0, 0, text, {255, 255, 255});
  std::vector<std::string> rows(8, std::string(60, '.'));
  for (std::size_t i = 0; i < 60 * 8; ++i)
    if (picture.rgb[3 * i] != 0) rows[i / 60][i % 60] = '#';
  return rows;
}

TEST(Lettering, WritesOtherAlphabetsWithTheLettersItHas) {
  EXPECT_EQ(in_plain_letters("M\u00fcller"), "Muller");
  EXPECT_EQ(in_plain_letters("gr\u00f6\u00dfer"), "grosser");
  EXPECT_EQ(drawn("M\u00fcller"), drawn("Muller"));
  EXPECT_EQ(wrapped("M\u00fcller \u00c5", 6), (std::vector<std::string>{"Muller", "A"}));
}

TEST(Lettering, ShowsThatThereIsASignThatItCannotWrite) {
  EXPECT_EQ(in_plain_letters("\u60a3 1"), "? 1");
  EXPECT_EQ(in_plain_letters("a\xff"
                             "b"),
            "a?b");  // no UTF-8
  EXPECT_EQ(drawn("\u60a3"), drawn("?"));
  EXPECT_EQ(drawn("~"), drawn("?"));
  EXPECT_NE(drawn("?"), drawn(" "));
}

}  // namespace
}  // namespace voxswap::pipeline
