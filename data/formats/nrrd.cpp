// NRRD headers (.nrrd, .nhdr) as documented by teem: "NRRD000X", lines of `field: value`, an empty line.
// Spatial axes are those with a direction; one other axis, the first or the last, may hold several volumes.
#include <algorithm>
#include <bit>
#include <cmath>
#include <map>

#include "base/error.h"
#include "base/file.h"
#include "base/text.h"
#include "data/formats/header_text.h"
#include "data/formats/raw_voxels.h"
#include "data/volumes/orientation.h"

namespace voxswap::data {

namespace {

const std::map<std::string, std::vector<std::string>> element_spellings = {
    {"int8", {"signed char", "int8", "int8_t"}},
    {"uint8", {"uchar", "unsigned char", "uint8", "uint8_t"}},
    {"int16", {"short", "short int", "signed short", "signed short int", "int16", "int16_t"}},
    {"uint16", {"ushort", "unsigned short", "unsigned short int", "uint16", "uint16_t"}},
    {"int32", {"int", "signed int", "int32", "int32_t"}},
    {"uint32", {"uint", "unsigned int", "uint32", "uint32_t"}},
    {"int64",
     {"longlong", "long long", "long long int", "signed long long", "signed long long int", "int64",
      "int64_t"}},
    {"uint64", {"ulonglong", "unsigned long long", "unsigned long long int", "uint64", "uint64_t"}},
    {"float32", {"float"}},
    {"float64", {"double"}}};

// The signs that map a space's first two axes to left and posterior.
const std::map<std::string, std::pair<int, int>> spaces = {
    {"left-posterior-superior", {1, 1}},   {"lps", {1, 1}},
    {"right-anterior-superior", {-1, -1}}, {"ras", {-1, -1}},
    {"left-anterior-superior", {1, -1}},   {"las", {1, -1}}};

using Vector = std::array<double, 3>;

class NrrdParser {
 public:
  NrrdParser(const fs::path& path, std::string_view begin) : path_(path) { read_lines(begin); }

  RawImage parse() {
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
    const auto magic = next_line(text);
    if (!magic || !magic->starts_with("NRRD000"))
      fail(Exit::bad_data, "{}: is not an NRRD image, despite its name", path_.string());
    while (const auto line = next_line(text)) {
      if (line->empty()) break;
      const std::size_t colon = line->find(": ");
      if (line->starts_with("#") || colon == std::string::npos) continue;
      // Normalises spellings of a field: "data file" and "datafile".
      std::string field = lower(line->substr(0, colon));
      std::erase(field, ' ');
      fields_[field] = trim(line->substr(colon + 2));
    }
    header_bytes_ = whole - text.size();
  }

  std::string text(const std::string& field) const {
    const auto found = fields_.find(field);
    return found == fields_.end() ? std::string() : found->second;
  }

  std::vector<double> numbers(const std::string& field) const {
    const auto read = numbers_of(text(field));
    if (!read) damaged(format("{}: expected numbers, found \"{}\"", field, text(field).substr(0, 80)));
    return *read;
  }

  void read_extent() {
    extents_ = extents_of(path_, text("sizes"));
    if (std::to_string(extents_.size()) != text("dimension"))
      damaged(format("dimension is {}, but its header gives {}", text("dimension").substr(0, 80),
                     counted(extents_.size(), "extent")));
  }

  // "(1,0,0)" -> a vector of at least three numbers.
  Vector vector(const std::string& written) const {
    if (written.size() < 2 || written.front() != '(' || written.back() != ')')
      damaged("expected a vector such as (1,0,0), found \"" + written.substr(0, 80) + "\"");
    std::string inner = written.substr(1, written.size() - 2);
    std::replace(inner.begin(), inner.end(), ',', ' ');
    const auto read = numbers_of(inner);
    if (!read || read->empty())
      damaged("expected a vector such as (1,0,0), found \"" + written.substr(0, 80) + "\"");
    Vector result{};
    for (std::size_t i = 0; i < std::min<std::size_t>(3, read->size()); ++i) result[i] = (*read)[i];
    return result;
  }

  // Vectors may contain spaces, so words are joined up to the closing bracket.
  std::vector<std::string> vector_words(const std::string& field) const {
    std::vector<std::string> result;
    bool open = false;
    for (const std::string& word : words_of(text(field))) {
      if (open) {
        result.back() += word;
      } else {
        result.push_back(word);
      }
      open = result.back().front() == '(' && result.back().back() != ')';
    }
    return result;
  }

  // Per axis: its direction times the voxel size; nullopt for an axis that is not spatial.
  std::vector<std::optional<Vector>> directions() {
    std::vector<std::optional<Vector>> result(extents_.size());
    if (fields_.contains("spacedirections")) {
      const std::vector<std::string> written = vector_words("spacedirections");
      if (written.size() != extents_.size())
        damaged(format("its header gives {} for {}", counted(written.size(), "space direction"),
                       counted(extents_.size(), "axis")));
      for (std::size_t axis = 0; axis < written.size(); ++axis) {
        if (written[axis] == "none") continue;
        const Vector direction = vector(written[axis]);
        if (direction != Vector{}) result[axis] = direction;  // (0,0,0,1): not a spatial axis
      }
      return result;
    }
    raw_.image.oddities.push_back("it has no space directions, so left and right are unknown");
    const std::vector<double> spacings =
        fields_.contains("spacings") ? numbers("spacings") : std::vector<double>();
    std::size_t spatial = is_domain(0) || extents_.size() <= 3 ? 0 : 1;
    for (std::size_t i = 0; i < 3 && spatial < extents_.size(); ++i, ++spatial) {
      const bool known = spatial < spacings.size() && std::isfinite(spacings[spatial]);
      result[spatial] = Vector{};
      (*result[spatial])[i] = known ? spacings[spatial] : 1.0;
    }
    return result;
  }

  bool is_domain(std::size_t axis) const {
    const std::vector<std::string> kinds = words_of(lower(text("kinds")));
    return axis >= kinds.size() || kinds[axis] == "domain" || kinds[axis] == "space" || kinds[axis] == "???";
  }

  void read_place() {
    const auto towards = directions();
    const Vector origin =
        fields_.contains("spaceorigin") ? vector(join(words_of(text("spaceorigin")), "")) : Vector{};
    Affine lps{1, 0, 0, origin[0], 0, 1, 0, origin[1], 0, 0, 1, origin[2]};
    Size3 size{1, 1, 1};
    std::size_t spatial = 0, first = extents_.size();
    for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
      if (!towards[axis]) continue;
      first = std::min(first, axis);
      if (spatial == 3 || axis != first + spatial)
        fail(Exit::bad_data, "{}: its spatial axes are not adjacent. Save its axes in another order",
             path_.string());
      size[spatial] = extents_[axis];
      for (std::size_t row = 0; row < 3; ++row) lps[row * 4 + spatial] = (*towards[axis])[row];
      ++spatial;
    }
    if (spatial < 2) damaged(format("its header describes {}", counted(spatial, "spatial axis")));
    for (std::size_t axis = 0; axis < extents_.size(); ++axis) {
      if (towards[axis]) continue;
      raw_.image.volumes *= extents_[axis];
      if (axis < first) raw_.components *= extents_[axis];
    }
    turn_to_lps(lps);
    raw_.image.geometry = geometry_from(path_, lps, size);
  }

  void turn_to_lps(Affine& affine) {
    const std::string space = lower(text("space"));
    const auto known = spaces.find(space);
    if (known == spaces.end()) {
      if (!space.empty())
        raw_.image.oddities.push_back(
            format("its space is \"{}\", so left and right are unknown", space.substr(0, 80)));
      return;
    }
    for (std::size_t i = 0; i < 4; ++i) {
      affine[i] *= known->second.first;
      affine[4 + i] *= known->second.second;
    }
  }

  void read_storage() {
    const std::string type = lower(text("type"));
    for (const auto& [name, spellings] : element_spellings) {
      if (std::find(spellings.begin(), spellings.end(), type) != spellings.end()) raw_.image.element = name;
    }
    if (raw_.image.element.empty())
      fail(Exit::bad_data, "{}: its voxel type is not supported (\"{}\")", path_.string(),
           type.substr(0, 80));
    const std::string encoding = lower(text("encoding"));
    raw_.packed = encoding == "gzip" || encoding == "gz";
    if (!raw_.packed && encoding != "raw")
      fail(Exit::bad_data, "{}: its encoding is \"{}\". Save it as raw or gzip", path_.string(),
           encoding.substr(0, 80));
    const std::string endian = lower(text("endian"));
    if (!endian.empty() && endian != "little" && endian != "big")
      damaged("endian: \"" + endian.substr(0, 80) + "\"");
    raw_.swapped = (endian == "big") != (std::endian::native == std::endian::big);
    read_file_place();
  }

  void read_file_place() {
    const std::string file = text("datafile");
    raw_.file = file.empty() ? path_ : seen_from(path_.parent_path(), file);
    raw_.offset = file.empty() ? header_bytes_ : 0;
    if (file.starts_with("LIST") || file.find('%') != std::string::npos)
      fail(Exit::bad_data, "{}: its voxels are stored in several files. Save it as one file", path_.string());
    if (const std::string lines = text("lineskip"); !lines.empty() && lines != "0")
      fail(Exit::bad_data, "{}: has \"line skip: {}\", which is not supported. Save it again without",
           path_.string(), lines.substr(0, 80));
    if (!fields_.contains("byteskip")) return;
    const std::vector<double> skipped = numbers("byteskip");
    if (skipped.size() != 1 || !(skipped[0] >= -1 && skipped[0] < 1e9))
      damaged("byte skip: " + text("byteskip").substr(0, 80));
    raw_.from_end = skipped[0] == -1 && !raw_.packed;
    if (skipped[0] > 0) {
      if (raw_.packed)
        fail(Exit::bad_data,
             "{}: skips bytes of compressed voxels, which is not supported. Save it again without",
             path_.string());
      raw_.offset += static_cast<std::size_t>(skipped[0]);
    }
  }

  const fs::path& path_;
  std::map<std::string, std::string> fields_;
  std::size_t header_bytes_ = 0;
  std::vector<std::int64_t> extents_;
  RawImage raw_;
};

}  // namespace

RawImage parse_nrrd(const fs::path& path, std::string_view begin) {
  return NrrdParser(path, begin).parse();
}

}  // namespace voxswap::data
