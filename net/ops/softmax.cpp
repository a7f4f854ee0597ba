// Soft-max over the channels: probabilities of mutually exclusive classes of a voxel or an image.
#include "net/ops/ops.h"

namespace voxswap::net::ops {

// x -> y; over x. y_c = exp(x_c - m) / sum exp(x_k - m), m the largest x of the voxel.
const Operation& softmax() {
  static const Operation operation = {"softmax",
                                      like_first,
                                      nullptr,
                                      per_element<10>,
                                      {{0, 0}},
                                      /*cheap=*/false,
                                      planewise,
                                      {{"one voxel, one class", {full({1, 1, 1, 1, 1})}, {}, {}},
                                       {"images, 1000 classes", {full({3, 1, 1, 1, 1000})}, {}, {}},
                                       {"21 classes", {full({1, 1, 30, 35, 21})}, {}, {}},
                                       {"volume, batch of two", {full({2, 3, 4, 5, 3})}, {}, {}}}};
  return operation;
}

}  // namespace voxswap::net::ops
