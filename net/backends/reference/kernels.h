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

Routine find_routine(std::string_view operation);  // null for windowed operations (windowed.h)

// Samples, voxels per sample and channels of an N,D,H,W,C shape.
struct Extents {
  std::int64_t samples, voxels, channels;
};
Extents extents(const Shape& shape);

// One per operation, in files of this folder.
#define DECLARE(operation) void operation(const Call&);
VOXSWAP_OPERATIONS(DECLARE)
#undef DECLARE

}  // namespace voxswap::net::reference
