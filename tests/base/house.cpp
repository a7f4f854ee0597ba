#include "tests/base/house.h"

#include <algorithm>
#include <cctype>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

#include "base/file.h"
#include "base/text.h"

namespace voxswap::house {

namespace {

// The end of the token that begins at `at` if it is a comment, a string, a character or a preprocessor line;
// otherwise `at` itself.
std::size_t behind(std::string_view text, std::size_t at) {
  const auto after = [&](std::string_view what, std::size_t from) {
    const std::size_t found = text.find(what, from);
    return found == text.npos ? text.size() : found + what.size();
  };
  const std::string_view rest = text.substr(at);
  if (rest.starts_with("//")) return after("\n", at) - 1;
  if (rest.starts_with("/*")) return after("*/", at);
  if (rest.starts_with("R\"")) {
    const std::string end = ")" + std::string(rest.substr(2, rest.find('(') - 2)) + "\"";
    return after(end, at);
  }
  const bool quotes = rest[0] == '"', letter = rest[0] == '\'';
  const bool in_number = letter && at > 0 && std::isalnum(static_cast<unsigned char>(text[at - 1])) != 0;
  if (quotes || (letter && !in_number)) {
    for (++at; at < text.size() && text[at] != rest[0]; ++at) at += text[at] == '\\' ? 1 : 0;
    return at + 1;
  }
  if (rest[0] == '#' && (at == 0 || text[at - 1] == '\n')) {
    while ((at = after("\n", at)) < text.size() && text[at - 2] == '\\') {
    }
    return at - 1;
  }
  return at;
}

std::string code_of(std::string_view text) {
  std::string code;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = behind(text, at);
    if (next == at) code += text[at];
    at = std::max(next, at + 1);
  }
  return code;
}

// The text between the quotes of a string literal, as written.
std::string_view between_quotes(std::string_view literal) {
  const bool raw = literal.starts_with("R");
  const std::size_t first = literal.find(raw ? '(' : '"') + 1;
  const std::size_t last = literal.rfind(raw ? ')' : '"');
  return literal.substr(first, last - first);
}

std::vector<std::string> strings_of(std::string_view text) {
  std::vector<std::string> strings;
  bool goes_on = false;  // only whitespace since the last string
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::max(behind(text, at), at + 1);
    const std::string_view part = text.substr(at, next - at);
    const bool is_string = part.size() > 1 && (part[0] == '"' || part.starts_with("R\""));
    if (is_string && !goes_on) strings.emplace_back();
    if (is_string) strings.back() += between_quotes(part);
    goes_on = is_string || (goes_on && std::isspace(static_cast<unsigned char>(part[0])) != 0);
    at = next;
  }
  return strings;
}

std::vector<std::string> mentions_of(std::string_view text) {
  static const std::regex source(R"((?:^|[^\w./-])((?:\w+/)*\w+\.(?:h|cpp|cuh?))(?![\w/]|\.\w))");
  std::vector<std::string> mentions;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::max(behind(text, at), at + 1);
    const std::string part(text.substr(at, next - at));
    if (part.starts_with("//") || part.starts_with("/*"))
      for (std::sregex_iterator name(part.begin(), part.end(), source), end; name != end; ++name)
        mentions.push_back((*name)[1].str());
    at = next;
  }
  return mentions;
}

// Whether a declaration is exempt, because it belongs elsewhere or must be outside any folder's namespace: a
// forward declaration, a specialisation of a library's template, a member of an earlier class, main().
bool is_homeless(const std::string& declaration) {
  static const std::regex forward(R"((class|struct|enum|enum class) \w+( : [\w:]+)?)");
  static const std::regex global(R"((extern\b|int main\b|template <>).*)");
  static const std::regex member(R"([^(]*::~?\w+ ?\(.*)");
  return std::regex_match(declaration, forward) || std::regex_match(declaration, global) ||
         std::regex_match(declaration, member);
}

// Walks over declarations, and descends only into namespaces.
class Declarations {
 public:
  explicit Declarations(std::string code) : code_(std::move(code)) { walk(""); }
  std::vector<std::string> namespaces() const { return {found_.begin(), found_.end()}; }

 private:
  void walk(const std::string& scope) {
    static const std::regex opening(R"((?:inline )?namespace ?([\w:]*))");
    std::string declaration;
    for (; at_ < code_.size() && code_[at_] != '}'; ++at_) {
      const char c = code_[at_];
      if (c == '(' || c == '{') {
        std::smatch name;
        const std::string words = join(split_words(declaration), " ");
        if (c == '{' && std::regex_match(words, name, opening)) {
          ++at_;
          walk(scope.empty() || name[1].length() == 0 ? scope + name[1].str() : scope + "::" + name[1].str());
          declaration.clear();
        } else {
          skip_brackets();
          declaration += c;
          if (c == '{') declare(scope, declaration);
        }
      } else if (c == ';') {
        declare(scope, declaration);
        declaration.clear();
      } else {
        declaration += c;
      }
    }
  }

  static std::vector<std::string> split_words(const std::string& text) {
    std::vector<std::string> words;
    std::string spaced = text;
    std::replace(spaced.begin(), spaced.end(), '\n', ' ');
    for (const std::string& word : split(spaced, ' '))
      if (!word.empty()) words.push_back(word);
    return words;
  }

  void declare(const std::string& scope, const std::string& declaration) {
    const std::string words = join(split_words(declaration), " ");
    if (!words.empty() && !is_homeless(words)) found_.insert(scope);
  }

  // From an opening bracket to its closing one.
  void skip_brackets() {
    int depth = 0;
    for (; at_ < code_.size(); ++at_) {
      const char c = code_[at_];
      if (c == '(' || c == '{') ++depth;
      if ((c == ')' || c == '}') && --depth == 0) return;
    }
  }

  std::string code_;
  std::size_t at_ = 0;
  std::set<std::string> found_;
};

bool lies_in(const fs::path& path, const std::string& folder) {
  return path.generic_string().starts_with(folder + "/");
}

// The innermost folder of the table that contains the file, or null.
const Folder* folder_of(const fs::path& path, const std::vector<Folder>& folders) {
  const Folder* found = nullptr;
  for (const Folder& folder : folders)
    if (lies_in(path, folder.path) && (found == nullptr || folder.path.size() > found->path.size()))
      found = &folder;
  return found;
}

std::string unit_of(const fs::path& path) {
  return fs::path(path).replace_extension().generic_string();
}

using Units = std::map<std::string, std::set<std::string>>;  // the units that each unit includes

Units units_of(const std::vector<SourceFile>& files) {
  Units units;
  for (const SourceFile& file : files) units[unit_of(file.path)];
  for (const SourceFile& file : files) {
    for (const std::string& header : file.includes) {
      const std::string unit = unit_of(file.path), other = unit_of(header);
      if (unit != other && units.contains(other)) units[unit].insert(other);
    }
  }
  return units;
}

void remove(const std::string& unit, Units& units) {
  units.erase(unit);
  for (auto& [name, includes] : units) includes.erase(unit);
}

// Removes all units that are not part of a cycle and do not lead to one.
void trim(Units& units) {
  const auto is_last = [](const auto& unit) { return unit.second.empty(); };
  for (auto last = units.begin(); (last = std::find_if(units.begin(), units.end(), is_last)) != units.end();)
    remove(std::string(last->first), units);
}

}  // namespace

SourceFile parse(const fs::path& path, std::string_view text) {
  SourceFile file{path, {}, {}, strings_of(text), mentions_of(text)};
  static const std::regex include(R"(\s*#\s*include\s*[<"]([^>"]+)[>"].*)");
  std::smatch match;
  for (const std::string& line : split(text, '\n'))
    if (std::regex_match(line, match, include)) file.includes.push_back(match[1].str());
  file.namespaces = Declarations(code_of(text)).namespaces();
  return file;
}

std::vector<SourceFile> read_sources(const fs::path& house, const std::vector<std::string>& top_folders) {
  std::vector<SourceFile> files;
  for (const std::string& folder : top_folders) {
    for (const auto& entry : fs::recursive_directory_iterator(house / folder)) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cpp" && extension != ".cu" && extension != ".cuh") continue;
      files.push_back(parse(fs::relative(entry.path(), house), read_file(entry.path())));
    }
  }
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
  return files;
}

std::vector<std::string> faults_of_order(const std::vector<Folder>& folders) {
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < folders.size(); ++i) {
    for (const std::string& other : folders[i].may_include) {
      const auto is_it = [&](const Folder& folder) {
        return folder.path == other || lies_in(folder.path, other);
      };
      const auto here = folders.begin() + static_cast<std::ptrdiff_t>(i);
      if (std::none_of(folders.begin(), folders.end(), is_it))
        faults.push_back(format("{} may include {}, which is not a folder", folders[i].path, other));
      else if (std::any_of(here, folders.end(), is_it))
        faults.push_back(format("{} may include {}, which does not stand above it", folders[i].path, other));
    }
  }
  return faults;
}

std::vector<std::string> faults_of_includes(const std::vector<SourceFile>& files,
                                            const std::vector<Folder>& folders) {
  std::vector<std::string> faults;
  for (const SourceFile& file : files) {
    const Folder* const home = folder_of(file.path, folders);
    if (home == nullptr) {
      faults.push_back(format("{} lies in no folder of the house", file.path.generic_string()));
      continue;
    }
    for (const std::string& header : file.includes) {
      const Folder* const other = folder_of(header, folders);
      if (other == nullptr || other == home) continue;
      const auto& allowed = home->may_include;
      if (std::none_of(allowed.begin(), allowed.end(),
                       [&](const std::string& folder) { return lies_in(header, folder); }))
        faults.push_back(format("{} includes {}", file.path.generic_string(), header));
    }
  }
  return faults;
}

std::vector<std::string> circles_of_units(const std::vector<SourceFile>& files) {
  Units units = units_of(files);
  std::vector<std::string> circles;
  for (trim(units); !units.empty(); trim(units)) {
    // Every remaining unit leads into a cycle, along any path.
    std::vector<std::string> path{units.begin()->first};
    auto begin = path.end();
    while ((begin = std::find(path.begin(), path.end() - 1, path.back())) == path.end() - 1)
      path.push_back(*units.at(path.back()).begin());
    circles.push_back(join({begin, path.end()}, " includes "));
    remove(std::string(path.back()), units);
  }
  return circles;
}

std::vector<std::string> faults_of_third_parties(const std::vector<SourceFile>& files,
                                                 const ThirdParties& third_parties) {
  std::vector<std::string> faults;
  for (const SourceFile& file : files) {
    for (const std::string& header : file.includes) {
      for (const auto& [prefix, places] : third_parties) {
        if (!header.starts_with(prefix)) continue;
        if (std::none_of(places.begin(), places.end(),
                         [&](const std::string& place) { return lies_in(file.path, place); }))
          faults.push_back(format("{} includes {}", file.path.generic_string(), header));
      }
    }
  }
  return faults;
}

std::vector<std::string> faults_of_namespaces(const std::vector<SourceFile>& files,
                                              const Namespaces& namespaces) {
  std::vector<std::string> faults;
  for (const SourceFile& file : files) {
    const auto own = namespaces.find(file.path.begin()->string());
    if (own == namespaces.end()) continue;
    for (const std::string& found : file.namespaces) {
      if (found == own->second || found.starts_with(own->second + "::")) continue;
      faults.push_back(format("{} declares something in {}, not in {}", file.path.generic_string(),
                              found.empty() ? "no namespace" : found, own->second));
    }
  }
  return faults;
}

std::vector<std::string> faults_of_keys(const std::vector<SourceFile>& files,
                                        const std::set<std::string>& sections,
                                        const std::set<std::string>& allowed) {
  const std::string section = "(?:" + join({sections.begin(), sections.end()}, "|") + ")\\.";
  const std::regex word("(?:^|[^\\w./-])(" + section + "(?:\\w+(?:\\.\\w+)*|(?=\\{)))"), alone(section);
  std::vector<std::string> faults;
  for (const SourceFile& file : files) {
    const auto add = [&](const std::string& key) {
      if (!allowed.contains(key)) faults.push_back(format("{} names {}", file.path.generic_string(), key));
    };
    for (const std::string& text : file.strings) {
      if (std::regex_match(text, alone)) add(text);
      for (std::sregex_iterator at(text.begin(), text.end(), word), end; at != end; ++at) add((*at)[1].str());
    }
  }
  return faults;
}

std::vector<std::string> faults_of_mentions(const std::vector<SourceFile>& files,
                                            const std::set<std::string>& foreign) {
  std::set<std::string> names;  // every path, without any number of its first folders
  for (const SourceFile& file : files) {
    std::string path = file.path.generic_string();
    names.insert(path);
    for (std::size_t slash; (slash = path.find('/')) != path.npos;)
      names.insert(path = path.substr(slash + 1));
  }
  std::vector<std::string> faults;
  for (const SourceFile& file : files)
    for (const std::string& name : file.mentions)
      if (!names.contains(name) && !foreign.contains(name))
        faults.push_back(format("{} mentions {}", file.path.generic_string(), name));
  return faults;
}

}  // namespace voxswap::house
