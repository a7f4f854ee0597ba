// The fingerprint of a data set, from which experiments/configure.h chooses an experiment. Each case is read
// once, as in a run; results are cached by the content of its files.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "data/layouts/dataset.h"
#include "data/prepare/prepare.h"
#include "data/volumes/volume.h"

namespace voxswap::pipeline {

// Intensities of a channel over its foreground: the voxels that differ from the background.
struct Intensities {
  double mean = 0, deviation = 0;  // of the population
  // Estimated from at most 2^20 voxels, equally spaced.
  static constexpr std::array<double, 21> ranks{0.5, 5,  10, 15, 20, 25, 30, 35, 40, 45,  50,
                                                55,  60, 65, 70, 75, 80, 85, 90, 95, 99.5};
  std::array<double, ranks.size()> percentiles{};
  double lowest() const { return percentiles.front(); }
  double median() const { return percentiles[ranks.size() / 2]; }
  double highest() const { return percentiles.back(); }
};

struct LabelExtent {
  std::int64_t voxels = 0, components = 0;  // 26-connected
};

struct CaseFingerprint {
  std::string id;
  data::Geometry grid;  // in the canonical frame (data/volumes/orientation.h)
  std::string axes;     // orientation of the file, such as "RAS"
  Size3 foreground{};   // bounding box of voxels that differ from the background in any channel
  bool background_in_corners = false;                // the corners of an image share one value that is not 0
  std::vector<std::optional<Intensities>> channels;  // nullopt: the channel is missing or has no foreground
  std::map<int, LabelExtent> labels;                 // without background
};

struct UnreadableCase {
  std::string id, why;
};

struct Fingerprint {
  data::Dataset dataset;  // the cases that can be read
  std::vector<CaseFingerprint> cases;
  std::vector<UnreadableCase> unreadable;

  // Medians over the cases, per axis or channel.
  Spacing median_spacing() const;
  Spacing target_spacing() const;  // data/prepare/prepare.h
  Size3 median_size() const, median_foreground() const;
  Intensities median_intensities(std::size_t channel) const;
  double cropped_away() const;  // fraction of voxels outside the foreground's bounding box
};

// Throws Exit::bad_data if the data set cannot be listed. Unreadable cases are returned in `unreadable`.
// `cache`: folder of stored fingerprints; empty: no cache.
Fingerprint take_fingerprint(const data::DatasetOptions& options, const fs::path& cache = {});

fs::path fingerprint_folder(const fs::path& cache);  // inside data.cache; empty without a cache

// A case as `voxswap configure --json` prints it.
Json to_json(const CaseFingerprint& one, const std::vector<std::string>& channels);

}  // namespace voxswap::pipeline
