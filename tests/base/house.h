// The walls of the house: what may include what, looked at in the text of the sources alone.
//
// Each check gives a sentence for every fault that it finds, so that it can be tried on sources that are
// wrong on purpose.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/file.h"

namespace voxswap::house {

struct SourceFile {
  fs::path path;                        // "data/volumes/volume.h"
  std::vector<std::string> includes;    // as they are written, without brackets or quotes
  std::vector<std::string> namespaces;  // in which it declares something: "voxswap", "voxswap::data"; sorted
  std::vector<std::string> strings = {};  // what stands between quotes; pieces that belong together are one
};

SourceFile parse(const fs::path& path, std::string_view text);
// Every header and source of these rooms.
std::vector<SourceFile> read_sources(const fs::path& house, const std::vector<std::string>& rooms);

// A room, or a part of one, and what it may include besides itself: rooms, of which every part is meant, or
// parts.
struct Folder {
  std::string path;  // "swap", "data/formats"
  std::vector<std::string> may_include;
};

// A folder stands below those that include it: it is allowed only what stands above it in the table.
std::vector<std::string> faults_of_order(const std::vector<Folder>& folders);
// Includes that the table does not allow, and files that lie in none of its folders.
std::vector<std::string> faults_of_includes(const std::vector<SourceFile>& files,
                                            const std::vector<Folder>& folders);
// A unit is a header and its source. Each circle is told once: "a includes b includes a".
std::vector<std::string> circles_of_units(const std::vector<SourceFile>& files);

// How a third party's includes begin, and the folders that may name it.
using ThirdParties = std::map<std::string, std::vector<std::string>>;
std::vector<std::string> faults_of_third_parties(const std::vector<SourceFile>& files,
                                                 const ThirdParties& third_parties);

// The namespace that belongs to each room; what lies deeper in it belongs to the room as well.
using Namespaces = std::map<std::string, std::string>;
std::vector<std::string> faults_of_namespaces(const std::vector<SourceFile>& files,
                                              const Namespaces& namespaces);

// Keys of a file of settings that strings name: words that begin with one of its sections, "data.root", or a
// section alone, "data." and "data.{}". Those that are `allowed` are no fault.
std::vector<std::string> faults_of_keys(const std::vector<SourceFile>& files,
                                        const std::set<std::string>& sections,
                                        const std::set<std::string>& allowed);

}  // namespace voxswap::house
