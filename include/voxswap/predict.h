// Label maps of new cases with the networks of finished runs.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace voxswap {

struct PredictOptions {
  std::optional<std::array<std::int64_t, 3>> window{};  // voxels x, y, z per pass; none: as in training
  bool whole = false;                // the whole volume in one pass, however the network was trained
  double overlap = 0.5;              // of windows
  bool mirror = false;               // average over the mirrorings that training used
  bool ensemble = false;             // average over a run's repeats; else a folder for each
  bool probabilities = false;        // also write probabilities
  bool segmentations = false;        // also write CASE.seg.nrrd with names and colours
  bool dicom_segmentations = false;  // also write DICOM segmentation objects
  bool bids = false;                 // name files as a BIDS derivative
  bool raw_weights = false;          // the weights of the best epoch, not the averaged ones
  bool force = false;                // overwrite files that voxswap did not write
  // File with post-processing steps, or "none"; empty: postprocessing.json of the run, if there is one.
  std::string postprocessing{};
  std::vector<std::string> largest{};  // regions of which only the largest component stays; "all": each
};

// Writes OUT/CASE.nii.gz on each case's own grid. `runs`: folders of finished runs or sweeps, whose
// probabilities are averaged. `input`: a data set, the folder of a case, or a 4D file. `overrides`:
// "data.…=value" keys that describe the new images.
void predict(const std::vector<std::string>& runs, const std::string& input, const std::string& out,
             const PredictOptions& options = {}, const std::vector<std::string>& overrides = {});

}  // namespace voxswap
