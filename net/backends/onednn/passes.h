// Passes over N,D,H,W,C memory: how a tensor is split into chunks, the threads that process them, and sums
// over voxels and planes.
//
// Chunks depend only on the shape. Sums are computed per chunk and added in chunk order, in double, so
// results do not depend on the number of threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/error.h"
#include "net/backends/function_kernel.h"
#include "net/backends/onednn/lanes.h"

namespace voxswap::net::onednn {

std::string pass_name();  // "pass:avx512" and the like

template <class Function>
std::unique_ptr<Kernel> make_pass(Function function, std::int64_t workspace = 0) {
  return make_function_kernel(std::move(function), workspace, pass_name());
}

// Calls task(begin, end) for [0, count) in parts of `grain`. Threads take parts as they become free, so a
// core shared with other programs does fewer.
template <class Task>
void parallel(std::int64_t count, std::int64_t grain, const Task& task) {
  const std::int64_t parts = (count + grain - 1) / grain;
#pragma omp parallel for schedule(dynamic) if (parts > 1)
  for (std::int64_t part = 0; part < parts; ++part) {
    run_task(task, part * grain, std::min(count, (part + 1) * grain));
  }
}

// A tensor as rows whose length is a multiple of 16 for any number of channels: `group` voxels make a row, in
// which channel c is at c, c + C, c + 2C, …
struct RowLayout {
  std::int64_t samples = 1, voxels = 0, channels = 1;
  std::int64_t group = 1, wide = 16;    // wide = group * channels
  std::int64_t chunk = 16, chunks = 1;  // voxels of a chunk; chunks of a sample
  std::int64_t sharing = 1;             // consecutive samples with the same parameters
  std::int64_t elements() const { return samples * voxels * channels; }
};
RowLayout row_layout(const Shape& shape);  // of N,D,H,W,C
// The same with each plane treated as a sample, so that its sums depend only on it. Planes of a sample share
// its parameters.
RowLayout plane_layout(const Shape& shape);
RowLayout flat_layout(std::int64_t elements);  // if channels do not matter

// A range of one sample: rows * wide elements from `offset` on.
struct Rows {
  std::int64_t sample, offset, rows, wide;
  std::int64_t voxel;       // of the first element, counted over all samples
  std::int64_t parameters;  // where this sample's parameters start in expanded arrays
  double* sums;             // of this chunk: kind k of lane l is at [k * stride + l]
  std::int64_t stride;
};

// Repeats the parameter of every channel along the lanes: to[sample * wide + lane] = value(sample, channel).
template <class Value>
void expand(float* to, const RowLayout& layout, Value value) {
  for (std::int64_t sample = 0; sample < layout.samples; ++sample) {
    for (std::int64_t lane = 0; lane < layout.wide; ++lane) {
      *to++ = static_cast<float>(value(sample, lane % layout.channels));
    }
  }
}
inline std::int64_t expanded_bytes(const RowLayout& layout) {
  return layout.samples * layout.wide * static_cast<std::int64_t>(sizeof(float));
}

// Outputs of at least this many bytes bypass the caches if whole lines are written.
constexpr std::int64_t streamed_bytes = std::int64_t{8} << 20;

// Runs body.rows<Floats> and, for the last few voxels, body.rows<float> on every chunk of [begin, end).
template <class Body>
struct ChunkTask {
  const RowLayout& layout;
  const Body& body;
  double* sums;  // [samples, chunks, kinds, wide]
  std::int64_t kinds;

  template <class Floats>
  VOXSWAP_INLINE void operator()(std::int64_t begin, std::int64_t end) const {
    const Body own_body = body;  // a copy that no store can alias stays in registers
    for (std::int64_t index = begin; index < end; ++index) {
      const std::int64_t sample = index / layout.chunks, first = index % layout.chunks * layout.chunk;
      const std::int64_t voxels = first + layout.chunk < layout.voxels ? layout.chunk : layout.voxels - first;
      const std::int64_t rows = voxels / layout.group, rest = voxels % layout.group;
      const std::int64_t voxel = sample * layout.voxels + first;
      double* own = sums + index * kinds * layout.wide;
      for (std::int64_t i = 0; i < kinds * layout.wide; ++i) own[i] = 0;
      own_body.template rows<Floats>(Rows{sample, voxel * layout.channels, rows, layout.wide, voxel,
                                          sample / layout.sharing * layout.wide, own, layout.wide});
      if (rest == 0) continue;
      const std::int64_t at = voxel + rows * layout.group;
      own_body.template rows<float>(Rows{sample, at * layout.channels, rest, layout.channels, at,
                                         sample / layout.sharing * layout.wide, own, layout.wide});
    }
  }
};

template <class Body>
void for_each_chunk(const RowLayout& layout, const Body& body) {
  parallel(layout.samples * layout.chunks, 1, ChunkTask<Body>{layout, body, nullptr, 0});
}

// The same for bodies that compute sums: `kinds` per sample and channel, passed to take(sample, channel,
// sums).
inline std::int64_t sums_bytes(const RowLayout& layout, std::int64_t kinds) {
  return layout.samples * layout.chunks * kinds * layout.wide * static_cast<std::int64_t>(sizeof(double));
}
// Adds up lanes and chunks. A sample's sums are then at its first chunk's position.
void combine_sums(const RowLayout& layout, std::int64_t kinds, double* sums);

template <std::int64_t kinds, class Body, class Take>
void sum_over_voxels(const RowLayout& layout, const Body& body, double* sums, Take take) {
  parallel(layout.samples * layout.chunks, 1, ChunkTask<Body>{layout, body, sums, kinds});
  combine_sums(layout, kinds, sums);
  for (std::int64_t sample = 0; sample < layout.samples; ++sample) {
    for (std::int64_t channel = 0; channel < layout.channels; ++channel) {
      double found[kinds];
      for (std::int64_t k = 0; k < kinds; ++k) {
        found[k] = sums[(sample * layout.chunks * kinds + k) * layout.wide + channel];
      }
      take(sample, channel, found);
    }
  }
}

// Float sums run over this many rows before they are added to the doubles.
constexpr std::int64_t summed_rows = 64;

// Rows that a pass processes before it moves on to the next sixteen channels and loads their parameters.
constexpr std::int64_t rows_per_column = 32;

// Calls body.at<Floats>(c) for sixteen channels at a time, then body.at<float>(c) for one.
template <class Floats, class Body>
VOXSWAP_INLINE void over_channels(std::int64_t channels, const Body& body) {
  std::int64_t c = 0;
  for (; c + lane_count <= channels; c += lane_count) body.template at<Floats>(c);
  for (; c < channels; ++c) body.template at<float>(c);
}

// The sum of every channel, for sum_over_voxels.
template <class T>
struct ChannelSums {
  const T* x;

  template <class V>
  VOXSWAP_INLINE void rows(const Rows& at) const {
    for (std::int64_t first = 0; first < at.rows; first += summed_rows) {
      const std::int64_t last = first + summed_rows < at.rows ? first + summed_rows : at.rows;
      for (std::int64_t c = 0; c < at.wide; c += lanes<V>) {
        V sum{};
        for (std::int64_t row = first; row < last; ++row) sum += load<V>(x + at.offset + row * at.wide + c);
        add_to(at.sums + c, sum);
      }
    }
  }
};

// Dispatch from a run-time element type to a template argument.

// Calls make(T{}) with T = float or Bf16.
template <class Make>
std::unique_ptr<Kernel> for_type(ElementType type, const Node& node, Make make) {
  if (type == ElementType::f32) return make(float{});
  if (type == ElementType::bf16) return make(Bf16{});
  fail(Exit::failed, "node {}: the onednn backend supports f32 and bf16, not {}", node.name,
       element_name(type));
}

// Sums over each plane of a volume, in double, and over planes in order. Shared by the operations on whole
// volumes and those on slabs (net/ops/plane_sums.cpp), so that both give identical results.

// All of these take a plane_layout(). Planes are numbered consecutively over all samples.
inline std::int64_t plane_sums_bytes(const RowLayout& layout, std::int64_t kinds) {
  return layout.samples * layout.channels * kinds * static_cast<std::int64_t>(sizeof(double));
}
// Index in [N,D,C] of plane z of `instance` = n * C + c.
inline std::int64_t plane_sum_index(const RowLayout& layout, std::int64_t instance, std::int64_t z) {
  const std::int64_t n = instance / layout.channels, c = instance % layout.channels;
  return (n * layout.sharing + z) * layout.channels + c;
}

// to[N,D,C,kinds]; finish(plane, channel, sums) converts a plane's sums.
template <std::int64_t kinds, class Body, class Finish>
void sum_planes(const RowLayout& layout, const Body& body, double* scratch, double* to, Finish finish) {
  sum_over_voxels<kinds>(layout, body, scratch, [&](std::int64_t plane, std::int64_t channel, double* sums) {
    finish(plane, channel, sums);
    double* at = to + (plane * layout.channels + channel) * kinds;
    for (std::int64_t k = 0; k < kinds; ++k) at[k] = sums[k];
  });
}

// [N,D,C,kinds] -> [N,C,kinds]
inline void add_planes(const RowLayout& layout, std::int64_t kinds, const double* planes, float* to) {
  for (std::int64_t i = 0; i < layout.samples / layout.sharing * layout.channels; ++i)
    for (std::int64_t k = 0; k < kinds; ++k) {
      double sum = 0;
      for (std::int64_t z = 0; z < layout.sharing; ++z)
        sum += planes[plane_sum_index(layout, i, z) * kinds + k];
      to[i * kinds + k] = static_cast<float>(sum);
    }
}

// [N,D,C,1] -> [C]
inline void add_channels(const RowLayout& layout, const double* planes, float* to) {
  const std::int64_t samples = layout.samples / layout.sharing;
  for (std::int64_t c = 0; c < layout.channels; ++c) {
    double sum = 0;
    for (std::int64_t n = 0; n < samples; ++n) {
      double sample = 0;
      for (std::int64_t z = 0; z < layout.sharing; ++z)
        sample += planes[plane_sum_index(layout, n * layout.channels + c, z)];
      sum += sample;
    }
    to[c] = static_cast<float>(sum);
  }
}

// Copies: large ones on all threads, and short rows, with the number of rows per thread.
void copy(void* to, const void* from, std::int64_t bytes);

// Uses sizes that compile to single moves, because rows are short if channels are split.
VOXSWAP_INLINE void copy_bytes(std::byte* to, const std::byte* from, std::int64_t bytes) {
  std::int64_t i = 0;
  for (; i + 32 <= bytes; i += 32) __builtin_memcpy(to + i, from + i, 32);
  for (; i + 2 <= bytes; i += 2) __builtin_memcpy(to + i, from + i, 2);
}

// Rows per thread at a time.
inline std::int64_t rows_at_once(std::int64_t bytes) {
  return std::max<std::int64_t>(1, (std::int64_t{256} << 10) / bytes);
}

}  // namespace voxswap::net::onednn
