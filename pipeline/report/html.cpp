#include "pipeline/report/html.h"

#include <cctype>
#include <cstdlib>
#include <set>

#include "base/text.h"
#include "base/xml.h"
#include "pipeline/report/page_css.h"
#include "pipeline/report/palette.h"
#include "pipeline/report/viewer_css.h"

namespace voxswap::pipeline {

namespace {

// gnuplot writes "#444444" as rgb( 68,  68,  68) for lines and rgb(68,68,68)
// for text.
void repaint(std::string& svg, std::string_view color, std::string_view variable) {
  int rgb[3];
  for (std::size_t i = 0; i < 3; ++i)
    rgb[i] = std::stoi(std::string(color.substr(1 + 2 * i, 2)), nullptr, 16);
  const std::string paint = format("var({}, {})", variable, color);
  replace_all(svg, format("rgb({:3}, {:3}, {:3})", rgb[0], rgb[1], rgb[2]), paint);
  replace_all(svg, format("rgb({},{},{})", rgb[0], rgb[1], rgb[2]), paint);
}

// True for numbers, with units and "to" between them.
bool numeric(const std::string& cell) {
  static const std::set<std::string> words = {"nan", "inf", "to", "of",  "<",   "-",   "ms", "s",
                                              "min", "h",   "B",  "KiB", "MiB", "GiB", "TiB"};
  bool any = false;
  for (const std::string& word : split(cell, ' ')) {
    const std::size_t first = word.find_first_not_of("+-");
    const bool digit = first != word.npos && std::isdigit(static_cast<unsigned char>(word[first])) &&
                       word.find_first_not_of("0123456789.,%", first) == word.npos;
    if (!digit && !words.contains(word)) return false;
    any |= digit || word == "nan" || word == "inf" || word == "-";
  }
  return any;
}

// True if all cells are numbers or empty.
bool numeric_column(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  bool any = false;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    if (column >= rows[r].size() || rows[r][column].empty()) continue;
    if (!numeric(rows[r][column])) return false;
    any = true;
  }
  return any;
}

// Wide plots keep a minimum width for readable text and scroll; others scale to
// the screen.
std::string style_of_width(const std::string& svg) {
  constexpr int narrow = 700;
  const std::size_t box = svg.find("viewBox=\"0 0 ");
  if (box == svg.npos) return {};
  const int natural = std::atoi(svg.c_str() + box + 13);
  return format(" style=\"width:100%;min-width:{}px;max-width:{}px\"", natural > narrow ? natural * 3 / 5 : 0,
                natural * 5 / 4);
}

std::string figure(const std::string& picture, const std::string& caption) {
  return format(
      "<figure><div "
      "class=\"wide\">{}</div><figcaption>{}</figcaption></figure>\n",
      picture, xml_escaped(caption));
}

// Text between `begin` and `end`, starting at `at`, which is set to the
// position of `end`.
std::string between(const std::string& text, std::string_view begin, std::string_view end, std::size_t& at) {
  const std::size_t from = text.find(begin, at) + begin.size();
  at = text.find(end, from);
  return text.substr(from, at - from);
}

// Links to the sections written by html_section().
std::string contents_of(const std::string& body) {
  std::string items = "<li><a href=\"#top\">Summary</a></li>\n";
  for (std::size_t at = 0; (at = body.find("<section ", at)) != body.npos;) {
    const std::string id = between(body, "id=\"", "\"", at);
    items += format("<li><a href=\"#{}\">{}</a></li>\n", id, between(body, "<h2>", "</h2>", at));
  }
  return format("<nav aria-label=\"Contents\"><ul>\n{}</ul></nav>\n", items);
}

}  // namespace

std::string base64(std::string_view bytes) {
  static constexpr char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned triple = 0;
    for (std::size_t j = 0; j < 3; ++j) {
      triple = triple << 8 | (i + j < bytes.size() ? static_cast<unsigned char>(bytes[i + j]) : 0u);
    }
    for (std::size_t j = 0; j < 4; ++j) {
      text += i + j <= bytes.size() ? digits[triple >> (18 - 6 * j) & 63] : '=';
    }
  }
  return text;
}

std::string html_table(const std::vector<std::vector<std::string>>& rows) {
  // On a narrow screen, each row of a wide table becomes a card with labelled
  // lines.
  const bool wide = rows.front().size() > 3;
  std::string html = format("<div class=\"wide\"><table{}>\n", wide ? " class=\"cards\"" : "");
  for (std::size_t r = 0; r < rows.size(); ++r) {
    html += r == 0 ? "<tr class=\"head\">" : "<tr>";
    for (std::size_t c = 0; c < rows[r].size(); ++c) {
      const std::string label =
          r > 0 && wide ? format(" data-label=\"{}\"", xml_escaped(rows.front()[c])) : "";
      html += format("<{0}{1}{2}>{3}</{0}>", r == 0 ? "th" : "td",
                     numeric_column(rows, c) ? " class=\"number\"" : "", label, xml_escaped(rows[r][c]));
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string html_notes(const std::vector<std::string>& notes) {
  std::string html;
  for (const std::string& note : notes) html += format("<p class=\"note\">{}</p>\n", xml_escaped(note));
  return html;
}

std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string html = "<dl class=\"facts\">\n";
  for (const auto& [name, value] : facts)
    html += format("<dt>{}</dt><dd>{}</dd>\n", xml_escaped(name), xml_escaped(value));
  return html + "</dl>\n";
}

std::string html_download(const std::string& name, std::string_view content) {
  return format(
      "<a download=\"{0}\" "
      "href=\"data:text/csv;charset=utf-8;base64,{1}\">{0}</a>",
      xml_escaped(name), base64(content));
}

std::string html_figure(const std::string& svg, const std::string& caption) {
  std::string html = svg;
  if (const std::size_t tag = svg.find("<svg"); tag != svg.npos) html.insert(tag + 4, style_of_width(svg));
  return figure(html, caption);
}

std::string html_image(const std::string& svg, const std::string& caption) {
  return figure(
      format("<img alt=\"\"{} src=\"data:image/svg+xml;base64,{}\"/>", style_of_width(svg), base64(svg)),
      caption);
}

std::string inline_svg(std::string svg, const std::string& name) {
  const std::size_t begin = svg.find("<svg");
  if (begin != svg.npos) svg.erase(0, begin);
  replace_all(svg, "fill=\"#ffffff\"", "fill=\"none\"");
  replace_all(svg, "color=\"black\"", "color=\"var(--ink, #444444)\"");
  repaint(svg, plot_ink, "--ink");
  repaint(svg, plot_line, "--line");
  for (const char* quote : {"'", "\""})
    replace_all(svg, format("id={}", quote), format("id={}{}_", quote, name));
  replace_all(svg, "xlink:href='#", format("xlink:href='#{}_", name));
  replace_all(svg, "url(#", format("url(#{}_", name));
  return svg;
}

std::string html_section(const std::string& id, const std::string& title, const std::string& content) {
  return format("<section id=\"{}\"><h2>{}</h2>\n{}</section>\n", id, xml_escaped(title), content);
}

std::string html_secondary(const std::string& heading, const std::string& content, bool open) {
  return format("<details class=\"secondary\"{}><summary>{}</summary>\n{}</details>\n",
                open ? " open=\"\"" : "", heading, content);
}

std::string html_secondary_section(const std::string& id, const std::string& title,
                                   const std::string& content) {
  return format("<section id=\"{}\">{}</section>\n", id,
                html_secondary(format("<h2>{}</h2>", xml_escaped(title)), content));
}

std::string html_beside(const std::string& left, const std::string& right) {
  if (left.empty() || right.empty()) return left + right;
  return format("<div class=\"beside\"><div>{}</div>\n<div>{}</div></div>\n", left, right);
}

std::string html_page(const std::string& title, const std::string& body) {
  return format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\"/>\n"
      "<title>{}</title>\n<style>{}{}</style>\n</head>\n<body>\n{}<main "
      "id=\"top\">\n{}</main>\n</body>\n"
      "</html>\n",
      xml_escaped(title), page_css, viewer_css, contents_of(body), body);
}

}  // namespace voxswap::pipeline
