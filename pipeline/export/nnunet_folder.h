// Exports a run to nnU-Net 2 as a results folder, for nnUNetv2_predict_from_modelfolder.
#pragma once

#include <map>
#include <string>

#include "pipeline/record/resume.h"

namespace voxswap::pipeline {

// The files of the folder by path: plans.json, dataset.json and, for each repeat,
// fold_N/checkpoint_final.pth. Throws Exit::usage for a run whose label maps nnU-Net would not reproduce:
// only the recipe nnunet with evaluate.average nnunet and networks plain_unet and resenc_unet, and labels
// from 1 without gaps.
std::map<std::string, std::string> nnunet_files(const TrainedRun& run);

}  // namespace voxswap::pipeline
