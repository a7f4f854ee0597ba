// Spatial augmentation (net/ops/spatial_map.cpp).
#include <algorithm>
#include <array>
#include <cmath>

#include "base/cubic_spline.h"
#include "net/backends/reference/kernels.h"
#include "net/graph/drawn_numbers.h"

namespace voxswap::net::reference {

namespace {

using Position = std::array<double, 3>;  // x, y, z

// Displacement in mm of voxel x, y, z.
Position displacement(const double* space, const Array& controls, const Position& voxel) {
  std::array<std::int64_t, 3> count;
  std::array<CubicWeights<double>, 3> around;
  for (std::size_t k = 0; k < 3; ++k) {
    count[k] = static_cast<std::int64_t>(space[drawn::controls + static_cast<int>(k)]);
    if (count[k] == 0) return {};
    around[k] = cubic_weights<double>(voxel[k] * space[drawn::grid_step + static_cast<int>(k)], count[k]);
  }
  Position sum{};
  for (std::int64_t i = 0; i < 64; ++i) {
    const std::int64_t x = i % 4, y = i / 4 % 4, z = i / 16;
    const std::int64_t at =
        ((around[2].first + z) * count[1] + around[1].first + y) * count[0] + around[0].first + x;
    for (std::int64_t axis = 0; axis < 3; ++axis)
      sum[static_cast<std::size_t>(axis)] += around[0].weight[x] * around[1].weight[y] * around[2].weight[z] *
                                             controls.data[axis * controls.shape[1] + at];
  }
  return sum;
}

// The eight voxels around the position that a voxel reads: their numbers in the case, and their weights.
struct Corners {
  std::array<std::int64_t, 8> voxel;
  std::array<double, 8> weight;
};
Corners corners(const double* space, const Position& moved, const Position& voxel, const Shape& shape) {
  const std::array<std::int64_t, 3> sides = {shape[3], shape[2], shape[1]};
  std::array<std::int64_t, 3> low, high;
  Position part;
  for (std::size_t k = 0; k < 3; ++k) {
    double at = space[drawn::offset + static_cast<int>(k)];
    for (std::size_t j = 0; j < 3; ++j)
      at += space[drawn::index + static_cast<int>(3 * k + j)] * voxel[j] +
            space[drawn::along + static_cast<int>(3 * k + j)] * moved[j];
    at = std::clamp(at, 0.0, static_cast<double>(sides[k] - 1));
    low[k] = std::min(static_cast<std::int64_t>(at), std::max<std::int64_t>(sides[k] - 2, 0));
    high[k] = std::min(low[k] + 1, sides[k] - 1);
    part[k] = at - static_cast<double>(low[k]);
  }
  const drawn::Box box = drawn::box_of(space);
  Corners result;
  for (std::size_t i = 0; i < 8; ++i) {
    const bool far_x = (i & 1) != 0, far_y = (i & 2) != 0, far_z = (i & 4) != 0;
    const std::int64_t x = far_x ? high[0] : low[0], y = far_y ? high[1] : low[1],
                       z = far_z ? high[2] : low[2];
    result.voxel[i] = box.first + x * box.step[0] + y * box.step[1] + z * box.step[2];
    result.weight[i] =
        (far_x ? part[0] : 1 - part[0]) * (far_y ? part[1] : 1 - part[1]) * (far_z ? part[2] : 1 - part[2]);
  }
  return result;
}

// Calls visit(voxel, corners) for each voxel of the result. `controls`: null without deformation.
template <class Visit>
void for_each_voxel(const Shape& shape, const double* space, const Array* controls, Visit visit) {
  std::int64_t voxel = 0;
  for (std::int64_t z = 0; z < shape[1]; ++z)
    for (std::int64_t y = 0; y < shape[2]; ++y)
      for (std::int64_t x = 0; x < shape[3]; ++x, ++voxel) {
        const Position at = {static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)};
        const Position moved = controls ? displacement(space, *controls, at) : Position{};
        visit(voxel, corners(space, moved, at, shape));
      }
}

}  // namespace

void spatial_map(const Call& call) {
  const Array& x = call.inputs[0];
  const double *space = call.inputs[1].data, *channels = call.inputs[2].data;
  double* y = call.outputs[0].data;
  const std::int64_t count = x.shape[1], voxels = call.outputs[0].shape.count() / count;
  const bool apart = call.attributes.flag("apart");
  for_each_voxel(call.outputs[0].shape, space, call.inputs.size() > 3 ? &call.inputs[3] : nullptr,
                 [&](std::int64_t voxel, const Corners& from) {
                   for (std::int64_t c = 0; c < count; ++c) {
                     double sum = 0;
                     for (std::size_t i = 0; i < 8; ++i)
                       sum += from.weight[i] * x.data[from.voxel[i] * count + c];
                     const bool kept = channels[c * drawn::channel_numbers + drawn::kept] != 0;
                     y[apart ? c * voxels + voxel : voxel * count + c] = kept ? sum : 0;
                   }
                 });
}

void spatial_map_labels(const Call& call) {
  const Array& labels = call.inputs[0];
  const auto label_of = [&](std::int64_t voxel) {
    return labels.data[2 * voxel] + 256 * labels.data[2 * voxel + 1];
  };
  for_each_voxel(call.outputs[0].shape, call.inputs[1].data,
                 call.inputs.size() > 2 ? &call.inputs[2] : nullptr,
                 [&](std::int64_t voxel, const Corners& from) {
                   std::int64_t best = 0;
                   double most = -1;
                   for (std::size_t i = 0; i < 8; ++i) {
                     double sum = 0;
                     for (std::size_t j = 0; j < 8; ++j)
                       if (label_of(from.voxel[j]) == label_of(from.voxel[i])) sum += from.weight[j];
                     if (sum <= most) continue;
                     most = sum;
                     best = from.voxel[i];
                   }
                   std::copy_n(labels.data + 2 * best, 2, call.outputs[0].data + 2 * voxel);
                 });
}

}  // namespace voxswap::net::reference
