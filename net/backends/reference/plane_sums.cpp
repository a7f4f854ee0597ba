// Sums over planes: of channels, of sums per plane (net/ops/plane_sums.cpp), and of windowed results.
#include "net/backends/reference/plane_sums.h"

#include <algorithm>

#include "net/backends/moments.h"
#include "net/backends/reference/kernels.h"
#include "net/graph/block_sums.h"

namespace voxswap::net::reference {

namespace {

double plane_sum(const Array& x, std::int64_t n, std::int64_t z, std::int64_t c) {
  const std::int64_t voxels = x.shape[2] * x.shape[3], channels = x.shape[4];
  const double* first = x.data + (n * x.shape[1] + z) * voxels * channels + c;
  double sum = 0;
  for (std::int64_t v = 0; v < voxels; ++v) sum += first[v * channels];
  return sum;
}

// Calls visit(element) for the sums of sample n, channel c and kind 0, plane by plane over all slabs.
template <class Visit>
void for_each_plane(const std::vector<Array>& slabs, std::int64_t n, std::int64_t c, Visit visit) {
  for (const Array& slab : slabs) {
    const std::int64_t depth = slab.shape[1], channels = slab.shape[2], kinds = slab.shape[3];
    for (std::int64_t z = 0; z < depth; ++z) visit(slab.data + ((n * depth + z) * channels + c) * kinds);
  }
}

}  // namespace

void sum_channels(const Array& x, const Array& sums, const RowOfPlane& row_of) {
  const std::int64_t channels = x.shape[-1];
  std::fill_n(sums.data, sums.shape.count(), 0.0);
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t first = 0, end = 0; first < x.shape[1]; first = end) {
      const std::int64_t row = row_of(first);
      while (end < x.shape[1] && row_of(end) == row) ++end;
      for (std::int64_t c = 0; c < channels; ++c) {
        double sum = 0;
        for (std::int64_t z = first; z < end; ++z) sum += plane_sum(x, n, z, c);
        sums.data[row * channels + c] += sum;
      }
    }
}

void channel_sum(const Call& call) {
  sum_channels(call.inputs[0], call.outputs[0], RowOfPlane({}, call.inputs[0].shape[1]));
}

void channel_plane_sums(const Call& call) {
  const Array& x = call.inputs[0];
  double* to = call.outputs[0].data;
  for (std::int64_t n = 0; n < x.shape[0]; ++n)
    for (std::int64_t z = 0; z < x.shape[1]; ++z)
      for (std::int64_t c = 0; c < x.shape[4]; ++c) *to++ = plane_sum(x, n, z, c);
}

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
        sums.data[kinds == 1 ? c : (n * channels + c) * kinds + k] += sum;  // one kind: also over samples
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
  const std::int64_t count = call.inputs[0].shape.count_from(1);
  std::vector<std::vector<double>> sums;  // waiting to be added
  std::size_t row = 0;
  std::vector<std::int64_t> rows_of;
  for (const Array& rows : call.inputs) rows_of.push_back(rows.shape[0]);
  const Total total = total_of(rows_of, call.attributes);
  for (const Array& rows : call.inputs)
    for (std::int64_t i = 0; i < rows.shape[0]; ++i, ++row) {
      sums.emplace_back(rows.data + i * count, rows.data + (i + 1) * count);
      for (int additions = total.additions[row]; additions > 0; --additions) {
        std::vector<double>& sum = sums[sums.size() - 2];
        for (std::size_t k = 0; k < sum.size(); ++k) sum[k] += sums.back()[k];
        sums.pop_back();
      }
    }
  double* to = call.outputs[0].data;
  for (const std::vector<double>& sum : sums) to = std::copy(sum.begin(), sum.end(), to);
}

}  // namespace voxswap::net::reference
