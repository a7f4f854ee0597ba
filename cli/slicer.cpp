#include "cli/slicer.h"

#include <cstdio>

#include "base/error.h"
#include "base/file.h"
#include "base/outputs.h"
#include "base/standard_streams.h"
#include "data/formats/image_io.h"
#include "data/formats/image_writing.h"
#include "voxswap/version.h"

namespace voxswap::cli {

namespace {

// Slicer's parser rejects hyphens within flag names, so predict also accepts these names with underscores.
constexpr const char* description = R"(<?xml version="1.0" encoding="utf-8"?>
<executable>
  <category>Segmentation</category>
  <title>voxswap</title>
  <description>Segments an image with a network that was trained by voxswap.</description>
  <version>VERSION</version>
  <documentation-url>docs/how_to/slicer.md</documentation-url>
  <license>Apache-2.0</license>
  <contributor>The voxswap maintainers</contributor>
  <parameters>
    <label>Image and network</label>
    <description>Image to segment and trained network</description>
    <directory>
      <name>run</name>
      <index>0</index>
      <label>Run</label>
      <description>Folder of a finished run</description>
      <channel>input</channel>
    </directory>
    <image>
      <name>input</name>
      <longflag>--input</longflag>
      <label>Image</label>
      <description>Image with the channels of the network (several: a vector image)</description>
      <channel>input</channel>
    </image>
    <image type="label">
      <name>labels</name>
      <longflag>--label_map</longflag>
      <label>Label map</label>
      <description>Label map on the grid of the image</description>
      <channel>output</channel>
    </image>
  </parameters>
  <parameters advanced="true">
    <label>Prediction</label>
    <description>Options of the prediction</description>
    <boolean>
      <name>mirror</name>
      <longflag>--tta</longflag>
      <label>Mirror</label>
      <description>Average over mirrored inputs (up to 8 times slower)</description>
      <default>false</default>
    </boolean>
    <boolean hidden="true">
      <name>progress</name>
      <longflag>--slicer_progress</longflag>
      <label>Progress</label>
      <description>Print progress for 3D Slicer</description>
      <default>true</default>
    </boolean>
  </parameters>
</executable>
)";

// NIfTI's axes point right and anterior, ITK's left and posterior.
std::array<double, 12> affine_of(const data::Geometry& grid) {
  std::array<double, 12> affine{};
  for (std::size_t row = 0; row < 3; ++row) {
    const double sign = row < 2 ? -1 : 1;
    for (std::size_t axis = 0; axis < 3; ++axis)
      affine[4 * row + axis] = sign * grid.direction[3 * row + axis] * grid.spacing[axis];
    affine[4 * row + 3] = sign * grid.origin[row];
  }
  return affine;
}

}  // namespace

std::string slicer_description() {
  std::string text = description;
  return text.replace(text.find("VERSION"), 7, version());
}

void predict_image(const std::vector<std::string>& runs, const std::string& input,
                   const std::string& label_map, const PredictOptions& options,
                   const std::vector<std::string>& overrides, bool shows_progress) {
  const auto show = [&](const char* text) {
    if (shows_progress) print("{}\n", text);
    std::fflush(stdout);
  };
  check_output_file("--out", label_map);
  Outputs outputs(options.force);
  outputs.protect(input);
  outputs.check(label_map);
  show("<filter-start><filter-name>voxswap</filter-name></filter-start><filter-progress>0</filter-progress>");
  Network network(runs, options, overrides);
  const std::vector<data::Image> channels = data::read_images(input);
  const data::Geometry& grid = channels.front().geometry;
  std::vector<float> voxels;
  for (const data::Image& one : channels) voxels.insert(voxels.end(), one.voxels.begin(), one.voxels.end());
  show("<filter-progress>0.1</filter-progress>");
  LabelledImage found = network.predict(
      {voxels.data(), static_cast<std::int64_t>(channels.size()), grid.size, affine_of(grid)});
  show("<filter-progress>0.9</filter-progress>");
  outputs.write(label_map, [&] { data::write_label_map(label_map, {grid, std::move(found.labels)}, input); });
  show("<filter-end><filter-name>voxswap</filter-name></filter-end>");
}

}  // namespace voxswap::cli
