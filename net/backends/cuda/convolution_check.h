// Elements of a convolution's result, computed in double on the host from the definition. Library engines can
// be silently wrong: in cuDNN 9.19 some are for windows whose padding differs between front and back. So an
// engine is used only after its result was compared with these (convolution_trial.h).
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
  std::int64_t place = 0;  // index in the result
  double value = 0;
  double size = 0;  // root of the sum of the squares of its terms
};

// The tensors are in the library's layouts: x and y N,D,H,W,C, w O,d,h,w,I, bias O. The computed tensor is
// read only for Start::sum, as the initial value. The elements are spread from first to last; their number is
// such that they take about `products` multiplications, at least 4 and at most 512.
std::vector<CheckedElement> checked_elements(const ConvolutionProblem& problem, const RepeatedNumbers& x,
                                             const RepeatedNumbers& w, const RepeatedNumbers& y,
                                             const RepeatedNumbers& bias, double products = 5e7);

}  // namespace voxswap::net::cuda
