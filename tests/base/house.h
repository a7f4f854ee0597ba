// The include rules of the project, checked on the text of the sources.
//
// Each check returns one sentence per violation, so that it can be tested on incorrect sources.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace voxswap::house {

struct SourceFile {
  fs::path path;                           // "data/volumes/volume.h"
  std::vector<std::string> includes;       // as written, without brackets or quotes
  std::vector<std::string> namespaces;     // of its declarations: "voxswap", "voxswap::data"; sorted
  std::vector<std::string> strings = {};   // contents of string literals; adjacent ones are joined
  std::vector<std::string> mentions = {};  // sources that its comments name: "plan.h", "swap/plan/plan.h"
};

SourceFile parse(const fs::path& path, std::string_view text);
// All headers and sources of these top-level folders.
std::vector<SourceFile> read_sources(const fs::path& house, const std::vector<std::string>& top_folders);

// A top-level folder (or a part of one), and those that it may include besides itself. A folder stands for
// all of its parts.
struct Folder {
  std::string path;  // "swap", "data/formats"
  std::vector<std::string> may_include;
};

// A folder may include only folders earlier in the table.
std::vector<std::string> faults_of_order(const std::vector<Folder>& folders);
// Includes that the table does not allow, and files outside all of its folders.
std::vector<std::string> faults_of_includes(const std::vector<SourceFile>& files,
                                            const std::vector<Folder>& folders);
// A unit is a header and its source. Each cycle is reported once: "a includes b includes a".
std::vector<std::string> circles_of_units(const std::vector<SourceFile>& files);

// Prefix of a third party's includes, and the folders that may use it.
using ThirdParties = std::map<std::string, std::vector<std::string>>;
std::vector<std::string> faults_of_third_parties(const std::vector<SourceFile>& files,
                                                 const ThirdParties& third_parties);

// The namespace of each top-level folder; nested namespaces belong to it too.
using Namespaces = std::map<std::string, std::string>;
std::vector<std::string> faults_of_namespaces(const std::vector<SourceFile>& files,
                                              const Namespaces& namespaces);

// Keys of a settings file in string literals: words that begin with one of its sections, "data.root", or a
// section alone, "data." and "data.{}". Those in `allowed` are accepted.
std::vector<std::string> faults_of_keys(const std::vector<SourceFile>& files,
                                        const std::set<std::string>& sections,
                                        const std::set<std::string>& allowed);

// Sources that comments name but that are not among the files. Those in `foreign` belong to libraries.
std::vector<std::string> faults_of_mentions(const std::vector<SourceFile>& files,
                                            const std::set<std::string>& foreign);

}  // namespace voxswap::house
