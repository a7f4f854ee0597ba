#include "net/graph/loss_terms.h"

#include <string>

#include "base/text.h"

namespace voxswap::net {

namespace {

std::string weight_name(std::size_t output) {
  return format("weight.{}", output);
}

double real_or(const Attributes& a, const std::string& name, double otherwise) {
  return a.values().contains(name) ? a.real(name) : otherwise;
}

}  // namespace

LossTerms::LossTerms(const Attributes& a)
    : smoothing(real_or(a, "smoothing", 0)),
      focus(real_or(a, "focus", 0)),
      unknown(static_cast<Unknown>(a.integer_or("unknown", 0))) {}

std::int64_t LossTerms::target_bytes(std::int64_t outputs) const {
  const std::int64_t others = unknown == Unknown::outputs ? outputs : unknown == Unknown::voxels ? 1 : 0;
  return (outputs + others + 7) / 8;
}

// Defaults add no attributes.
void LossTerms::add_to(Attributes& a) const {
  if (smoothing != 0) a.set("smoothing", smoothing);
  if (focus != 0) a.set("focus", focus);
  if (unknown != Unknown::nothing) a.set("unknown", static_cast<double>(unknown));
}

LossWeights::LossWeights(const Attributes& a, std::int64_t outputs)
    : dice(a.real("dice")),
      cross_entropy(a.real("cross_entropy")),
      epsilon(a.real("epsilon")),
      first(a.integer("first")),
      count(a.real("count")),
      counted_by(static_cast<int>(a.integer_or("counted_by", 0))) {
  if (!a.values().contains(weight_name(0))) return;
  for (std::int64_t c = 0; c < outputs; ++c)
    of_output.push_back(real_or(a, weight_name(static_cast<std::size_t>(c)), 1));
}

double LossWeights::of(std::int64_t output) const {
  return of_output.empty() ? 1 : of_output[static_cast<std::size_t>(output)];
}

Attributes LossWeights::attributes() const {
  Attributes a = {{"dice", dice},
                  {"cross_entropy", cross_entropy},
                  {"epsilon", epsilon},
                  {"first", static_cast<double>(first)},
                  {"count", count}};
  if (counted_by != 0) a.set("counted_by", counted_by);
  for (std::size_t c = 0; c < of_output.size(); ++c) a.set(weight_name(c), of_output[c]);
  return a;
}

}  // namespace voxswap::net
