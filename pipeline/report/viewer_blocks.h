// Volumes as text inside a page, each once: groups of runs with the same images share them.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/filesystem.h"
#include "base/json.h"

namespace voxswap::pipeline {

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
