// Parses an XML document for tests: its elements in order, and its text.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/property_tree/xml_parser.hpp>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace voxswap::test {

struct Element {
  std::string name;
  std::map<std::string, std::string> attributes;
  double number(const std::string& attribute) const {
    const auto found = attributes.find(attribute);
    return found == attributes.end() ? 0 : std::atof(found->second.c_str());
  }
  bool is(const std::string& word) const {
    const auto found = attributes.find("class");
    return found != attributes.end() &&
           (" " + found->second + " ").find(" " + word + " ") != std::string::npos;
  }
};

// The elements of a document and all of its text; malformed XML fails the test.
class Xml {
 public:
  explicit Xml(const std::string& text) {
    std::istringstream stream(text);
    boost::property_tree::ptree document;
    try {
      boost::property_tree::read_xml(stream, document);
      add_children(document);
    } catch (const boost::property_tree::xml_parser_error& error) {
      ADD_FAILURE() << error.what();
      good_ = false;
    }
    const bool stray = std::any_of(text.begin(), text.end(), [](unsigned char c) {
      return c < 0x20 && c != '\n' && c != '\t' && c != '\r';
    });
    EXPECT_FALSE(stray) << "a character that XML has no word for";
  }
  const std::vector<Element>& elements() const { return elements_; }
  const std::string& words() const { return words_; }
  bool good() const { return good_; }

 private:
  void add_children(const boost::property_tree::ptree& parent) {
    for (const auto& [name, child] : parent) {
      if (name == "<xmlattr>") continue;
      Element& element = elements_.emplace_back(Element{name, {}});
      if (const auto attributes = child.get_child_optional("<xmlattr>"))
        for (const auto& [attribute, value] : *attributes) element.attributes[attribute] = value.data();
      words_ += child.data() + "\n";
      add_children(child);
    }
  }

  std::vector<Element> elements_;
  std::string words_;
  bool good_ = true;
};

}  // namespace voxswap::test
