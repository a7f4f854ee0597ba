// Round trips: text and numbers of any kind are read back as they were written.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <cmath>
#include <vector>

#include "base/csv.h"
#include "base/text.h"
#include "base/units.h"
#include "base/xml.h"
#include "tests/texts.h"

namespace voxswap {
namespace {

using test::any_text;

RC_GTEST_PROP(RoundTrip, OfATableKeepsEveryField, ()) {
  const auto columns = *rc::gen::inRange<std::size_t>(1, 4), rows = *rc::gen::inRange<std::size_t>(0, 4);
  const auto record = rc::gen::container<std::vector<std::string>>(columns, any_text());
  const Csv table{*record, *rc::gen::container<std::vector<std::vector<std::string>>>(rows, record)};
  const Csv read = parse_csv(csv_text(table), "memory");
  RC_ASSERT(read.header == table.header);
  RC_ASSERT(read.rows == table.rows);
}

RC_GTEST_PROP(RoundTrip, OfANumberKeepsEveryBit, (std::uint64_t bits)) {
  const auto value = std::bit_cast<double>(bits);
  RC_PRE(!std::isnan(value));
  RC_ASSERT(std::bit_cast<std::uint64_t>(parse_number<double>(number(value)).value()) == bits);
}

RC_GTEST_PROP(RoundTrip, OfAListKeepsItsParts, ()) {
  const auto part = rc::gen::container<std::string>(rc::gen::distinctFrom(';'));
  const auto parts = *rc::gen::nonEmpty(rc::gen::container<std::vector<std::string>>(part));
  RC_ASSERT(split(join(parts, ";"), ';') == parts);
}

// Names of files are bytes; what is shown of them is text.
RC_GTEST_PROP(Shown, AreOnlyCharactersWhateverTheBytes, (const std::string& bytes)) {
  for (const std::string& shown : {printable(bytes), as_utf8(bytes), xml_escaped(bytes)}) {
    RC_ASSERT(is_utf8(shown));
    for (const char c : shown) RC_ASSERT(static_cast<unsigned char>(c) >= 0x20 || c == '\n' || c == '\t');
  }
  RC_ASSERT(printable(printable(bytes)) == printable(bytes));
}

}  // namespace
}  // namespace voxswap
