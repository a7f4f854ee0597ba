// What the slice viewer of report.html shows of a case: its volumes, small enough to travel in the page.
//
// A run writes viewer/CASE.json for every validation case; the page takes these files in as they are. Volumes
// are bytes, x fastest, cropped to what is not background, packed by gzip and written in base64. Label maps
// are on the case's own grid. Greys are too, as long as there is room, else means over blocks of its voxels.
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

inline constexpr const char* viewer_folder = "viewer";  // of a run

// A label of a voxel is a byte there. Cases with more are not looked into.
constexpr std::size_t most_viewed_labels = 255;

// What is shown. All of it is in the canonical frame (data/volumes/orientation.h), on one grid.
struct ViewedCase {
  const data::Volume& volume;  // its truth may be missing
  const data::LabelMap& prediction;
  const std::vector<std::string>& channels;  // names
  const data::Labels& labels;
  const data::Regions& regions;
};

// The content of viewer/CASE.json: at most `most_bytes` of it where blocks of up to 8 voxels along each axis
// get it there. REQUIRES: at most most_viewed_labels
std::string viewed_case(const ViewedCase& what, std::int64_t most_bytes);

// Volumes as text inside a page, each once: groups of runs with the same images share them.
// <script> elements that hold data: nothing in them runs.
std::string data_block(std::string_view type, std::string_view id, std::string_view text);
// Neither ends a script nor is anything to XML.
std::string script_text(const Json& json);

class ViewerBlocks {
 public:
  explicit ViewerBlocks(std::int64_t room) : room_(room) {}  // bytes

  // Takes in a viewer/CASE.json, whose volumes become names of blocks. The id of the block that describes the
  // case; empty where there is no room for it. Such files may have been changed by others since they were
  // written: throws Exit::bad_data where a volume is not base64, or is missing.
  std::string add(const fs::path& file);

  const std::string& html() const { return html_; }

 private:
  std::int64_t room_;
  std::map<std::string, std::string> ids_;  // of volumes, by what they are
  int studies_ = 0;
  std::string html_;
};

}  // namespace voxswap::pipeline
