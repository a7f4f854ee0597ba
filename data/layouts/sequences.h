// Recognises an MRI sequence from the name of a series: "AX T1 FLAIR +C" is a T1 with contrast. Naming varies
// by scanner, hospital and country, so names are parsed word by word, and an ambiguous name is never decided
// here.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace voxswap::data {

// t1, t1ce, t2, flair, in channel order.
std::span<const char* const> known_sequences();

struct SequenceName {
  std::vector<std::string> could_be;  // candidates among the known sequences; empty: none of them
  bool certain = true;                // could_be is unambiguous: one sequence, or none
  bool exact = false;                 // the name is exactly that of a sequence, e.g. "t1ce"
  std::string why;                    // why it is ambiguous or not a sequence: the end of a sentence
};
SequenceName sequence_of(const std::string& written);

// The sequence of the folder's name if that is exact, else the combination of both names.
SequenceName sequence_of(const std::string& folder, const std::string& description);

}  // namespace voxswap::data
