// This backend's table: operation name -> function that makes its kernel. Then the ways to compute a
// convolution: by the library, by our own kernels, in f32, with moments, or in slabs.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "net/backends/backend.h"
#include "net/graph/graph.h"
#include "net/graph/operation_list.h"

namespace voxswap::net::onednn {

using Maker = std::unique_ptr<Kernel> (*)(const Graph&, const Node&);

Maker find_maker(const Operation& operation);

// The operations with kernels in this folder. All others work on a few numbers, so the reference backend
// computes them.
#define VOXSWAP_ONEDNN_KERNELS(X) \
  VOXSWAP_CONVOLUTIONS(X)         \
  VOXSWAP_VOLUME_OPERATIONS(X)
#define DECLARE(operation) std::unique_ptr<Kernel> make_##operation(const Graph&, const Node&);
VOXSWAP_ONEDNN_KERNELS(DECLARE)
#undef DECLARE

std::unique_ptr<Kernel> by_reference(const Graph&, const Node&);

// oneDNN behind plain types: its version and what it supports on this CPU.
std::string library_version();
std::string instruction_set_name();
bool has_native_bf16();  // AVX512-BF16 or AMX: faster than f32

// Runs a bf16 node with its f32 kernel on a CPU without bf16 instructions.
bool needs_upcast(ElementType type);
std::unique_ptr<Kernel> upcast(const Graph& graph, const Node& node, Maker maker);

// Which convolutions use our own kernels (net/backends/convolution) instead of oneDNN.
bool has_own_convolutions(ElementType type);

// Null if oneDNN computes it.
std::unique_ptr<Kernel> own_convolution(const Graph& graph, const Node& node);  // also with a sum as start
std::unique_ptr<Kernel> own_data_gradient(const Graph& graph, const Node& node);
std::unique_ptr<Kernel> own_weight_gradient(const Graph& graph, const Node& node);  // also on a window

// Convolutions that also output the moments of their planes (net/graph/fused_moments.h).
//
// Fusing pays for kernels with more than one tap that our own kernels compute, and channels in multiples of
// 16. The decision depends only on the graph, so a step is the same whichever kernels compute its
// convolutions.
bool makes_moments(const Graph& graph, const Node& node);

// The node without the attribute moments, in its own graph.
Graph without_moments(const Graph& graph, const Node& node);

// For a conv3d or conv3d_sum with the attribute moments; `plain` computes the convolution without them. Our
// own kernels sum planes as they make them. With the library's kernels, a separate pass does.
std::unique_ptr<Kernel> make_with_moments(const Graph& graph, const Node& node,
                                          std::unique_ptr<Kernel> plain);

// Gradients of convolutions slab by slab along the depth, for cases where the library's temporaries for the
// whole volume are large. For bf16 it transposes both volumes, which takes twice their size and would be the
// largest allocation in the arena.

// Number of slabs for a gradient, given the workspace for the whole, such that temporaries shrink to about an
// eighth of the inputs. 1: not split, for example with strides, or if slabs of a data gradient would need
// halos.
std::int64_t slab_count(const Graph& graph, const Node& node, std::int64_t workspace);

// Smallest number of slabs for which the library's 32-bit sizes suffice in a weight gradient.
std::int64_t fewest_slabs(const Graph& graph, const Node& node);

// Partial sums of slabs are added in order.
std::unique_ptr<Kernel> weight_gradient_in_slabs(const Graph& graph, const Node& node, std::int64_t count);
std::unique_ptr<Kernel> data_gradient_in_slabs(const Graph& graph, const Node& node, std::int64_t count);

}  // namespace voxswap::net::onednn
