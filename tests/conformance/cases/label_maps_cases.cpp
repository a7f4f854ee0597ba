// Cases of label maps (net/ops/label_maps.cpp).
#include <cmath>
#include <numeric>

#include "base/philox.h"
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

// Eighths from 0 to 1, so that channels tie and some are exactly at the threshold.
Input probabilities(const Shape& shape) {
  const Philox random(2017, 7);
  std::vector<double> values(static_cast<std::size_t>(shape.count()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::floor(9 * random.uniform(i)) / 8;
  return {shape, Fill::zeros, Input::Kind::full, std::move(values)};
}

OperationCase decoded(std::string name, const Shape& x, double nested, double least,
                      std::vector<double> table) {
  return {std::move(name),
          {probabilities(x), numbers({x[4], 2}, std::move(table))},
          {{"nested", nested}, {"least", least}},
          {}};
}

// A label map of these labels.
Input label_map(const Shape& shape, std::uint64_t stream, const std::vector<int>& labels) {
  const Philox random(2017, stream);
  std::vector<double> bytes;
  for (std::size_t i = 0; i < static_cast<std::size_t>(shape.count()) / 2; ++i) {
    const int label = labels[random.word(i) % labels.size()];
    bytes.insert(bytes.end(), {static_cast<double>(label % 256), static_cast<double>(label / 256)});
  }
  return {shape, Fill::zeros, Input::Kind::bits, std::move(bytes)};
}

OperationCase compared(std::string name, const Shape& maps, const std::vector<int>& labels,
                       std::vector<double> values) {
  const Shape count{static_cast<std::int64_t>(values.size())};
  return {std::move(name),
          {label_map(maps, 1, labels), label_map(maps, 2, labels), numbers(count, std::move(values))},
          {},
          {}};
}

}  // namespace

Cases decode_labels() {
  const Shape three{1, 3, 5, 7, 3}, five{2, 4, 6, 5, 5}, one{1, 2, 3, 4, 1};
  return {decoded("labels", three, 0, 0.5, {1, 0, 2, 1, 4, 2}),
          decoded("classes, one of two bytes", five, 0, 0, {0, 0, 1, 1, 2, 2, 300, 3, 32767, 4}),
          decoded("regions", three, 3, 0.5, {2, 0, 1, 1, 4, 2}),
          decoded("regions in another order, then labels", five, 3, 0.5, {4, 2, 2, 0, 1, 1, 7, 3, 9, 4}),
          decoded("one label", one, 0, 0.5, {1, 0})};
}

Cases confusion_matrix() {
  std::vector<int> many(70);
  std::iota(many.begin(), many.end(), 250);
  return {compared("few labels", {1, 3, 5, 7, 2}, {0, 1, 2, 4}, {0, 1, 2, 4}),
          compared("batch of two, some labels are not listed", {2, 4, 6, 5, 2}, {0, 1, 3, 65535}, {3, 0, 9}),
          compared("labels of 16 bits", {1, 2, 40, 41, 2}, {7, 255, 256, 32767}, {32767, 256, 255, 7}),
          compared("more pairs than counters", {1, 3, 40, 41, 2}, many, {many.begin(), many.end()})};
}

Cases confusion_plane_sums() {
  return confusion_matrix();
}

}  // namespace voxswap::net::cases
