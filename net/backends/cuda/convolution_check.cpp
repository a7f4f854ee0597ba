#include "net/backends/cuda/convolution_check.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace voxswap::net::cuda {

namespace {

using Place = std::array<std::int64_t, 3>;  // depth, height, width

struct Voxel {
  std::int64_t sample = 0, channel = 0;
  Place place{};
};

Voxel voxel_of(std::int64_t element, const Shape& shape) {
  Voxel voxel;
  voxel.channel = element % shape[4];
  element /= shape[4];
  for (int axis = 2; axis >= 0; --axis) {
    voxel.place[static_cast<std::size_t>(axis)] = element % shape[axis + 1];
    element /= shape[axis + 1];
  }
  voxel.sample = element;
  return voxel;
}

// Index of the first channel.
std::int64_t element_of(std::int64_t sample, const Place& place, const Shape& shape) {
  return (((sample * shape[1] + place[0]) * shape[2] + place[1]) * shape[3] + place[2]) * shape[4];
}

Place tap_place(std::int64_t tap, const KernelAxes& axes) {
  return {tap / axes[2].kernel / axes[1].kernel, tap / axes[2].kernel % axes[1].kernel, tap % axes[2].kernel};
}

bool inside(const Place& place, const Shape& shape) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    if (place[axis] < 0 || place[axis] >= shape[static_cast<int>(axis) + 1]) return false;
  return true;
}

// The input position that the tap of an output reads; false: outside.
bool read_by(const Place& output, const Place& tap, const ConvolutionProblem& problem, Place& input) {
  for (std::size_t axis = 0; axis < 3; ++axis)
    input[axis] = problem.axes[axis].start(output[axis]) + tap[axis] * problem.axes[axis].dilation;
  return inside(input, problem.x);
}

// The output whose tap reads this position; false: none.
bool reader_of(const Place& input, const Place& tap, const ConvolutionProblem& problem, Place& output) {
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const KernelAxis& along = problem.axes[axis];
    const std::int64_t shifted = input[axis] + along.before - tap[axis] * along.dilation;
    if (shifted < 0 || shifted % along.stride != 0) return false;
    output[axis] = shifted / along.stride;
  }
  return inside(output, problem.y);
}

class Sum {
 public:
  explicit Sum(double start) : value_(start), squares_(start * start) {}
  // Adds `count` products of elements `step` apart.
  void add(const RepeatedNumbers& a, std::int64_t i, std::int64_t a_step, const RepeatedNumbers& b,
           std::int64_t j, std::int64_t b_step, std::int64_t count) {
    i %= a.period, j %= b.period;
    a_step %= a.period, b_step %= b.period;
    for (std::int64_t k = 0; k < count; ++k) {
      const double product = static_cast<double>(a.numbers[i]) * b.numbers[j];
      value_ += product;
      squares_ += product * product;
      if ((i += a_step) >= a.period) i -= a.period;
      if ((j += b_step) >= b.period) j -= b.period;
    }
  }
  CheckedElement at(std::int64_t place) const { return {place, value_, std::sqrt(squares_)}; }

 private:
  double value_, squares_;
};

}  // namespace

std::vector<CheckedElement> checked_elements(const ConvolutionProblem& problem, const RepeatedNumbers& x,
                                             const RepeatedNumbers& w, const RepeatedNumbers& y,
                                             const RepeatedNumbers& bias, double products) {
  using Kind = ConvolutionProblem::Kind;
  using Start = ConvolutionProblem::Start;
  const std::int64_t inputs = problem.x[4], outputs = problem.y[4], all_taps = taps(problem.axes);
  const auto number = [](const RepeatedNumbers& of, std::int64_t i) { return of.numbers[i % of.period]; };

  const auto forward = [&](std::int64_t element) {
    const Voxel to = voxel_of(element, problem.y);
    Sum sum(problem.start == Start::bias  ? number(bias, to.channel)
            : problem.start == Start::sum ? number(y, element)
                                          : 0.0F);
    Place from{};
    for (std::int64_t tap = 0; tap < all_taps; ++tap)
      if (read_by(to.place, tap_place(tap, problem.axes), problem, from))
        sum.add(x, element_of(to.sample, from, problem.x), 1, w, (to.channel * all_taps + tap) * inputs, 1,
                inputs);
    return sum.at(element);
  };
  const auto data_gradient = [&](std::int64_t element) {
    const Voxel to = voxel_of(element, problem.x);
    Sum sum(0);
    Place from{};
    for (std::int64_t tap = 0; tap < all_taps; ++tap)
      if (reader_of(to.place, tap_place(tap, problem.axes), problem, from))
        sum.add(y, element_of(to.sample, from, problem.y), 1, w, tap * inputs + to.channel, all_taps * inputs,
                outputs);
    return sum.at(element);
  };
  const auto weight_gradient = [&](std::int64_t element) {
    const std::int64_t input = element % inputs, output = element / inputs / all_taps;
    const Place tap = tap_place(element / inputs % all_taps, problem.axes);
    Sum sum(0);
    // In each row, the outputs whose tap is inside.
    const KernelAxis& width = problem.axes[2];
    const std::int64_t shift = tap[2] * width.dilation - width.before;
    const std::int64_t first = shift >= 0 ? 0 : (-shift + width.stride - 1) / width.stride;
    const std::int64_t last =
        std::min(problem.y[3] - 1, shift > problem.x[3] - 1 ? -1 : (problem.x[3] - 1 - shift) / width.stride);
    Place from{};
    for (std::int64_t sample = 0; sample < problem.y[0]; ++sample)
      for (std::int64_t z = 0; z < problem.y[1]; ++z)
        for (std::int64_t row = 0; row < problem.y[2]; ++row)
          if (first <= last && read_by({z, row, first}, tap, problem, from))
            sum.add(x, element_of(sample, from, problem.x) + input, width.stride * inputs, y,
                    element_of(sample, {z, row, first}, problem.y) + output, outputs, last - first + 1);
    return sum.at(element);
  };

  std::int64_t elements = problem.y.count();
  double of_one = static_cast<double>(all_taps * inputs);
  if (problem.kind == Kind::data_gradient)
    elements = problem.x.count(), of_one = static_cast<double>(all_taps * outputs);
  if (problem.kind == Kind::weight_gradient)
    elements = problem.weights(), of_one = static_cast<double>(problem.y.count() / outputs);
  const auto affordable = static_cast<std::int64_t>(std::clamp(products / of_one, 4.0, 512.0));
  const std::int64_t count = std::min(elements, affordable);
  std::vector<CheckedElement> found;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t element = count == 1 ? 0 : (elements - 1) * i / (count - 1);
    found.push_back(problem.kind == Kind::forward         ? forward(element)
                    : problem.kind == Kind::data_gradient ? data_gradient(element)
                                                          : weight_gradient(element));
  }
  return found;
}

}  // namespace voxswap::net::cuda
