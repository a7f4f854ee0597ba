#include "pipeline/cases/preview.h"

#include <algorithm>
#include <memory>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "base/xml.h"
#include "data/layouts/open_dataset.h"
#include "data/volumes/picture.h"
#include "pipeline/cases/cases.h"
#include "pipeline/cases/patches.h"
#include "pipeline/cases/split.h"
#include "pipeline/report/slice_view.h"

namespace voxswap::pipeline {

namespace {

// One version of a case: as prepared, or as augmented in an epoch.
struct Version {
  std::string title, description;
  data::Geometry geometry;  // the position is not used
  data::NormalizedCase part;
};

struct Row {
  std::string title;
  std::int64_t channel;
  View view;
};

// All pictures of one case.
struct Block {
  std::string title;
  std::vector<Version> versions;
  std::vector<Row> rows;
};

std::vector<std::size_t> wanted_cases(const data::Dataset& dataset, const Split& split,
                                      const PreviewOptions& what) {
  std::vector<std::size_t> wanted;
  for (const std::string& name : what.case_names) {
    std::vector<std::string> names;
    for (const data::CaseFiles& files : dataset.cases) names.push_back(files.id);
    const auto found = std::find(names.begin(), names.end(), name);
    if (found == names.end()) {
      const std::string guess = nearest(name, names);
      fail(Exit::usage, "--case: the data set has no case '{}'{}", name,
           guess.empty() ? "" : ". Did you mean '" + guess + "'?");
    }
    wanted.push_back(static_cast<std::size_t>(found - names.begin()));
  }
  if (!wanted.empty()) return wanted;
  const auto count = std::min(split.training.size(), static_cast<std::size_t>(what.cases));
  return {split.training.begin(), split.training.begin() + static_cast<std::ptrdiff_t>(count)};
}

// A 2D image has a single view.
std::vector<Row> rows_of(const data::Dataset& dataset, bool is_image) {
  std::vector<Row> rows;
  const auto channels = static_cast<std::int64_t>(dataset.modalities.size());
  if (channels == 1 && !is_image) {
    for (const View& view : views) rows.push_back({view.name, 0, view});
    return rows;
  }
  for (std::int64_t c = 0; c < channels; ++c)
    rows.push_back({dataset.modalities[static_cast<std::size_t>(c)], c, views[0]});
  return rows;
}

Block block_of(Cases& cases, std::size_t index, const Experiment& experiment, std::int64_t epochs) {
  Block block;
  block.title = cases.dataset().cases[index].id;
  block.rows = rows_of(cases.dataset(), input_size(experiment)[2] == 1);
  const auto add = [&](const std::string& title, const std::string& description, data::NormalizedCase part) {
    data::Geometry geometry = cases.prepared(index)->training_geometry();
    geometry.size = part.size;
    block.versions.push_back({title, description, geometry, std::move(part)});
  };
  add("as prepared", "", cases.normalized(index));
  for (std::int64_t epoch = 1; epoch <= epochs; ++epoch) {
    const data::AugmentKey key{experiment.training.seed, static_cast<std::uint64_t>(epoch),
                               static_cast<std::uint32_t>(index)};
    const data::NormalizedCase part = cases.normalized(index, key);
    const data::Augmentation drawn =
        data::draw_augmentation(experiment.training.augment, key, part.size, part.channels);
    add(format("epoch {}", epoch), data::describe(drawn),
        SampleGraph(experiment.training.augment, part.size, part.channels)
            .make(drawn, part, {{0, 0, 0}, part.size}));
  }
  return block;
}

data::Image channel_of(const Version& version, std::int64_t channel) {
  const data::NormalizedCase& part = version.part;
  data::Image image{version.geometry, std::vector<float>(static_cast<std::size_t>(version.geometry.count()))};
  for (std::size_t i = 0; i < image.voxels.size(); ++i)
    image.voxels[i] =
        part.image[i * static_cast<std::size_t>(part.channels) + static_cast<std::size_t>(channel)];
  return image;
}

// All zero for a case without ground truth.
data::LabelMap labels_of(const Version& version) {
  data::LabelMap labels{version.geometry, version.part.truth};
  labels.voxels.resize(static_cast<std::size_t>(version.geometry.count()), 0);
  return labels;
}

// All pictures of a row use the grey-value window of the prepared case, so that brightness is comparable.
std::vector<Pixels> pictures_of(const Block& block, const Row& row, const data::Regions& regions) {
  // Four pixels per voxel, or fewer for a large grid, so that it fits on a screen.
  const double scale = std::clamp(to_fit(block.versions.front().geometry, 384), 1.0, 4.0);
  const Window window = window_of(channel_of(block.versions.front(), row.channel));
  std::vector<Pixels> pictures;
  for (const Version& version : block.versions) {
    const data::LabelMap labels = labels_of(version);
    const Plane plane(version.geometry, row.view, labels, scale);
    pictures.push_back(painted(plane, channel_of(version, row.channel), window, labels, regions));
  }
  return pictures;
}

// One line for the case and one per column.
std::string caption_of(const Block& block) {
  std::vector<std::string> rows;
  for (const Row& row : block.rows) rows.push_back(row.title);
  std::string text = format("{}, rows from the top: {}\n", block.title, join(rows, ", "));
  for (std::size_t v = 0; v < block.versions.size(); ++v) {
    const Version& version = block.versions[v];
    text += format("  column {}: {}{}{}\n", v + 1, version.title, version.description.empty() ? "" : ": ",
                   version.description);
  }
  return text;
}

}  // namespace

std::string preview(const Experiment& experiment, const PreviewOptions& what, const fs::path& png) {
  data::Dataset dataset = open_dataset(experiment);
  const Split split = make_split(dataset, experiment.split);
  const std::vector<std::size_t> wanted = wanted_cases(dataset, split, what);
  Cases cases(experiment, std::move(dataset));
  // Statistics of the data set come from the whole training part.
  cases.prepare_all(data::needs_training_set(experiment.preprocess.normalize) ? split.training : wanted, {});

  const data::Regions& regions = cases.dataset().regions;
  std::vector<std::vector<Pixels>> rows;
  std::string caption;
  for (const std::size_t index : wanted) {
    const Block block = block_of(cases, index, experiment, what.epochs);
    if (!rows.empty()) rows.resize(rows.size() + 3);  // gap between cases
    for (const Row& row : block.rows) rows.push_back(pictures_of(block, row, regions));
    caption += caption_of(block);
  }
  caption += legend_text(regions) + "\n";
  const Pixels sheet = arranged(rows);
  write_file(png, data::with_png_text(data::png_bytes(sheet.width, sheet.height, sheet.rgb), "Description",
                                      as_utf8(caption)));
  return caption;
}

}  // namespace voxswap::pipeline
