// The reference backend's table: operation name -> routine.
//
// A routine is the operation's formula in plain loops over doubles. The kernel around it
// (reference_backend.cpp) converts every input to double first and rounds the outputs to their element type
// last. So routines need no element types, may assume that nothing overlaps, and accumulate in double.
#pragma once

#include <string_view>
#include <vector>

#include "net/backends/backend.h"
#include "net/graph/operation_list.h"

namespace voxswap::net::reference {

struct Array {
  double* data = nullptr;
  Shape shape;
};

// One execution of a node. On entry, outputs are uninitialised; updates hold their old values.
struct Call {
  std::vector<Array> inputs, outputs, updates;
  Attributes attributes;
  const StepContext* context = nullptr;
};

using Routine = void (*)(const Call&);

Routine find_routine(std::string_view operation);  // null for windowed operations

// Samples, voxels per sample and channels of an N,D,H,W,C shape.
struct Extents {
  std::int64_t samples, voxels, channels;
};
Extents extents(const Shape& shape);

// One per operation, in files of this folder.
#define DECLARE(operation) void operation(const Call&);
VOXSWAP_OPERATIONS(DECLARE)
#undef DECLARE

// Sums over the voxels of each sample and channel, plane after plane: per plane, or in total.
constexpr std::int64_t most_kinds = 5;
enum class Sum { each_plane, all_planes };

// Calls add(element, n * C + c, c, sums) for every element of an N,D,H,W,C shape; `to` gets [N,D,C,kinds] or
// [N,C,kinds].
template <class Add>
void sum_over_planes(const Shape& shape, std::int64_t kinds, Sum what, double* to, Add add) {
  const std::int64_t depth = shape[1], voxels = shape[2] * shape[3], channels = shape[4];
  for (std::int64_t n = 0; n < shape[0]; ++n)
    for (std::int64_t c = 0; c < channels; ++c) {
      double all[most_kinds] = {};
      for (std::int64_t z = 0; z < depth; ++z) {
        double plane[most_kinds] = {};
        const std::int64_t first = (n * depth + z) * voxels * channels + c;
        for (std::int64_t v = 0; v < voxels; ++v) add(first + v * channels, n * channels + c, c, plane);
        for (std::int64_t k = 0; k < kinds; ++k) {
          if (what == Sum::each_plane) to[((n * depth + z) * channels + c) * kinds + k] = plane[k];
          all[k] += plane[k];
        }
      }
      for (std::int64_t k = 0; what == Sum::all_planes && k < kinds; ++k)
        to[(n * channels + c) * kinds + k] = all[k];
    }
}

// Calls visit(fine, coarse) for each element of a fine N,D,H,W,C array, in scan order, and the element of the
// half-size array whose 2x2x2 block contains it.
template <class Visit>
void for_each_in_blocks(const Shape& fine, Visit visit) {
  std::int64_t i = 0;
  for (std::int64_t n = 0; n < fine[0]; ++n)
    for (std::int64_t z = 0; z < fine[1]; ++z)
      for (std::int64_t y = 0; y < fine[2]; ++y)
        for (std::int64_t x = 0; x < fine[3]; ++x) {
          const std::int64_t coarse =
              ((n * (fine[1] / 2) + z / 2) * (fine[2] / 2) + y / 2) * (fine[3] / 2) + x / 2;
          for (std::int64_t c = 0; c < fine[4]; ++c, ++i) visit(i, coarse * fine[4] + c);
        }
}

}  // namespace voxswap::net::reference
