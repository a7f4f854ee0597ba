// Writes folders of synthetic runs with volumes for the viewer, and decodes the data embedded in a page.
#pragma once

#include <zlib.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "data/volumes/volume.h"
#include "pipeline/report/viewer_case.h"
#include "tests/pipeline/made_up_runs.h"

namespace voxswap::pipeline {

// Decompresses gzip data with zlib.
inline std::string gunzipped(const std::string& packed) {
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  std::string bytes;
  int state = Z_OK;
  while (state == Z_OK) {
    std::string chunk(1 << 16, '\0');
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    state = inflate(&stream, Z_NO_FLUSH);
    bytes += chunk.substr(0, chunk.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  EXPECT_EQ(state, Z_STREAM_END);
  return bytes;
}

// A ball of labels in a brain that fills the grid up to a border: two channels without equal voxels.
inline data::Volume made_up_volume(int radius) {
  data::Volume volume;
  volume.id = "case";
  volume.truth.geometry.size = {12, 10, 8};
  for (int channel = 0; channel < 2; ++channel) {
    data::Image& image = volume.channels.emplace_back();
    image.geometry = volume.truth.geometry;
    image.voxels.assign(960, -5.0F);
  }
  volume.truth.voxels.assign(960, 0);
  for (std::int64_t z = 0; z < 8; ++z)
    for (std::int64_t y = 0; y < 10; ++y)
      for (std::int64_t x = 0; x < 12; ++x) {
        const std::int64_t far = std::max({std::abs(x - 6), std::abs(y - 5), std::abs(z - 4)});
        if (far == 0) volume.truth.at(x, y, z) = 4;
        if (far > 0 && far <= radius) volume.truth.at(x, y, z) = 1;
        volume.channels[0].at(x, y, z) = static_cast<float>(10 * x + z);
        volume.channels[1].at(x, y, z) = static_cast<float>(7 * y);
      }
  return volume;
}

class ViewedRuns : public MadeUpRuns {
 protected:
  const std::vector<std::string> channels_ = {"t1", "flair"};
  const data::Labels labels_ = {{"edema", 1}, {"core", 4}};
  const data::Regions regions_ = {{"whole_tumor", {1, 4}}, {"tumor_core", {4}}};

  std::string viewed(const data::Volume& volume, const data::LabelMap& prediction,
                     std::int64_t most_bytes = 1 << 20) const {
    return viewed_case({volume, prediction, channels_, labels_, regions_}, most_bytes);
  }

  // Volumes of two of the four cases, with predictions that are too large by `margin` voxels.
  fs::path make_viewed_run(const std::string& name, int margin, const std::string& room = "1MiB") const {
    const fs::path run = make_run(name, name, std::to_string(64 + margin));
    write_file(run / "experiment.yaml", format("output:\n  viewer: {}\n", room));
    fs::create_directories(run / viewer_folder);
    for (int i = 1; i <= 2; ++i)
      write_file(run / viewer_folder / format("case_{}.json", i),
                 viewed(made_up_volume(i), made_up_volume(i + margin).truth));
    return run;
  }
};

}  // namespace voxswap::pipeline
