// Number of epochs, steps and networks that fit into the hours of `voxswap configure`, and the coarser grids
// that it may choose if too few steps fit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/candidates.h"

namespace voxswap::experiments {

constexpr std::int64_t most_epochs = 1000;
// With fewer steps, a coarser grid, or one that grows, reaches a higher Dice (docs/results/dice.md).
constexpr std::int64_t enough_steps = 2'500;

// Number for a single network, in the hours without the time for preprocessing and prediction. Epochs do not
// include those of growth, steps do.
std::int64_t possible_epochs(const Candidate& candidate, double hours);
std::int64_t possible_steps(const Candidate& candidate, double hours);

// Value of training.growth for epochs on a grid that is twice as coarse.
std::string growth_text(std::int64_t epochs);
// Adds growth to the candidate: a third of the hours on a grid that is twice as coarse, on which an epoch
// takes `epoch_seconds`.
void add_growth(Candidate& candidate, double epoch_seconds, double hours);

// Number of networks to train for the average of their predictions.
std::int64_t networks_within(const Candidate& candidate, double hours);
// Value of training.epochs for each of `networks`. Throws Exit::does_not_fit if not one epoch fits.
Choice epochs_within(const Candidate& candidate, double hours, std::int64_t networks);
std::vector<Choice> choices_for_networks(std::int64_t networks);
void warn_of_few_steps(const Candidate& candidate, double hours, std::int64_t networks);

// Larger voxel sizes than `spacing`, in hundredths of a mm and in ascending order, at which each label still
// has enough voxels in the median case. Axes with longer voxels stay as they are.
std::vector<Spacing> coarser_spacings(const pipeline::Fingerprint& fingerprint, const Spacing& spacing);

}  // namespace voxswap::experiments
