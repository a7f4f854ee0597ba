// A data set on disk: its cases, the files of each, and the meaning of its label values.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/file.h"
#include "data/volumes/volume.h"

namespace voxswap::data {

// The `data` part of an experiment.
struct DatasetOptions {
  fs::path root;                        // absolute, or relative to the current directory
  std::string layout = "auto";          // auto or a row of the table in layouts.cpp
  std::vector<std::string> modalities;  // empty: all that the layout has
  // Layout files: one pattern per channel, with {case} and *; "truth" is the label map. Layout dicom:
  // patterns for series descriptions or folders.
  std::map<std::string, std::string> files;
  Labels labels;                      // empty: from the layout
  Regions regions;                    // empty: from the layout
  std::optional<int> ignore_label{};  // as in Dataset; nullopt: from the layout
  // Channel names in file order, for a folder that does not name them itself (bare images to predict).
  std::vector<std::string> known_modalities;
  bool align = false;               // resample images of a case onto the grid of its first channel
  fs::path annotated{};             // CSV of annotated labels per case (incomplete.h)
  bool missing_modalities = false;  // allow cases without files for some channels; these are 0
  bool all_label_maps = false;      // labels without names: read all label maps instead of the first 20
  // Ground truths are not listed. If several cases have the same name, the first is kept instead of an error.
  bool for_prediction = false;
  bool operator==(const DatasetOptions&) const = default;
};

struct CaseFiles {
  std::string id;
  std::vector<fs::path> channels;  // one per modality; a 4D file is repeated
  std::vector<int> components;     // which volume of a 4D file each channel is; -1 for a 3D file
  fs::path truth;                  // empty: no ground truth
  int label = 0;                   // class of the whole image; 0: unknown, or not a data set of classes
  // Per channel, why the choice of file is ambiguous, and what to do; empty if clear.
  std::vector<std::string> unclear{};
  std::vector<std::string> hints{};          // per channel, which file it may be if it is missing; or empty
  std::string truth_unclear{};               // why the meaning of the ground truth's labels is unknown
  std::vector<bool> missing{};               // per channel, whether its file is missing; empty: none
  std::optional<std::set<int>> annotated{};  // the labels annotated in the ground truth; nullopt: all

  bool lacks(std::size_t channel) const { return !missing.empty() && missing[channel]; }
  // The first channel with a file; its grid is the grid of the case.
  const fs::path& first_channel() const {
    return channels[static_cast<std::size_t>(std::find(missing.begin(), missing.end(), false) -
                                             missing.begin())];
  }
  // Whether the ground truth annotates all of these labels.
  bool is_annotated(const std::vector<int>& values) const {
    return !annotated ||
           std::all_of(values.begin(), values.end(), [&](int value) { return annotated->contains(value); });
  }
  bool labelled() const { return !truth.empty() || label != 0; }  // can be trained on and scored
};

// A series whose channel was inferred from its name.
struct SeriesGuess {
  std::string channel, written;  // t1ce, "AX T1 POST GAD"
  std::int64_t cases = 0;
};

// A file or folder of the data set that no case uses.
struct Unused {
  std::string severity;  // error: a case was skipped | warning: possibly a mistake | note
  fs::path path;
  std::string why;
};

struct Dataset {
  fs::path root;
  std::string layout;      // the layout in use
  std::string recognised;  // why `auto` chose it, one sentence
  std::vector<std::string> modalities;
  std::vector<std::string> all_modalities;  // before selection, in the order of the layout
  Labels labels;                     // foreground labels, in the order of the network's output channels
  Regions regions;                   // scored regions; names in snake_case
  int ignore_label = 0;              // value of voxels without a known label; 0: none
  bool align = false;                // as in DatasetOptions
  bool images = false;               // cases are 2D images
  bool classes = false;              // one label per case: labels are the classes
  std::vector<CaseFiles> cases;      // sorted by id
  std::vector<SeriesGuess> guesses;  // layout dicom
  std::vector<Unused> left_out;      // found and skipped by the layout (unused.cpp lists all)
};

}  // namespace voxswap::data
