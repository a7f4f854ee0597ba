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
  // Layout files: a pattern per channel, with {case} and *; "truth" is the label map. Layout dicom: a pattern
  // of series' descriptions or folders.
  std::map<std::string, std::string> files;
  Labels labels;                      // empty: from the layout
  Regions regions;                    // empty: from the layout
  std::optional<int> ignore_label{};  // as in Dataset; not given: from the layout
  // What the channels of the files are called, in their order, for a folder that does not say it itself (bare
  // scans to predict).
  std::vector<std::string> known_modalities;
  bool align = false;    // resample what lies on another grid than a case's first channel onto that one's
  fs::path annotated{};  // a table of the labels that some truths tell of (incomplete.h)
  bool missing_modalities = false;  // cases may lack files of some channels, which are 0 then
  bool all_label_maps = false;      // are looked at where labels have no names; false: the first 20
};

struct CaseFiles {
  std::string id;
  std::vector<fs::path> channels;  // one per modality; a 4D file is repeated
  std::vector<int> components;     // which volume of a 4D file each channel is; -1 for a 3D file
  fs::path truth;                  // empty: the case has no truth
  int label = 0;  // of the whole image, where the data set is of classes; 0: nobody knows its class
  // Per channel, why it is not known which file it is, and what to do; without any, there is none such.
  std::vector<std::string> unclear{};
  std::vector<std::string> hints{};     // per channel, what its file may be where it is missing; or empty
  std::string truth_unclear{};          // why it is not known what the truth's labels mean
  std::vector<bool> missing{};          // per channel, whether its file is not there; empty: all are
  std::optional<std::set<int>> told{};  // the labels that the truth tells of; not given: all

  bool lacks(std::size_t channel) const { return !missing.empty() && missing[channel]; }
  // The first that is there: it is on its grid that the case lies.
  const fs::path& first_channel() const {
    return channels[static_cast<std::size_t>(std::find(missing.begin(), missing.end(), false) -
                                             missing.begin())];
  }
  // Whether the truth tells where something of these labels is.
  bool tells(const std::vector<int>& values) const {
    return !told ||
           std::all_of(values.begin(), values.end(), [&](int value) { return told->contains(value); });
  }
  bool labelled() const { return !truth.empty() || label != 0; }  // can be trained on and scored
};

// A series whose channel was read out of its name.
struct SeriesGuess {
  std::string channel, written;  // t1ce, "AX T1 POST GAD"
  std::int64_t cases = 0;
};

// Something in the folder of a data set that no case has a use for.
struct Unused {
  std::string severity;  // error: a case was left out | warning, where it may be a mistake | note
  fs::path path;
  std::string why;
};

struct Dataset {
  fs::path root;
  std::string layout;      // the layout in use
  std::string recognised;  // why `auto` chose it, one sentence
  std::vector<std::string> modalities;
  std::vector<std::string> all_modalities;  // before some were selected, in the order of the layout
  Labels labels;                     // the foreground labels; the order of the network's output channels
  Regions regions;                   // what is scored; names in snake_case
  int ignore_label = 0;              // of voxels that nobody says anything of; 0: there are none
  bool align = false;                // as in DatasetOptions
  bool images = false;               // cases are pictures of one plane
  bool classes = false;              // a case has one label as a whole: labels are the classes
  std::vector<CaseFiles> cases;      // sorted by id
  std::vector<SeriesGuess> guesses;  // layout dicom
  std::vector<Unused> left_out;      // what the layout itself saw and has no use for (unused.cpp: all of it)
};

}  // namespace voxswap::data
