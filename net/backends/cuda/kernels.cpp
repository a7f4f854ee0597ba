#include "net/backends/cuda/kernels.h"

#include <array>

namespace voxswap::net::cuda {

namespace {

struct Row {
  std::string_view operation;
  Maker maker;
};

constexpr std::array table = {
    Row{"conv3d", make_conv3d},
    Row{"conv3d_sum", make_conv3d_sum},
    Row{"conv3d_data_gradient", make_conv3d_data_gradient},
    Row{"conv3d_weight_gradient", make_conv3d_weight_gradient},
};

}  // namespace

Maker find_maker(std::string_view operation) {
  for (const Row& row : table) {
    if (row.operation == operation) return row.maker;
  }
  return find_own_maker(operation);
}

}  // namespace voxswap::net::cuda
