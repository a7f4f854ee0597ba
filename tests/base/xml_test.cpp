#include "base/xml.h"

#include <gtest/gtest.h>

namespace voxswap {
namespace {

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
