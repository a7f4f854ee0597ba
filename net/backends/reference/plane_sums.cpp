// Sums over planes (net/ops/plane_sums.cpp), and the sums of windowed results.
#include <algorithm>

#include "net/backends/moments.h"
#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

namespace {

// Calls visit(element) for the sums of sample n, channel c and kind 0, plane after plane through all pieces.
template <class Visit>
void for_each_plane(const std::vector<Array>& pieces, std::int64_t n, std::int64_t c, Visit visit) {
  for (const Array& piece : pieces) {
    const std::int64_t depth = piece.shape[1], channels = piece.shape[2], kinds = piece.shape[3];
    for (std::int64_t z = 0; z < depth; ++z) visit(piece.data + ((n * depth + z) * channels + c) * kinds);
  }
}

}  // namespace

void add_planes(const Call& call) {
  const Shape& first = call.inputs[0].shape;
  const Array& sums = call.outputs[0];
  const std::int64_t channels = first[2], kinds = first[3];
  std::fill_n(sums.data, sums.shape.count(), 0.0);
  for (std::int64_t n = 0; n < first[0]; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t k = 0; k < kinds; ++k) {
        double sum = 0;
        for_each_plane(call.inputs, n, c, [&](const double* plane) { sum += plane[k]; });
        sums.data[kinds == 1 ? c : (n * channels + c) * kinds + k] += sum;  // of one kind: over samples too
      }
}

void statistics_of_planes(const Call& call) {
  const Shape& first = call.inputs[0].shape;
  const double voxels = call.attributes.real("plane_voxels"), epsilon = call.attributes.real("epsilon");
  for (std::int64_t n = 0; n < first[0]; ++n)
    for (std::int64_t c = 0; c < first[2]; ++c) {
      Moments moments;
      for_each_plane(call.inputs, n, c,
                     [&](const double* plane) { moments.add(plane[0], plane[1], voxels); });
      double* pair = call.outputs[0].data + 2 * (n * first[2] + c);
      pair[0] = moments.mean;
      pair[1] = moments.inverse_deviation(voxels, epsilon);
    }
}

void mean_of_planes(const Call& call) {
  const Shape& first = call.inputs[0].shape;
  for (std::int64_t n = 0; n < first[0]; ++n)
    for (std::int64_t c = 0; c < first[2]; ++c) {
      double sum = 0;
      for_each_plane(call.inputs, n, c, [&](const double* plane) { sum += *plane; });
      call.outputs[0].data[n * first[2] + c] = sum / call.attributes.real("voxels");
    }
}

void total(const Call& call) {
  const Array& sum = call.outputs[0];
  const std::int64_t count = sum.shape.count();
  std::fill_n(sum.data, count, 0.0);
  for (const Array& blocks : call.inputs)
    for (std::int64_t i = 0; i < blocks.shape.count(); ++i) sum.data[i % count] += blocks.data[i];
}

}  // namespace voxswap::net::reference
