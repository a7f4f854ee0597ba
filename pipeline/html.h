// The few pieces of HTML that a report is made of. The text they give is well-formed XML too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace voxswap {

std::string html_escape(std::string_view text);
std::string base64(std::string_view bytes);

// The first row is the header; cells are plain text. Numbers align to the right.
std::string html_table(const std::vector<std::vector<std::string>>& rows);

// A gnuplot SVG to stand inside a page: without prolog and background, painted with the page's colours, and
// with ids of its own (`name`), since several share a page.
std::string inline_svg(std::string svg, const std::string& name);

// The whole page: style sheet, title, body. Light or dark as the reader's system says; needs no network.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace voxswap
