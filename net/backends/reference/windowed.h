// Operations on windows (net/graph/window.h) as their inner operation on a copy of the window in one array:
// what better routes through the pieces are held against.
#pragma once

#include "net/backends/reference/kernels.h"

namespace voxswap::net::reference {

class WindowCopy {
 public:
  WindowCopy(const Graph& graph, const Node& node);
  std::int64_t doubles() const { return volume_.shape.count(); }  // of the copy
  // Copies the window of `call` to `place` and runs the inner operation's routine.
  void run(const Call& call, double* place);

 private:
  Routine routine_;
  std::size_t others_, input_;
  std::int64_t skip_;
  Array volume_;
  Call inner_;
};

}  // namespace voxswap::net::reference
