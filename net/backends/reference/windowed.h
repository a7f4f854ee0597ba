// The reference of windowed operations (net/graph/window.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "net/backends/reference/kernels.h"
#include "net/graph/graph.h"

namespace voxswap::net::reference {

// The inner operation of a windowed one, on copies of its windows. Faster implementations are tested against
// it.
class WindowCopy {
 public:
  WindowCopy(const Graph& graph, const Node& node);
  std::int64_t doubles() const;  // size of the copies
  // Copies the windows of `call` to `place` and runs the inner operation's routine.
  void run(const Call& call, double* place);

 private:
  void copy(const std::vector<Array>& inputs, std::size_t first, const Array& volume) const;

  Routine routine_;
  std::size_t others_, input_;
  std::int64_t skip_;
  std::vector<Array> volumes_;
  Call inner_;
};

}  // namespace voxswap::net::reference
