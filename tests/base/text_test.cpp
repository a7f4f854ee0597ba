#include "base/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <regex>

#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/philox.h"
#include "base/units.h"
#include "base/xml.h"
#include "tests/expect.h"

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

TEST(Sizes, AreSuggestedWithTheIntendedUnit) {
  const auto refusal = [](const auto& parse, const char* text) {
    return test::message_of([&] { parse(text); }, Exit::usage);
  };
  for (const char* slip : {"4GB", "4G", "4gib", "4gb"})
    EXPECT_EQ(refusal(parse_bytes, slip), "'" + std::string(slip) + "' is not a size. Did you mean 4GiB?");
  EXPECT_EQ(refusal(parse_rate, "1.5GiB/s"), "'1.5GiB/s' is not a rate. Did you mean 1.5GB/s?");
  EXPECT_EQ(refusal(parse_bytes, "4"),
            "'4' is not a size. Write a number followed by one of B, KiB, MiB, GiB, TiB");
}

TEST(Nearest, FindsTheKeyIntendedByATypingError) {
  const std::vector<std::string> keys = {"resolution", "crop", "normalize"};
  EXPECT_EQ(nearest("resolutoin", keys), "resolution");
  EXPECT_EQ(nearest("something_else_entirely", keys), "");
}

TEST(Wrapped, BreaksLinesBetweenWordsAndIndentsThem) {
  EXPECT_EQ(wrapped("one two three", 80), "one two three");
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("one two three", 9, 2), "one two\n  three");
  EXPECT_EQ(wrapped("incomprehensible is long", 4), "incomprehensible\nis\nlong");
}

TEST(Number, HasAsFewDigitsAsItNeeds) {
  EXPECT_EQ(number(5e-4), "0.0005");
  EXPECT_EQ(number(std::nan("")), "nan");
}

TEST(Csv, OfAnotherShapeIsRefused) {
  EXPECT_THROW(parse_csv("a,b\n1\n", "short"), Error);
  EXPECT_THROW(parse_csv("a,b\n\"1,2\n", "open quote"), Error);
}

// A negative number is not escaped, so that readers still parse it as a number.
TEST(Csv, HoldsNoFieldThatASpreadsheetTakesForAFormula) {
  const std::vector<std::string> texts = {"=HYPERLINK(\"http://x\")",
                                          "+1+1",
                                          "-1-1",
                                          "@SUM(A1)",
                                          "\tx",
                                          "\rx",
                                          "'=x",
                                          "''-x",
                                          "'x",
                                          "x=1",
                                          "",
                                          "-",
                                          "-a b"};
  const std::vector<std::string> numbers = {"-1", "-0.5", "-1e-07", "-inf", "nan", "7"};
  for (const auto& fields : {texts, numbers}) {
    const Csv csv{std::vector<std::string>(fields.size(), "a"), {fields}};
    EXPECT_EQ(parse_csv(csv_text(csv), "memory").rows, csv.rows);
  }
  for (const std::string& field : texts) {
    const std::string line = split(csv_text({{"a"}, {{field, ""}}}), '\n')[1];
    const std::string shown = line.substr(line.starts_with('"') ? 1 : 0);
    EXPECT_TRUE(field == "-" || std::string("=+-@\t\r").find(shown[0]) == std::string::npos) << line;
  }
  EXPECT_EQ(csv_text({{"a", "b"}, {{"-0.5", "=x"}}}), "a,b\n-0.5,'=x\n");
  EXPECT_EQ(csv_text({{"a", "b"}, {{"-0.5;0.25", "-0.5;x"}}}), "a,b\n-0.5;0.25,'-0.5;x\n");
}

TEST(Csv, IsUtf8) {
  test::expect_failure([] { parse_csv("case\nc\xe9\n", "split.csv"); }, Exit::bad_data,
                       {"split.csv: is not UTF-8"});
}

// A file's name could otherwise clear the screen or change the window title.
TEST(Printable, ShowsControlCharactersAndBytesThatAreNoCharacters) {
  EXPECT_EQ(printable("a\x1b[2J\a\x7f"), "a\\x1b[2J\\x07\\x7f");
  EXPECT_EQ(printable("c\xe9 caf\u00e9 \u8133"), "c\\xe9 caf\u00e9 \u8133");
  EXPECT_EQ(printable("\u0085\u009b31m"), "\\xc2\\x85\\xc2\\x9b31m");
  EXPECT_EQ(printable("two\nlines\tand\r"), "two\nlines\tand\\x0d");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Table, HasOneLinePerRowWhateverItsCellsHold) {
  EXPECT_EQ(table({{"case", "n"}, {"two\nlines", "1"}, {"\x1b[2J", "2"}}),
            "case          n\ntwo\\x0alines  1\n\\x1b[2J       2\n");
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

TEST(ParseNumber, TakesAWholeTextAndNothingElse) {
  EXPECT_EQ(parse_number<int>("42"), 42);
  EXPECT_EQ(parse_number<int>("-7"), -7);
  EXPECT_EQ(parse_number<double>("2.5e-1"), 0.25);
  for (const char* text : {"", " 4", "4 ", "4x", "x", "+4", "4.0", "0x4"})
    EXPECT_FALSE(parse_number<int>(text)) << "'" << text << "'";
  for (const char* text : {"", "1,5", "1.5.2", "--1", "1e"})
    EXPECT_FALSE(parse_number<double>(text)) << "'" << text << "'";
}

TEST(ParseNumber, GivesNothingForWhatDoesNotFit) {
  EXPECT_FALSE(parse_number<std::int8_t>("128"));
  EXPECT_FALSE(parse_number<std::uint64_t>("-1"));
  EXPECT_EQ(parse_number<std::uint64_t>("18446744073709551615"), 18446744073709551615u);
  EXPECT_FALSE(parse_number<std::uint64_t>("18446744073709551616"));
  EXPECT_FALSE(parse_number<double>("1e999"));
}

TEST(ParseNumber, KnowsWhatIsNoFiniteNumber) {
  EXPECT_TRUE(std::isnan(parse_number<double>("nan").value()));
  EXPECT_TRUE(std::isinf(parse_number<double>("-inf").value()));
}

TEST(Counts, AgreeWithTheirNouns) {
  EXPECT_EQ(counted(1, "validation case"), "1 validation case");
  EXPECT_EQ(counted(0, "case"), "0 cases");
  EXPECT_EQ(counted(2, "series"), "2 series");
  EXPECT_EQ(counted(2, "spatial axis"), "2 spatial axes");
  EXPECT_EQ(counted(2, "class"), "2 classes");
  EXPECT_EQ(counted(2, "patch"), "2 patches");
  EXPECT_EQ(counted(2, "epoch"), "2 epochs");
  EXPECT_EQ(counted(2, "bounding box"), "2 bounding boxes");
  EXPECT_EQ(counted(2, "directory"), "2 directories");
  EXPECT_EQ(counted(2, "key"), "2 keys");
}

// "{} cases" in a message would print "1 cases".
TEST(Counts, AreWrittenByCountedInEveryMessage) {
  const std::regex by_hand(
      R"re("[^"]*\{\} (cases|folders|series|files|labels|channels|images|epochs|ranks|nodes|threads|steps|regions|planes|repeats|cells|rows|problems|errors|warnings|folds|patients|samples|parameters|outputs|cores|machines|volumes|dimensions)\b)re");
  for (const char* room : {"base", "data", "metrics", "net", "swap", "pipeline", "experiments", "cli"}) {
    for (const auto& entry : fs::recursive_directory_iterator(fs::path(VOXSWAP_SOURCE_DIR) / room)) {
      if (entry.path().extension() != ".cpp") continue;
      for (const std::string& line : split(read_file(entry.path()), '\n'))
        EXPECT_FALSE(std::regex_search(line, by_hand)) << entry.path().string() << ": " << line;
    }
  }
}

TEST(Xml, HasEntitiesWhereMarkupWouldBe) {
  EXPECT_EQ(xml_escaped("<b class=\"x\">A & B's</b>"),
            "&lt;b class=&quot;x&quot;&gt;A &amp; B&#39;s&lt;/b&gt;");
}

TEST(Xml, HoldsNoBytesThatAreNoCharacters) {
  EXPECT_EQ(xml_escaped("\xff"
                        "a\x01"
                        "b\n\xc3\xa9"),
            "\uFFFD"
            "a b\n\u00e9");
}

}  // namespace
}  // namespace voxswap
