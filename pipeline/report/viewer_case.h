// Data of the slice viewer in report.html: the volumes of a case, small enough to embed in the page.
//
// A run writes viewer/CASE.json for every validation case; the page embeds these files unchanged. Volumes are
// bytes, x fastest, cropped to the foreground, compressed with gzip and encoded in base64. Label maps have
// the case's own resolution; images too, or are averaged over blocks of voxels if they need too much space.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"
#include "base/json.h"
#include "data/volumes/volume.h"

namespace voxswap::pipeline {

inline constexpr const char* viewer_folder = "viewer";  // in a run's folder

// Labels are stored as bytes; cases with more labels are not shown in the viewer.
constexpr std::size_t most_viewed_labels = 255;

// The case to show. All parts are in canonical orientation (data/volumes/orientation.h) on one grid.
struct ViewedCase {
  const data::Volume& volume;  // its ground truth may be missing
  const data::LabelMap& prediction;
  const std::vector<std::string>& channels;  // names
  const data::Labels& labels;
  const data::Regions& regions;
};

// The content of viewer/CASE.json. Averages blocks of up to 8 voxels along each axis to keep it below
// `most_bytes` if possible. REQUIRES: at most most_viewed_labels.
std::string viewed_case(const ViewedCase& what, std::int64_t most_bytes);

// Embeds volumes in a page as <script> elements that contain data, not code. Groups of runs with the same
// images share blocks.
std::string data_block(std::string_view type, std::string_view id, std::string_view text);
// JSON escaped so that it cannot end a script element and contains no XML markup.
std::string script_text(const Json& json);

class ViewerBlocks {
 public:
  explicit ViewerBlocks(std::int64_t room) : room_(room) {}  // bytes

  // Embeds a viewer/CASE.json, whose volumes are replaced by block ids. Returns the id of the block that
  // describes the case, or an empty string if there is no space. The file may have been modified by others:
  // throws Exit::bad_data if a volume is missing or not base64.
  std::string add(const fs::path& file);

  const std::string& html() const { return html_; }

 private:
  std::int64_t room_;
  std::map<std::string, std::string> ids_;  // block id by content of the volume
  int studies_ = 0;
  std::string html_;
};

}  // namespace voxswap::pipeline
