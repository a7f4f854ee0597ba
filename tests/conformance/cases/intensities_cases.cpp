// Cases of the augmentation of intensities (net/ops/intensities.cpp).
#include "net/graph/drawn_numbers.h"
#include "tests/conformance/cases/cases.h"

namespace voxswap::net::cases {

namespace {

// The number of each channel, all other numbers being neutral.
Input channels(drawn::Channel number, const std::vector<double>& of_channel) {
  std::vector<double> neutral(drawn::channel_numbers, 1.0);
  for (const drawn::Channel zero : {drawn::noise, drawn::blur, drawn::shift}) neutral[zero] = 0;
  std::vector<double> values;
  for (const double one : of_channel) {
    neutral[number] = one;
    drawn::set_noise(neutral.data(),
                     Philox(0x1234567890, 0x3000000007, 0xb000 + static_cast<std::uint32_t>(values.size())));
    values.insert(values.end(), neutral.begin(), neutral.end());
  }
  return numbers({static_cast<std::int64_t>(of_channel.size()), drawn::channel_numbers}, values);
}

// Three channels, of which one does not change, of a volume and a flat image, and a volume of several chunks.
Cases with(drawn::Channel number, double neutral, double low, double high,
           const Attributes& attributes = {}) {
  return {
      {"three channels", {full({3, 5, 6, 23, 1}), channels(number, {low, neutral, high})}, attributes, {}},
      {"a flat image", {full({1, 1, 9, 21, 1}), channels(number, {high})}, attributes, {}},
      {"a large volume", {full({1, 20, 30, 40, 1}), channels(number, {low})}, attributes, {}}};
}

Cases with_constant_image(Cases cases, drawn::Channel number, double value,
                          const Attributes& attributes = {}) {
  cases.push_back(
      {"a constant image", {full({1, 3, 4, 5, 1}, Fill::zeros), channels(number, {value})}, attributes, {}});
  return cases;
}

}  // namespace

Cases add_noise() {
  return with(drawn::noise, 0, 0.3, 2);
}

Cases gaussian_blur() {
  Cases cases = with(drawn::blur, 0, 0.6, 1.3);
  cases.push_back({"wider than the volume", {full({1, 4, 40, 5, 1}), channels(drawn::blur, {3})}, {}, {}});
  return cases;
}

Cases scale_and_shift() {
  Cases cases = with(drawn::brightness, 1, 0.7, 1.3);
  cases.push_back({"shift", {full({2, 3, 4, 5, 1}), channels(drawn::shift, {-0.4, 0})}, {}, {}});
  return cases;
}

Cases change_contrast() {
  return with_constant_image(with(drawn::contrast, 1, 0.75, 1.25), drawn::contrast, 1.2);
}

Cases lower_resolution() {
  Cases cases = with(drawn::low_resolution, 1, 0.5, 0.83);
  cases.push_back({"one voxel", {full({1, 3, 4, 9, 1}), channels(drawn::low_resolution, {0.05})}, {}, {}});
  return cases;
}

Cases change_gamma() {
  const Attributes inverted = {{"inverted", 1}};
  Cases cases = with_constant_image(with(drawn::gamma, 1, 0.7, 1.5), drawn::gamma, 1.4);
  for (OperationCase& one : with_constant_image(with(drawn::inverted_gamma, 1, 0.7, 1.5, inverted),
                                                drawn::inverted_gamma, 0.8, inverted)) {
    one.name += ", inverted";
    cases.push_back(one);
  }
  return cases;
}

Cases channels_together() {
  return {{"three channels", {full({3, 5, 6, 23, 1})}, {}, {}},
          {"four channels", {full({4, 3, 40, 150, 1})}, {}, {}},
          {"one channel", {full({1, 3, 4, 5, 1})}, {}, {}}};
}

}  // namespace voxswap::net::cases
