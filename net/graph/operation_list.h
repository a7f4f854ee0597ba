// The list of operations. Their declarations and tables, also those of the backends, are generated from it.
#pragma once

// Convolutions come from libraries on a GPU, and partly on a CPU.
#define VOXSWAP_CONVOLUTIONS(X) \
  X(conv3d)                     \
  X(conv3d_sum)                 \
  X(conv3d_data_gradient)       \
  X(conv3d_weight_gradient)

// Operations on volumes: kernels of our own on every device.
#define VOXSWAP_VOLUME_OPERATIONS(X) \
  X(channel_sum)                     \
  X(instance_norm_statistics)        \
  X(norm_activation)                 \
  X(norm_activation_sums)            \
  X(norm_activation_gradient)        \
  X(leaky_relu)                      \
  X(leaky_relu_gradient)             \
  X(add)                             \
  X(concat)                          \
  X(split)                           \
  X(upsample_nearest)                \
  X(upsample_nearest_gradient)       \
  X(upsampled_weights)               \
  X(upsampled_weights_gradient)      \
  X(interleave)                      \
  X(interleave_gradient)             \
  X(max_pool)                        \
  X(max_pool_gradient)               \
  X(sliding_max_pool)                \
  X(sliding_max_pool_gradient)       \
  X(average_pool)                    \
  X(average_pool_gradient)           \
  X(resize_linear)                   \
  X(resize_linear_gradient)          \
  X(subsample)                       \
  X(softmax)                         \
  X(sigmoid)                         \
  X(sigmoid_gradient)                \
  X(cast)                            \
  X(loss_sums)                       \
  X(loss_sums_gradient)              \
  X(softmax_loss_sums)               \
  X(softmax_loss_sums_gradient)      \
  X(sum_of_squares)                  \
  X(adam)                            \
  X(sgd)                             \
  X(channel_plane_sums)              \
  X(plane_moments)                   \
  X(norm_activation_plane_sums)      \
  X(loss_plane_sums)                 \
  X(softmax_loss_plane_sums)         \
  X(total)                           \
  X(spatial_map)                     \
  X(spatial_map_labels)              \
  X(decode_labels)                   \
  X(confusion_matrix)                \
  X(confusion_plane_sums)            \
  X(add_noise)                       \
  X(gaussian_blur)                   \
  X(scale_and_shift)                 \
  X(change_contrast)                 \
  X(lower_resolution)                \
  X(change_gamma)                    \
  X(channels_together)

// Operations on a few numbers, or for devices with memory of their own, which the onednn backend leaves to
// the reference backend.
#define VOXSWAP_SMALL_OPERATIONS(X) \
  X(norm_parameter_gradient)        \
  X(statistics_of_batch)            \
  X(sums_of_batch)                  \
  X(running_statistics)             \
  X(running_statistics_update)      \
  X(spatial_dropout_scale)          \
  X(zero_pad)                       \
  X(constant)                       \
  X(loss_value)                     \
  X(loss_value_gradient)            \
  X(loss_scale_seed)                \
  X(all_finite)                     \
  X(loss_scale_update)              \
  X(clip_factor)                    \
  X(encode_labels)                  \
  X(add_planes)                     \
  X(mean_of_planes)                 \
  X(statistics_of_planes)

#define VOXSWAP_OTHER_OPERATIONS(X) \
  VOXSWAP_VOLUME_OPERATIONS(X)      \
  VOXSWAP_SMALL_OPERATIONS(X)

#define VOXSWAP_OPERATIONS(X) \
  VOXSWAP_CONVOLUTIONS(X)     \
  VOXSWAP_OTHER_OPERATIONS(X)

// Operations that also have a windowed version, which reads slabs (net/graph/window.h).
#define VOXSWAP_WINDOWED_OPERATIONS(X) \
  VOXSWAP_CONVOLUTIONS(X)              \
  X(upsample_nearest)                  \
  X(upsample_nearest_gradient)         \
  X(interleave)                        \
  X(interleave_gradient)               \
  X(max_pool)                          \
  X(max_pool_gradient)                 \
  X(sliding_max_pool)                  \
  X(sliding_max_pool_gradient)         \
  X(resize_linear)                     \
  X(resize_linear_gradient)            \
  X(subsample)
