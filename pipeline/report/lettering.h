// Captions in pictures: capital letters, digits and signs of 5 x 7 dots, so that a picture needs no font
// file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/report/pixels.h"

namespace voxswap::pipeline {

constexpr std::int64_t letter_width = 6, line_height = 10;  // pixels, with the space between

// As it is written with the letters that there are: "Müller" as "Muller"; what has no such form, as "?".
std::string in_plain_letters(std::string_view text);

// From the top left; small letters are drawn as capitals, others in_plain_letters(). What lies outside is cut
// off. With `scale` 2 every dot is two pixels wide and high.
void write_text(Pixels& picture, std::int64_t left, std::int64_t top, std::string_view text,
                const Color& color, int scale = 1);

// The text in lines of at most `letters`, broken at spaces where there are some.
std::vector<std::string> wrapped(const std::string& text, std::size_t letters);

}  // namespace voxswap::pipeline
