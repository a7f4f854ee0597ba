// Recognises an MRI sequence from the name of a series: "AX T1 FLAIR +C" is a T1 with contrast. Naming varies
// by scanner, hospital and country, so a name is read word by word, and an ambiguous one is never decided
// here.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace voxswap::data {

// t1, t1ce, t2, flair: in the order in which they become channels.
std::span<const char* const> known_sequences();

struct SequenceName {
  std::vector<std::string> could_be;  // of the known sequences; empty: none of them
  bool certain = true;                // could_be is the one that is meant, or none is
  bool exact = false;  // it is a sequence's own name, "t1ce", and nothing had to be read into it
  std::string why;     // it is not certain, or is none: the end of a sentence
};
SequenceName sequence_of(const std::string& written);

// The folder's own name where it is a sequence's, else what both names tell together.
SequenceName sequence_of(const std::string& folder, const std::string& description);

}  // namespace voxswap::data
