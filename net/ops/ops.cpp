// The table of operations. A new one is a file in this folder and a line here.
#include "net/ops/ops.h"

namespace voxswap::net {

const std::vector<const Operation*>& operations() {
  static const std::vector<const Operation*> table = {
      &ops::conv3d(),
      &ops::conv3d_sum(),
      &ops::conv3d_data_gradient(),
      &ops::conv3d_weight_gradient(),
      &ops::channel_sum(),
      &ops::instance_norm_statistics(),
      &ops::norm_activation(),
      &ops::norm_activation_sums(),
      &ops::norm_activation_gradient(),
      &ops::norm_parameter_gradient(),
      &ops::spatial_dropout_scale(),
      &ops::leaky_relu(),
      &ops::leaky_relu_gradient(),
      &ops::add(),
      &ops::concat(),
      &ops::split(),
      &ops::zero_pad(),
      &ops::upsample_nearest(),
      &ops::upsample_nearest_gradient(),
      &ops::upsampled_weights(),
      &ops::upsampled_weights_gradient(),
      &ops::interleave(),
      &ops::interleave_gradient(),
      &ops::max_pool(),
      &ops::max_pool_gradient(),
      &ops::sigmoid(),
      &ops::sigmoid_gradient(),
      &ops::cast(),
      &ops::constant(),
      &ops::loss_sums(),
      &ops::loss_value(),
      &ops::loss_value_gradient(),
      &ops::loss_sums_gradient(),
      &ops::loss_scale_seed(),
      &ops::all_finite(),
      &ops::loss_scale_update(),
      &ops::adam(),
  };
  return table;
}

}  // namespace voxswap::net
