// Augmentation of intensities (net/ops/intensities.cpp).
#include <algorithm>
#include <cmath>
#include <vector>

#include "base/voxel_grid.h"
#include "net/backends/reference/kernels.h"
#include "net/graph/axes.h"
#include "net/graph/drawn_numbers.h"

namespace voxswap::net::reference {

namespace {

using Voxels = std::vector<double>;

// Replaces each channel by change(numbers, channel).
template <class Change>
void for_each_channel(const Call& call, Change change) {
  const std::int64_t channels = call.inputs[0].shape[0], voxels = call.inputs[0].shape.count() / channels;
  for (std::int64_t c = 0; c < channels; ++c) {
    const double* from = call.inputs[0].data + c * voxels;
    const Voxels changed =
        change(call.inputs[1].data + c * drawn::channel_numbers, Voxels(from, from + voxels));
    std::copy(changed.begin(), changed.end(), call.outputs[0].data + c * voxels);
  }
}

struct Moments {
  double mean = 0, deviation = 0, low = 0, high = 0;
};
Moments moments(const Voxels& x) {
  Moments found;
  const auto count = static_cast<double>(x.size());
  for (const double v : x) found.mean += v / count;
  for (const double v : x) found.deviation += (v - found.mean) * (v - found.mean) / count;
  found.deviation = std::sqrt(found.deviation);
  found.low = *std::min_element(x.begin(), x.end());
  found.high = *std::max_element(x.begin(), x.end());
  return found;
}

// Replaces each line along `axis` (0: x) of a volume with sides x, y, z by make(line), of any length.
template <class Make>
Voxels along(std::int64_t axis, Size3& sides, const Voxels& x, Make make) {
  const auto at = static_cast<std::size_t>(axis);
  const std::int64_t side = sides[at], step = axis == 0 ? 1 : axis == 1 ? sides[0] : sides[0] * sides[1];
  const std::int64_t lines = static_cast<std::int64_t>(x.size()) / side;
  Voxels result;
  for (std::int64_t i = 0; i < lines; ++i) {
    const std::int64_t first = i / step * step * side + i % step;
    Voxels line;
    for (std::int64_t k = 0; k < side; ++k) line.push_back(x[static_cast<std::size_t>(first + k * step)]);
    const Voxels made = make(line);
    const auto length = static_cast<std::int64_t>(made.size());
    result.resize(static_cast<std::size_t>(lines * length));
    for (std::int64_t k = 0; k < length; ++k)
      result[static_cast<std::size_t>(i / step * step * length + i % step + k * step)] =
          made[static_cast<std::size_t>(k)];
  }
  sides[at] = static_cast<std::int64_t>(result.size()) / lines;
  return result;
}

Voxels blurred(const Voxels& line, double sigma) {
  const std::int64_t radius = drawn::blur_radius(sigma), last = static_cast<std::int64_t>(line.size()) - 1;
  Voxels result(line.size());
  for (std::int64_t i = 0; i <= last; ++i) {
    double sum = 0, weights = 0;
    for (std::int64_t k = -radius; k <= radius; ++k) {
      const double weight = std::exp(-0.5 * static_cast<double>(k * k) / (sigma * sigma));
      sum += weight * line[static_cast<std::size_t>(std::clamp<std::int64_t>(i + k, 0, last))];
      weights += weight;
    }
    result[static_cast<std::size_t>(i)] = sum / weights;
  }
  return result;
}

Voxels resampled(const Voxels& line, std::int64_t side) {
  const LinearAxis axis{static_cast<std::int64_t>(line.size()), side};
  Voxels result;
  for (std::int64_t i = 0; i < side; ++i) {
    const LinearAxis::Between at = axis.between(i);
    result.push_back((1 - at.of_high) * line[static_cast<std::size_t>(at.low)] +
                     at.of_high * line[static_cast<std::size_t>(at.high)]);
  }
  return result;
}

Voxels with_gamma(Voxels x, double gamma) {
  const Moments old = moments(x);
  if (!(old.high > old.low)) return x;
  for (double& v : x)
    v = std::pow((v - old.low) / (old.high - old.low), gamma) * (old.high - old.low) + old.low;
  const Moments made = moments(x);
  const double factor = made.deviation > 0 ? old.deviation / made.deviation : 1;
  for (double& v : x) v = (v - made.mean) * factor + old.mean;
  return x;
}

void negate(Voxels& x) {
  for (double& v : x) v = -v;
}

}  // namespace

void add_noise(const Call& call) {
  for_each_channel(call, [](const double* drawn, Voxels x) {
    if (drawn[drawn::noise] == 0) return x;
    const Philox random = drawn::noise_of(drawn);
    const auto part = [&](std::uint64_t word) { return ((random.word(word) >> 9) + 0.5) * 0x1p-23; };
    for (std::size_t v = 0; v < x.size(); ++v) {
      const double radius = std::sqrt(-2 * std::log(part(v / 2 * 2))),
                   turn = 6.283185307179586 * part(v / 2 * 2 + 1);
      x[v] += drawn[drawn::noise] * radius * (v % 2 == 0 ? std::cos(turn) : std::sin(turn));
    }
    return x;
  });
}

void gaussian_blur(const Call& call) {
  const Shape& shape = call.inputs[0].shape;
  for_each_channel(call, [&](const double* drawn, Voxels x) {
    const double sigma = drawn[drawn::blur];
    Size3 sides{shape[3], shape[2], shape[1]};
    for (std::int64_t axis = 0; axis < 3 && sigma != 0; ++axis)
      x = along(axis, sides, x, [&](const Voxels& line) { return blurred(line, sigma); });
    return x;
  });
}

void scale_and_shift(const Call& call) {
  for_each_channel(call, [](const double* drawn, Voxels x) {
    for (double& v : x) v = v * drawn[drawn::brightness] + drawn[drawn::shift];
    return x;
  });
}

void change_contrast(const Call& call) {
  for_each_channel(call, [](const double* drawn, Voxels x) {
    const Moments old = moments(x);
    for (double& v : x) v = std::clamp(old.mean + (v - old.mean) * drawn[drawn::contrast], old.low, old.high);
    return x;
  });
}

void lower_resolution(const Call& call) {
  const Shape& shape = call.inputs[0].shape;
  for_each_channel(call, [&](const double* drawn, Voxels x) {
    const double part = drawn[drawn::low_resolution];
    if (part == 1) return x;
    const Size3 fine{shape[3], shape[2], shape[1]};
    Size3 sides = fine;
    for (std::int64_t axis = 0; axis < 3; ++axis) {
      const std::int64_t side = fine[static_cast<std::size_t>(axis)];
      x = along(axis, sides, x,
                [&](const Voxels& line) { return resampled(line, drawn::coarse_side(side, part)); });
    }
    for (std::int64_t axis = 0; axis < 3; ++axis)
      x = along(axis, sides, x,
                [&](const Voxels& line) { return resampled(line, fine[static_cast<std::size_t>(axis)]); });
    return x;
  });
}

void change_gamma(const Call& call) {
  const bool inverted = call.attributes.flag("inverted");
  for_each_channel(call, [&](const double* drawn, Voxels x) {
    const double gamma = drawn[inverted ? drawn::inverted_gamma : drawn::gamma];
    if (gamma == 1) return x;
    if (inverted) negate(x);
    x = with_gamma(std::move(x), gamma);
    if (inverted) negate(x);
    return x;
  });
}

void channels_together(const Call& call) {
  const std::int64_t channels = call.inputs[0].shape[0], voxels = call.inputs[0].shape.count() / channels;
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t v = 0; v < voxels; ++v)
      call.outputs[0].data[v * channels + c] = call.inputs[0].data[c * voxels + v];
}

}  // namespace voxswap::net::reference
