// Elements of a convolution's result, computed in double on the host from its definition. Engines of a
// library can be wrong without a word: in cuDNN 9.19 some are for windows whose padding differs between front
// and back. So no engine is taken before its result was held against these (convolution_trial.h).
#pragma once

#include <cstdint>
#include <vector>

#include "net/backends/cuda/convolution_problem.h"

namespace voxswap::net::cuda {

// Numbers of a tensor: element i is numbers[i % period].
struct RepeatedNumbers {
  const float* numbers = nullptr;
  std::int64_t period = 1;
};

struct CheckedElement {
  std::int64_t place = 0;  // in the result
  double value = 0;
  double size = 0;  // root of the sum of the squares of its terms
};

// The tensors in the library's layouts: x and y N,D,H,W,C, w O,d,h,w,I, bias O; the one that is computed is
// read only by a sum, as what is added to. Elements spread from the first to the last: as many as take about
// `products` multiplications, at least 4 and at most 512.
std::vector<CheckedElement> checked_elements(const ConvolutionProblem& problem, const RepeatedNumbers& x,
                                             const RepeatedNumbers& w, const RepeatedNumbers& y,
                                             const RepeatedNumbers& bias, double products = 5e7);

}  // namespace voxswap::net::cuda
