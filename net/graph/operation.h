// What is known about an operation apart from how a backend runs it: one row of the table in ops/ops.cpp, one
// file in ops/. Backends turn a node into a kernel by the operation's name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/graph/value.h"

namespace voxswap::net {

class Graph;
struct Node;  // net/graph/graph.h

struct ValueSpec {
  Shape shape;
  ElementType type = ElementType::f32;
};

// How the conformance suite fills an input.
enum class Fill {
  normal,
  positive,
  statistics /* (mean, 1/deviation) pairs */,
  bits /* u8 target bits */,
  zeros,
  one_infinite /* the others normal */
};

// An example on which every backend must agree with the reference.
struct OperationCase {
  struct Input {
    Shape shape;
    Fill fill = Fill::normal;
    enum class Kind {
      activation,
      full /* f32 always: parameters, statistics, sums */,
      twice /* f64 always: sums over planes */,
      bits
    } kind = Kind::activation;
  };
  std::string name;
  std::vector<Input> inputs;
  Attributes attributes;
  std::vector<Input> updates;
};

// Planes from <= z < to of a volume.
struct Planes {
  std::int64_t from = 0, to = 0;
  std::int64_t count() const { return to - from; }
  bool operator==(const Planes&) const = default;
};

// How an operation is cut along the depth of its volumes (net/steps/pieces.h).
struct Cut {
  enum class Kind {
    whole,      // not at all: volumes that it reads or makes stay whole
    planewise,  // a plane of the output depends on that plane alone of every volume that is read
    windowed,   // and on its neighbours, or the volumes differ in their sides: it reads a window
    summed,     // sums over planes: by the operations `partial`, for each piece, and `total`, of all of them
    windowed_sum,  // sums over what windows give: its own outputs for each piece, which are added
  };
  Kind kind = Kind::whole;

  // windowed, windowed_sum. Of `input` the node reads a window; the input `along` is a volume of the same
  // depth as what is made, where there is one (of a windowed sum, what it goes along). Planes that are made
  // begin and end at multiples of `grain`.
  struct Window {
    Planes read;
    Attributes attributes;  // of the node that makes just those planes of just that window
  };
  Window (*window)(const Graph&, const Node&, Planes made) = nullptr;
  int input = 0;
  int along = -1;  // none
  std::int64_t grain = 1;

  // summed. `partial` takes the operation's inputs and gives a sum for each plane, [N,D,…] in double; `total`
  // takes those of all pieces and the operation's attributes and gives its output.
  std::string_view partial{}, total{};
};

struct Operation {
  std::string_view name;
  std::string_view summary;  // formula, shapes

  // Shapes and types of the outputs. Wrong inputs are programmer faults (assert).
  std::vector<ValueSpec> (*infer)(const Graph&, const std::vector<ValueId>& inputs,
                                  const Attributes&) = nullptr;

  // Appends the nodes of the backward pass of `node`. output_gradients has a value per output (none where
  // nothing flows back); returns a value per input, none where `wanted` is false or nothing flows. Null: not
  // differentiable.
  std::vector<ValueId> (*gradient)(Graph&, NodeId node, std::span<const ValueId> output_gradients,
                                   const std::vector<bool>& wanted) = nullptr;

  // Floating point operations of a node.
  double (*flops)(const Graph&, const Node&) = nullptr;

  // (output, input): the output may be written over the input where nobody reads the input afterwards.
  std::vector<std::pair<int, int>> in_place;

  // One pass over memory, cheap beside a convolution: worth computing again rather than keeping.
  bool cheap = false;

  Cut cut;

  std::vector<OperationCase> cases;

  // What it does depends on StepContext: on the step's number, the seed or the learning rate.
  bool depends_on_step = false;

  // Bytes that a node reads and writes; null: all of its inputs, outputs and updates.
  std::int64_t (*bytes)(const Graph&, const Node&) = nullptr;

  // Of an operation on windows (net/graph/window.h): the one that it does there.
  const Operation& (*inner)() = nullptr;
};

const std::vector<const Operation*>& operations();       // the table
const Operation& find_operation(std::string_view name);  // REQUIRES: it is in the table

// clang-format off
// The table, for writers of backends. x, y: N,D,H,W,C of the activation type. "full" means f32 (f64 in f64
// graphs). "over x": the output may be written over x, element by element, where nobody reads x afterwards.
//
// conv3d                     x, w[O,I,k,k,k] (, b[O]) -> y; zeros around. Attributes stride, padding (both sides):
//                            output side = (n + 2 padding - k) / stride + 1. Attributes front and back, where they are
//                            there, are the padding before and behind the volume along its depth; so in the other three
// conv3d_sum                 x, w, s like y -> y = s + convolution of x, without bias; over s. Attributes as conv3d
// conv3d_data_gradient       dy, w[O,I,k,k,k] (, b[I]) -> dx[N,d,h,w,I]. Attributes stride, padding, d, h, w (of dx).
//                            With the bias, which is added to every voxel of dx, also the transposed convolution
// conv3d_weight_gradient     x, dy -> dw[O,I,k,k,k] full, and db[O] full if `bias`.
//                            Attributes stride, padding, kernel, bias
// channel_sum                x -> [C] full: sum over N,D,H,W
// instance_norm_statistics   x -> [N,C,2] full: mean, 1/sqrt(variance + epsilon). Attribute epsilon
// norm_activation            x, statistics, gamma[C], beta[C] (, scale[N,C]) (, residual like x) -> y; over x.
//                            z = gamma (x - mean) / deviation + beta, y = (z > 0 ? z : slope z) * scale + residual.
//                            Attributes slope, has_scale, has_residual
// norm_activation_sums       x, statistics, gamma, beta, dy (, scale) -> [N,C,2] full: sum dz, sum dz xhat over D,H,W;
//                            dz = dy * scale * (z > 0 ? 1 : slope), xhat = (x - mean) / deviation.
//                            Attributes slope, has_scale
// norm_activation_gradient   x, statistics, gamma, beta, dy, sums (, scale) -> dx; over dy.
//                            dx = gamma / deviation (dz - sums0 / V - xhat sums1 / V), V = D H W of the whole volume.
//                            Attributes slope, has_scale, voxels (V)
// norm_parameter_gradient    sums[N,C,2] -> dgamma[C] (sum over N of sums1), dbeta[C] (of sums0), full
// spatial_dropout_scale      (nothing) -> [N,C] full: 0 with probability rate, else 1/(1-rate), drawn as
//                            Philox(seed, step, key).uniform(n * C + c) < rate. Attributes n, c, rate, key (, type)
// leaky_relu                 x -> y; over x. Attribute slope (0: ReLU)
// leaky_relu_gradient        y, dy -> dx; over dy. y > 0 ? dy : slope dy
// add                        a, b -> a + b; over a or b
// total                      a, b, … full -> a + b + …, one after the other; over a
// channel_plane_sums         x -> [N,D,C,1] f64: channel_sum of every plane
// plane_moments              x -> [N,D,C,2] f64: mean over every plane, and sum of squared differences from it
// norm_activation_plane_sums like norm_activation_sums -> [N,D,C,2] f64: its sums over every plane
// loss_plane_sums            like loss_sums -> [N,D,C,4] f64: its sums over every plane
// add_planes                 sums of planes [N,d,C,kinds] f64, one or more, side by side -> [N,C,kinds], or [C] of one kind: added
//                            plane after plane. Attribute type (the enum's number, f32 when absent)
// statistics_of_planes       moments of planes [N,d,C,2] f64, one or more -> [N,C,2]: what instance_norm_statistics gives.
//                            Attributes epsilon, plane_voxels (, type)
// windowed_…                 an operation on a window of pieces (net/graph/window.h): conv3d, conv3d_sum,
//                            conv3d_data_gradient, conv3d_weight_gradient, upsample_nearest, interleave, max_pool and their
//                            gradients. Attributes pieces, skip, planes beside the operation's own
// concat                     a, b -> a and b side by side along an axis. Attribute axis
// split                      x -> its first `count` along an axis, and the rest. Attributes axis, count
// zero_pad                   x -> x with zeros behind it along an axis. Attributes axis, side (of the output)
// upsample_nearest           x -> y of twice the sides
// upsample_nearest_gradient  dy -> dx: sum over each 2x2x2 block
// upsampled_weights          w[O,I,3,3,3] -> [8 O,I,2,2,2], full: kernels of the 8 phases of a convolution of an upsampled
//                            volume (ops/upsampled_convolution.cpp): phase p = 4 pz + 2 py + px has row p O + o; along an
//                            axis tap k of the 3 is added to tap (k + 1 - p) / 2 of the 2
// upsampled_weights_gradient their gradient -> dw[O,I,3,3,3], full
// interleave                 z[N,d+1,h+1,w+1,8 C] -> y[N,2d,2h,2w,C]: y[2 j + p] = z[j + p], channels p C + c
// interleave_gradient        dy -> dz; zero where no voxel comes from. Attributes depth (of dz) and shift, 0 when absent: plane j
//                            of dz comes from the planes 2 j - p + shift of dy
// max_pool                   x -> y of half the sides, 2x2x2, stride 2
// max_pool_gradient          x, dy -> dx: dy goes to the first maximum in scan order (z, y, x)
// sigmoid                    x -> y; over x
// sigmoid_gradient           y, dy -> dy y (1 - y); over dy
// cast                       x -> y of another type. Attribute type (the enum's number)
// constant                   (nothing) -> [1] full. Attribute value (, type: the enum's number, f32 when absent)
// loss_sums                  logits, target u8[N,D,H,W] (bit c: channel c) -> [N,C,4] full: sum t p, sum t, sum p, sum of
//                            binary cross entropy; p = sigmoid(logit); accumulate in double
// loss_value                 sums -> [1] full: dice * -mean over n,c of (2 s0 + epsilon) / (s1 + s2 + epsilon)
//                            + cross_entropy * sum s3 / (N C voxels). Attributes dice, cross_entropy, epsilon, voxels
// loss_value_gradient        sums, dloss[1] -> dsums[N,C,4]; the column of sum t is 0: it depends on no logit
// loss_sums_gradient         logits, target, dsums -> dlogits; over logits.
//                            (dsums0 t + dsums2) p (1 - p) + dsums3 (p - t)
// loss_scale_seed            state[3] (scale, updates since it changed, updates ever) full -> [1]: the scale
// all_finite                 gradient full (, so far[1]) -> [1] full: 1 if every number is finite and so far is not 0, else 0
// loss_scale_update          finite[1]; updates state[3]. Finite: both counts grow by 1, and where the first reaches
//                            `interval`, the scale doubles (up to `most`) and it starts anew. Otherwise the scale halves
//                            (down to `least`) and it starts anew. Attributes interval, least, most,
//                            initial (of the scale before the first step)
// adam                       gradients, one or more (, state[3], finite[1]: loss scaling); updates parameter, m, v of the first
//                            gradient, then of the second, … (all full). Kingma & Ba 2015, algorithm 1, with decoupled weight
//                            decay. Attributes beta1, beta2, epsilon, weight_decay; learning rate and step from StepContext.
//                            With loss scaling gradients are divided by the scale, the step is the updates ever made + 1, and
//                            nothing changes where finite is 0
// clang-format on

}  // namespace voxswap::net
