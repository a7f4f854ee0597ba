#include "net/graph/value.h"

#include <array>
#include <cassert>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace voxswap::net {

std::string Origin::text() const {
  std::string result = name;
  if (sample != none) result += format("@{}", sample + 1);
  if (slab != none) result += format("[{}]", slab);
  return result;
}

namespace {

struct ElementInfo {
  std::string_view name;
  std::int64_t bytes;
};
constexpr std::array<ElementInfo, 5> elements = {
    {{"f64", 8}, {"f32", 4}, {"bf16", 2}, {"f16", 2}, {"u8", 1}}};

}  // namespace

std::int64_t element_bytes(ElementType type) {
  return elements[static_cast<std::size_t>(type)].bytes;
}
std::string_view element_name(ElementType type) {
  return elements[static_cast<std::size_t>(type)].name;
}

ElementType parse_element_type(std::string_view name) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (elements[i].name == name) return static_cast<ElementType>(i);
    names.emplace_back(elements[i].name);
  }
  fail(Exit::usage, "element type: expected one of {}, found '{}'", join(names, ", "), name);
}

double Attributes::real(std::string_view name) const {
  const auto found = values_.find(name);
  assert(found != values_.end() && "the operation needs an attribute that the node lacks");
  return found->second;
}

std::int64_t Attributes::integer(std::string_view name) const {
  const double value = real(name);
  assert(value == std::floor(value) && "the attribute is a whole number");
  return static_cast<std::int64_t>(value);
}

bool Attributes::flag(std::string_view name) const {
  const auto found = values_.find(name);
  return found != values_.end() && found->second != 0;
}

}  // namespace voxswap::net
