// The few pieces of HTML that a report is made of. The text they give is well-formed XML too.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace voxswap::pipeline {

std::string base64(std::string_view bytes);

// The first row is the header; cells are plain text. Numbers align to the right. On a narrow screen the rows
// stand below each other, each line with its heading.
std::string html_table(const std::vector<std::vector<std::string>>& rows);

// What is known of something: names and values.
std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts);

// A link that saves `content` under `name`: the bytes are in the link itself.
std::string html_download(const std::string& name, std::string_view content);

// As wide as there is room for; a wide one scrolls sideways where the screen is narrower than what can be
// read.
std::string html_figure(const std::string& svg, const std::string& caption);

// The same for a picture of a file, which may have been changed by others since it was written: as an image,
// which can neither run nor load anything.
std::string html_image(const std::string& svg, const std::string& caption);

// A gnuplot SVG to stand inside a page: without prolog and background, painted with the page's colours, and
// with ids of its own (`name`), since several share a page.
std::string inline_svg(std::string svg, const std::string& name);

// A part of the page under a heading, which the table of contents links to. `width` is "half" where two may
// stand beside each other, "full" otherwise.
std::string html_section(const std::string& id, const std::string& title, const std::string& content,
                         const std::string& width = "full");

// A plot beside what belongs to it, where there is room; either may be empty.
std::string html_beside(const std::string& left, const std::string& right);

// The whole page: style sheet, title, table of contents, body. Light or dark as the reader's system says;
// needs no network.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace voxswap::pipeline
