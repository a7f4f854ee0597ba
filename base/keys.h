// Keys of the experiment file as constants, for rooms that experiments/ depends on, which name keys in
// messages: fail(Exit::usage, "{}: expected 1 to 8, found {}", key::network_depth, 9).
// tests/experiments/named_keys_test.cpp checks that every entry exists, so that messages do not name removed
// keys.
#pragma once

#define VOXSWAP_NAMED_KEYS(X)                                             \
  X(data_section, "data.")                                                \
  X(data_align, "data.align")                                             \
  X(data_annotated, "data.annotated")                                     \
  X(data_files, "data.files")                                             \
  X(data_ignore_label, "data.ignore_label")                               \
  X(data_labels, "data.labels")                                           \
  X(data_layout, "data.layout")                                           \
  X(data_memory, "data.memory")                                           \
  X(data_missing_modalities, "data.missing_modalities")                   \
  X(data_modalities, "data.modalities")                                   \
  X(data_regions, "data.regions")                                         \
  X(data_root, "data.root")                                               \
  X(data_split_file, "data.split.file")                                   \
  X(data_split_folds, "data.split.folds")                                 \
  X(data_split_fold, "data.split.fold")                                   \
  X(data_split_patient, "data.split.patient")                             \
  X(data_split_stratify, "data.split.stratify")                           \
  X(preprocess_section, "preprocess.")                                    \
  X(preprocess_background, "preprocess.background")                       \
  X(preprocess_bias_correction, "preprocess.bias_correction")             \
  X(preprocess_cascade, "preprocess.cascade")                             \
  X(preprocess_resolution, "preprocess.resolution")                       \
  X(preprocess_slices, "preprocess.slices")                               \
  X(preprocess_normalize, "preprocess.normalize")                         \
  X(preprocess_recipe, "preprocess.recipe")                               \
  X(preprocess_schemes, "preprocess.schemes")                             \
  X(preprocess_spacing, "preprocess.spacing")                             \
  X(network_section, "network.")                                          \
  X(network_base_filters, "network.base_filters")                         \
  X(network_depth, "network.depth")                                       \
  X(network_dropout, "network.dropout")                                   \
  X(network_heads, "network.heads")                                       \
  X(network_init, "network.init")                                         \
  X(network_kernels, "network.kernels")                                   \
  X(network_max_filters, "network.max_filters")                           \
  X(network_name, "network.name")                                         \
  X(network_output_stride, "network.output_stride")                       \
  X(network_slope, "network.slope")                                       \
  X(network_strides, "network.strides")                                   \
  X(network_upsampling, "network.upsampling")                             \
  X(ranks_slabs, "ranks.slabs")                                           \
  X(training_section, "training.")                                        \
  X(training_augment_channel_dropout, "training.augment.channel_dropout") \
  X(training_augment_flip, "training.augment.flip")                       \
  X(training_augment_symmetries, "training.augment.symmetries")           \
  X(training_averaging_name, "training.averaging.name")                   \
  X(training_averaging_start, "training.averaging.start")                 \
  X(training_batch_dice, "training.batch_dice")                           \
  X(training_batch_size, "training.batch_size")                           \
  X(training_class_weights, "training.class_weights")                     \
  X(training_deep_supervision, "training.deep_supervision")               \
  X(training_freeze, "training.freeze")                                   \
  X(training_epochs, "training.epochs")                                   \
  X(training_growth, "training.growth")                                   \
  X(training_loader_threads, "training.loader_threads")                   \
  X(training_loss, "training.loss")                                       \
  X(training_optimizer_learning_rate, "training.optimizer.learning_rate") \
  X(training_optimizer_name, "training.optimizer.name")                   \
  X(training_patch, "training.patch")                                     \
  X(training_precision, "training.precision")                             \
  X(training_repeats, "training.repeats")                                 \
  X(training_seed, "training.seed")                                       \
  X(training_schedule_name, "training.schedule.name")                     \
  X(training_targets, "training.targets")                                 \
  X(evaluate_average, "evaluate.average")                                 \
  X(evaluate_tta, "evaluate.tta")                                         \
  X(memory_budget, "memory.budget")                                       \
  X(memory_device, "memory.device")                                       \
  X(memory_disk, "memory.disk")                                           \
  X(memory_disk_path, "memory.disk.path")                                 \
  X(memory_host, "memory.host")                                           \
  X(memory_link, "memory.link")                                           \
  X(memory_planner, "memory.planner")                                     \
  X(output_viewer, "output.viewer")                                       \
  X(sweep_plot, "sweep.plot")

namespace voxswap::key {

#define VOXSWAP_NAMED_KEY(name, text) inline constexpr char name[] = text;
VOXSWAP_NAMED_KEYS(VOXSWAP_NAMED_KEY)
#undef VOXSWAP_NAMED_KEY

}  // namespace voxswap::key
