// Label maps (net/ops/label_maps.cpp).
#include <algorithm>
#include <cstdint>

#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

namespace {

double label_at(const Array& labels, std::int64_t voxel) {
  return labels.data[2 * voxel] + 256 * labels.data[2 * voxel + 1];
}

// [planes,K,K], `planes` of all voxels.
void count_pairs(const Call& call, std::int64_t planes) {
  const Array &truth = call.inputs[0], &labels = call.inputs[1], &values = call.inputs[2];
  const std::int64_t count = values.shape[0], voxels = truth.shape.count() / 2;
  const auto find = [&](double label) {
    return std::find(values.data, values.data + count, label) - values.data;
  };
  std::fill_n(call.outputs[0].data, planes * count * count, 0.0);
  for (std::int64_t voxel = 0; voxel < voxels; ++voxel) {
    const std::int64_t row = find(label_at(truth, voxel)), column = find(label_at(labels, voxel));
    if (row == count || column == count) continue;
    call.outputs[0].data[(voxel / (voxels / planes) * count + row) * count + column] += 1;
  }
}

}  // namespace

void decode_labels(const Call& call) {
  const Array &x = call.inputs[0], &channels = call.inputs[1];
  const std::int64_t nested = call.attributes.integer("nested"), count = x.shape[4];
  const double least = call.attributes.real("least");
  for (std::int64_t voxel = 0; voxel < x.shape.count() / count; ++voxel) {
    const double* p = x.data + voxel * count;
    double label = 0, last = -1, largest = 0;
    for (std::int64_t c = 0; c < nested; ++c)
      if (p[c] >= least && channels.data[2 * c + 1] > last) {
        label = channels.data[2 * c];
        last = channels.data[2 * c + 1];
      }
    for (std::int64_t c = nested; c < count; ++c)
      if (p[c] > largest) {
        largest = p[c];
        if (p[c] >= least) label = channels.data[2 * c];
      }
    const auto number = static_cast<std::int64_t>(label);
    call.outputs[0].data[2 * voxel] = static_cast<double>(number % 256);
    call.outputs[0].data[2 * voxel + 1] = static_cast<double>(number / 256);
  }
}

void confusion_matrix(const Call& call) {
  count_pairs(call, call.inputs[0].shape[0]);
}

void confusion_plane_sums(const Call& call) {
  count_pairs(call, call.inputs[0].shape[0] * call.inputs[0].shape[1]);
}

}  // namespace voxswap::net::reference
