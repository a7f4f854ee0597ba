// HTML elements of a report. The result is also well-formed XML.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace voxswap::pipeline {

std::string base64(std::string_view bytes);

// The first row is the header; cells are plain text. Numbers are right-aligned. On a narrow screen, rows are
// stacked and each line is labelled.
std::string html_table(const std::vector<std::vector<std::string>>& rows);

// Notes, each a marked paragraph of plain text.
std::string html_notes(const std::vector<std::string>& notes);

// A list of names and values.
std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts);

// A link that downloads `content` as `name`; the content is embedded in the link.
std::string html_download(const std::string& name, std::string_view content);

// A figure that uses the available width; a wide one scrolls on narrow screens to remain readable.
std::string html_figure(const std::string& svg, const std::string& caption);

// A figure from a file that may have been modified by others: embedded as an image, which can neither execute
// nor load anything.
std::string html_image(const std::string& svg, const std::string& caption);

// Prepares a gnuplot SVG for embedding in a page: removes prolog and background, uses the page's colours, and
// makes ids unique with `name`.
std::string inline_svg(std::string svg, const std::string& name);

// A section with a heading, linked in the table of contents.
std::string html_section(const std::string& id, const std::string& title, const std::string& content);

// Content below a heading that narrow screens collapse, unless `open`. Wide screens show it always.
std::string html_secondary(const std::string& heading, const std::string& content, bool open = false);
// A section that narrow screens collapse.
std::string html_secondary_section(const std::string& id, const std::string& title,
                                   const std::string& content);

// Two parts side by side if there is space; either may be empty.
std::string html_beside(const std::string& left, const std::string& right);

// The complete page: style sheet, title, table of contents, body. Follows the system's light or dark mode and
// needs no network.
std::string html_page(const std::string& title, const std::string& body);

}  // namespace voxswap::pipeline
