// `Cut::window` of each windowed operation: which input planes a range of output planes needs, and the
// attributes of the node that makes exactly these from those.
//
// The node may itself be such a part, so splitting works recursively.
#pragma once

#include "net/ops/ops.h"

namespace voxswap::net::ops {

Cut::Window window_conv3d(const Graph&, const Node&, Planes made);
Cut::Window window_data_gradient(const Graph&, const Node&, Planes made);
Cut::Window window_weight_gradient(const Graph&, const Node&, Planes made);
Cut::Window window_pool(const Graph&, const Node&, Planes made);
Cut::Window window_unpool(const Graph&, const Node&, Planes made);
Cut::Window window_resize(const Graph&, const Node&, Planes made);
Cut::Window window_resize_gradient(const Graph&, const Node&, Planes made);
Cut::Window window_spread(const Graph&, const Node&, Planes made);
Cut::Window window_upsample(const Graph&, const Node&, Planes made);
Cut::Window window_of_blocks(const Graph&, const Node&, Planes made);
Cut::Window window_pool_gradient(const Graph&, const Node&, Planes made);
Cut::Window window_interleave(const Graph&, const Node&, Planes made);
Cut::Window window_interleave_gradient(const Graph&, const Node&, Planes made);

}  // namespace voxswap::net::ops
