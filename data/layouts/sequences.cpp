#include "data/layouts/sequences.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include "base/text.h"
#include "data/layouts/folders.h"

namespace voxswap::data {

namespace {

constexpr std::array<const char*, 4> sequences{"t1", "t1ce", "t2", "flair"};

using Words = std::vector<std::string>;

bool is_one_of(const std::string& word, const Words& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// A word and the signs around it: "C-" and "-C" mean without contrast, "+C" and "C+" with; in "T1-C" the sign
// may also be a hyphen.
struct Word {
  std::string text;
  bool plus = false, minus = false, hyphen = false;
};

bool is_letter(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || static_cast<unsigned char>(c) >= 0x80;
}

std::vector<Word> words_of_name(const std::string& written) {
  std::string text = lower(written);
  for (const auto& [spelling, word] : {std::pair{"w/wo", " waw "}, {"w/o", " without "}, {"+/-", " waw "}}) {
    for (std::size_t at; (at = text.find(spelling)) != std::string::npos;)
      text.replace(at, std::string(spelling).size(), word);
  }
  std::vector<Word> words;
  const auto at = [&](std::size_t i) { return i < text.size() ? text[i] : ' '; };
  for (std::size_t i = 0; i < text.size();) {
    if (!is_letter(text[i])) {
      ++i;
      continue;
    }
    const std::size_t begin = i;
    while (is_letter(at(i))) ++i;
    Word word{text.substr(begin, i - begin)};
    const char before = begin > 0 ? text[begin - 1] : ' ', further = begin > 1 ? text[begin - 2] : ' ';
    word.plus = before == '+' || at(i) == '+' || (before == ' ' && further == '+');
    word.hyphen = before == '-' && is_letter(further);
    word.minus = (before == '-' && !word.hyphen) || (at(i) == '-' && !is_letter(at(i + 1)));
    if (at(i) == '*') word.text += '*';
    words.push_back(std::move(word));
  }
  return words;
}

const Words contrast_words{
    "c",         "ce",       "gd",       "gad",       "gado",       "km",        "cm",
    "mdc",       "con",      "contrast", "kontrast",  "contraste",  "contrasto", "kontrastmittel",
    "enh",       "enhanced", "dotarem",  "magnevist", "multihance", "prohance",  "omniscan",
    "clariscan", "vueway",   "elucirem", "primovist"};

bool is_contrast(const std::string& word) {
  return is_one_of(word, contrast_words) || word.starts_with("gado") || word.starts_with("gada");
}

const Words without_words{"no",  "non",    "not",   "un",   "without", "wo",  "ohne",
                          "o",   "sans",   "senza", "sin",  "zonder",  "pre", "avant",
                          "vor", "before", "minus", "uten", "utan"};
const Words with_words{"post", "with", "w", "mit", "m", "avec", "nach", "after", "apres", "plus", "incl"};
const Words operation_words{"op",        "operative", "operation", "surgery",   "surgical",  "rt",
                            "radiation", "tx",        "treatment", "therapy",   "resection", "biopsy",
                            "chemo",     "radio",     "processed", "processing"};
const Words fat_words{"fs", "fat", "fatsat", "fsat", "sat", "spir", "spair"};

// A series with one of these words is not a plain T1, T2 or FLAIR.
const Words other_words{
    "map",         "mapping", "star",    "t2star",    "t2*",         "t1*",   "rho",    "swi",       "swan",
    "adc",         "dwi",     "diff",    "diffusion", "trace",       "dti",   "perf",   "perfusion", "dsc",
    "dce",         "dyn",     "dynamic", "asl",       "mra",         "mrv",   "tof",    "angio",     "venc",
    "phase",       "bold",    "fmri",    "localizer", "localiser",   "scout", "survey", "loc",       "sub",
    "subtraction", "mip",     "mrs",     "spectro",   "calibration", "stir",  "tirm",   "fieldmap"};
const Words t1_words{"t1", "t1w", "t1wi", "t1n", "mprage", "bravo", "spgr", "fspgr"};
const Words t2_words{"t2", "t2w", "t2wi"};

// Splits compound words: "t1post", "precontrast", "axt1".
Words parts_of(const std::string& word) {
  static const Words before{"axial", "ax",  "sag",  "cor", "tra", "obl", "3d",  "2d",
                            "fs",    "pre", "post", "ce",  "gd",  "km",  "tse", "fse"};
  static const Words prepositions{"without", "with", "post", "pre", "non", "ohne", "mit", "nach",
                                  "vor",     "un",   "no",   "wo",  "w",   "o",    "m"};
  if (is_contrast(word) || is_one_of(word, t1_words) || is_one_of(word, t2_words)) return {word};
  if ((word.starts_with("t1") || word.starts_with("t2")) && word.size() > 2 &&
      !std::isdigit(static_cast<unsigned char>(word[2])) && word[2] != '*') {
    Words parts{word.substr(0, 2)};
    for (const std::string& part : parts_of(word.substr(2))) parts.push_back(part);
    return parts;
  }
  for (const std::string& start : before) {
    if (!word.starts_with(start)) continue;
    const std::string rest = word.substr(start.size());
    if (!rest.starts_with("t1") && !rest.starts_with("t2")) continue;
    Words parts{start};
    for (const std::string& part : parts_of(rest)) parts.push_back(part);
    return parts;
  }
  for (const std::string& start : prepositions) {
    const std::string rest = word.starts_with(start) ? word.substr(start.size()) : "";
    if (rest != "c" && is_contrast(rest)) return {start, rest};
  }
  return {word};
}

std::vector<Word> split_words(const std::string& written) {
  std::vector<Word> words;
  for (const Word& word : words_of_name(written)) {
    const Words parts = parts_of(word.text);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      Word part = word;
      part.text = parts[i];
      if (i > 0) part.hyphen = false;
      if (i + 1 < parts.size()) part.plus = part.minus = false;  // a sign belongs to the adjacent part
      words.push_back(std::move(part));
    }
  }
  return words;
}

// Whether a name states that contrast agent was given, and whether it states the opposite.
struct Contrast {
  bool with = false, without = false, named = false;  // named: by a word for the agent
};

class ContrastReader {
 public:
  explicit ContrastReader(const std::vector<Word>& words) : words_(words) {}

  Contrast read() {
    while (at_ < words_.size()) step();
    return found_;
  }

 private:
  std::string word(std::size_t ahead) const {
    return at_ + ahead < words_.size() ? words_[at_ + ahead].text : "";
  }
  // Position after the word for the contrast agent `ahead` of here, possibly after "iv"; 0 if there is none.
  std::size_t medium(std::size_t ahead) const {
    if (is_contrast(word(ahead))) return ahead + 1;
    const bool filler = word(ahead) == "iv" || word(ahead) == "i" || word(ahead) == "any";
    return filler && is_contrast(word(ahead + 1)) ? ahead + 2 : 0;
  }

  void step() {
    const std::string text = word(0);
    std::size_t taken = 1;
    if (text == "waw" || text == "wwo") {
      found_.with = found_.without = true;
    } else if (text.starts_with("postop") || text.starts_with("preop")) {
      // Refers to an operation, not an injection.
    } else if ((text == "pre" || text == "post") && is_one_of(word(1), operation_words)) {
      taken = 2;
    } else if (is_one_of(text, without_words)) {
      taken = preposition(found_.without, text == "pre" || text == "wo" || text == "without");
    } else if (is_one_of(text, with_words)) {
      const bool both = (word(1) == "and" || word(1) == "und") && is_one_of(word(2), without_words);
      if (both) found_.with = true;
      taken = both ? 2 : preposition(found_.with, text == "post");
    } else if (is_one_of(text, {"nativ", "native", "plain", "unenhanced"})) {
      found_.without = true;
    } else if (is_contrast(text)) {
      medium_alone();
    }
    at_ += taken;
  }

  // "pre gad", "w/o iv contrast". Some words suffice alone, but not in "without fat saturation".
  std::size_t preposition(bool& says, bool alone) {
    if (const std::size_t taken = medium(1); taken > 0) {
      says = found_.named = true;
      return taken;
    }
    if (alone && !is_one_of(word(1), fat_words)) says = true;
    return 1;
  }

  void medium_alone() {
    const Word& here = words_[at_];
    found_.named = found_.named || here.text != "c" || here.plus;
    if (here.plus || !here.minus) found_.with = true;
    // "T1-C": a hyphen, or a minus.
    if (here.minus || (here.text == "c" && here.hyphen)) found_.without = true;
  }

  const std::vector<Word>& words_;
  std::size_t at_ = 0;
  Contrast found_;
};

bool any_of(const std::vector<Word>& words, const Words& list) {
  return std::any_of(words.begin(), words.end(),
                     [&](const Word& word) { return is_one_of(word.text, list); });
}

bool is_flair(const std::vector<Word>& words) {
  return (any_of(words, {"dark"}) && any_of(words, {"fluid"})) ||
         std::any_of(words.begin(), words.end(), [](const Word& word) {
           return word.text.find("flair") != std::string::npos || word.text == "darkfluid";
         });
}

std::optional<SequenceName> own_name(const std::string& written) {
  if (written.find_first_of("+*") != std::string::npos || written.ends_with("-") ||
      lower(written).ends_with("-c"))
    return std::nullopt;
  const std::string name = modality_name(written);
  if (std::find(sequences.begin(), sequences.end(), name) == sequences.end()) return std::nullopt;
  return SequenceName{{name}, true, true, ""};
}

SequenceName t1_by_contrast(const Contrast& contrast) {
  if (contrast.with && contrast.without)
    return {{"t1", "t1ce"}, false, false, "its description names contrast and also no contrast"};
  return {{contrast.with ? "t1ce" : "t1"}, true, false, ""};
}

}  // namespace

std::span<const char* const> known_sequences() {
  return sequences;
}

SequenceName sequence_of(const std::string& written) {
  if (const auto own = own_name(written)) return *own;
  const std::vector<Word> words = split_words(written);
  const bool flair = is_flair(words);
  for (const Word& word : words) {
    if (is_one_of(word.text, other_words) && !(flair && word.text == "tirm"))
      return {{}, true, false, format("its description names \"{}\"", word.text)};
  }
  const bool rage = any_of(words, {"mp"}) && any_of(words, {"rage"});
  const bool t1 = rage || any_of(words, t1_words), t2 = any_of(words, t2_words);
  const Contrast contrast = ContrastReader(words).read();
  // A FLAIR is T2-weighted, unless its name has T1: GE's "AX T1 FLAIR".
  if (t1 && t2) return {{"t1", "t1ce", "t2"}, false, false, "its description names both T1 and T2"};
  if (t1) return t1_by_contrast(contrast);
  if (flair) return {{"flair"}, true, false, ""};
  if (t2 && any_of(words, {"pd", "pdw", "dual"}))
    return {{"t2"}, false, false, "its description names another echo besides T2"};
  if (t2) return {{"t2"}, true, false, ""};
  if (contrast.with && contrast.named)
    return {{"t1ce"}, false, false, "its description names contrast, but not T1"};
  return {{}, true, false, "its description names no T1, T2 or FLAIR"};
}

SequenceName sequence_of(const std::string& folder, const std::string& description) {
  const SequenceName by_folder = sequence_of(folder);
  if (by_folder.exact || description.empty()) return by_folder;
  SequenceName by_description = sequence_of(description);
  if (by_folder.could_be.empty() || by_folder.could_be == by_description.could_be) return by_description;
  if (by_description.could_be.empty()) return by_folder;
  for (const std::string& one : by_folder.could_be) {
    if (!is_one_of(one, by_description.could_be)) by_description.could_be.push_back(one);
  }
  return {by_description.could_be, false, false, "its folder and its description name different sequences"};
}

}  // namespace voxswap::data
