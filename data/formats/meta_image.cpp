// MetaImage headers (.mha, .mhd): lines of `Key = Value`, the last one is ElementDataFile. World coordinates
// are LPS millimetres, as in ITK; TransformMatrix lists the cosines axis by axis.
#include <algorithm>
#include <bit>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/header_text.h"
#include "data/formats/raw_voxels.h"
#include "data/volumes/orientation.h"

namespace voxswap::data {

namespace {

const std::map<std::string, std::string> element_names = {
    {"MET_CHAR", "int8"},         {"MET_UCHAR", "uint8"},   {"MET_SHORT", "int16"},
    {"MET_USHORT", "uint16"},     {"MET_INT", "int32"},     {"MET_UINT", "uint32"},
    {"MET_LONG", "int32"},        {"MET_ULONG", "uint32"},  {"MET_LONG_LONG", "int64"},
    {"MET_ULONG_LONG", "uint64"}, {"MET_FLOAT", "float32"}, {"MET_DOUBLE", "float64"}};

class MetaImageParser {
 public:
  MetaImageParser(const fs::path& path, std::string_view begin) : path_(path) { read_lines(begin); }

  RawImage parse() {
    if (!fields_.contains("NDims") || !fields_.contains("ElementDataFile"))
      fail(Exit::bad_data, "{}: is not a MetaImage, despite its name: it lacks NDims or ElementDataFile",
           path_.string());
    read_extent();
    read_place();
    read_storage();
    return raw_;
  }

 private:
  [[noreturn]] void damaged(const std::string& how) const {
    fail(Exit::bad_data, "{}: is damaged: {}", path_.string(), how);
  }

  void read_lines(std::string_view text) {
    const std::size_t whole = text.size();
    while (const auto line = next_line(text)) {
      const std::size_t equals = line->find('=');
      if (equals == std::string::npos) break;
      const std::string key = trim(line->substr(0, equals));
      fields_[key] = trim(line->substr(equals + 1));
      header_bytes_ = whole - text.size();
      if (key == "ElementDataFile") break;
    }
  }

  std::string text(std::initializer_list<const char*> keys) const {
    for (const char* key : keys) {
      if (const auto found = fields_.find(key); found != fields_.end()) return found->second;
    }
    return {};
  }

  bool is_true(std::initializer_list<const char*> keys) const {
    const std::string value = lower(text(keys));
    return value == "true" || value == "1" || value == "t";
  }

  // At least `wanted` numbers; `missing` if the key is absent.
  std::vector<double> numbers(std::initializer_list<const char*> keys, std::size_t wanted,
                              std::vector<double> missing) const {
    const std::string value = text(keys);
    if (value.empty()) return missing;
    const auto read = numbers_of(value);
    if (!read || read->size() < wanted)
      damaged(format("{}: expected {}, found \"{}\"", *keys.begin(), counted(wanted, "number"),
                     value.substr(0, 80)));
    return *read;
  }

  void read_extent() {
    extents_ = extents_of(path_, text({"DimSize"}));
    if (std::to_string(extents_.size()) != text({"NDims"}))
      damaged(format("NDims is {}, but its header gives {}", text({"NDims"}).substr(0, 80),
                     counted(extents_.size(), "extent")));
    if (const std::string channels = text({"ElementNumberOfChannels"}); !channels.empty()) {
      const std::vector<std::int64_t> read = extents_of(path_, channels);
      if (read.size() != 1 || read[0] > 65536)
        damaged("its header declares " + channels.substr(0, 80) + " channels");
      raw_.components = read[0];
    }
    raw_.image.volumes = raw_.components;
    for (std::size_t axis = 3; axis < extents_.size(); ++axis) raw_.image.volumes *= extents_[axis];
  }

  void read_place() {
    const std::size_t dimensions = extents_.size();
    std::vector<double> identity(dimensions * dimensions, 0.0);
    for (std::size_t i = 0; i < dimensions; ++i) identity[i * dimensions + i] = 1;
    const auto spacing =
        numbers({"ElementSpacing", "ElementSize"}, dimensions, std::vector<double>(dimensions, 1.0));
    const auto origin =
        numbers({"Offset", "Position", "Origin"}, dimensions, std::vector<double>(dimensions, 0.0));
    const auto cosines =
        numbers({"TransformMatrix", "Rotation", "Orientation"}, dimensions * dimensions, identity);
    Affine lps{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    Size3 size{1, 1, 1};
    for (std::size_t axis = 0; axis < std::min<std::size_t>(3, dimensions); ++axis) {
      size[axis] = extents_[axis];
      lps[axis * 4 + 3] = origin[axis];
      for (std::size_t row = 0; row < std::min<std::size_t>(3, dimensions); ++row)
        lps[row * 4 + axis] = cosines[axis * dimensions + row] * spacing[axis];
    }
    raw_.image.geometry = geometry_from(path_, lps, size);
  }

  void read_storage() {
    const std::string element = text({"ElementType"});
    const auto known = element_names.find(element);
    if (known == element_names.end())
      fail(Exit::bad_data, "{}: its voxel type is not supported (\"{}\")", path_.string(),
           element.substr(0, 80));
    raw_.image.element = known->second;
    const bool big = is_true({"BinaryDataByteOrderMSB", "ElementByteOrderMSB"});
    raw_.swapped = big != (std::endian::native == std::endian::big);
    raw_.packed = is_true({"CompressedData"});
    if (const std::string binary = text({"BinaryData"}); !binary.empty() && !is_true({"BinaryData"}))
      fail(Exit::bad_data, "{}: its voxels are stored as text. Save it as binary data", path_.string());
    const std::string file = text({"ElementDataFile"});
    if (file == "LOCAL" || file == "Local" || file == "local") {
      raw_.file = path_;
      raw_.offset = header_bytes_;
      return;
    }
    if (file.empty() || file == "LIST" || file.find('%') != std::string::npos)
      fail(Exit::bad_data, "{}: its voxels are stored in several files. Save it as one file", path_.string());
    raw_.file = seen_from(path_.parent_path(), file);
    const auto skipped = numbers({"HeaderSize"}, 1, {0});
    raw_.from_end = skipped[0] == -1;
    if (!raw_.from_end && !(skipped[0] >= 0 && skipped[0] < 1e9))
      damaged("HeaderSize: " + number(skipped[0]));
    if (!raw_.from_end) raw_.offset = static_cast<std::size_t>(skipped[0]);
  }

  const fs::path& path_;
  std::map<std::string, std::string> fields_;
  std::size_t header_bytes_ = 0;
  std::vector<std::int64_t> extents_;
  RawImage raw_;
};

}  // namespace

RawImage parse_meta_image(const fs::path& path, std::string_view begin) {
  return MetaImageParser(path, begin).parse();
}

}  // namespace voxswap::data
