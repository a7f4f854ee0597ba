#include "pipeline/report/html.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>

#include "base/text.h"
#include "base/xml.h"
#include "pipeline/report/drawing.h"

namespace voxswap::pipeline {

namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != text.npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
}

// "#444444" as gnuplot writes it: rgb( 68,  68,  68) on lines, rgb(68,68,68) on text.
void repaint(std::string& svg, std::string_view color, std::string_view variable) {
  int rgb[3];
  for (std::size_t i = 0; i < 3; ++i)
    rgb[i] = std::stoi(std::string(color.substr(1 + 2 * i, 2)), nullptr, 16);
  const std::string paint = format("var({}, {})", variable, color);
  replace_all(svg, format("rgb({:3}, {:3}, {:3})", rgb[0], rgb[1], rgb[2]), paint);
  replace_all(svg, format("rgb({},{},{})", rgb[0], rgb[1], rgb[2]), paint);
}

// Numbers, with units and "to" between them.
bool numeric(const std::string& cell) {
  static const std::set<std::string> words = {"nan", "inf", "to", "<",   "-",   "ms",  "s",
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

// All its cells are numbers (or empty).
bool numeric_column(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  bool any = false;
  for (std::size_t r = 1; r < rows.size(); ++r) {
    if (column >= rows[r].size() || rows[r][column].empty()) continue;
    if (!numeric(rows[r][column])) return false;
    any = true;
  }
  return any;
}

// From the '<' at `at` to behind its '>'. No regular expression: those of the standard library run out of
// stack on a long path.
bool is_harmless_tag(const std::string& svg, std::size_t& at) {
  static const std::set<std::string> known = {"svg",     "style",  "title", "desc", "defs",
                                              "g",       "rect",   "path",  "line", "polyline",
                                              "polygon", "circle", "text",  "tspan"};
  const auto end_of_word = [&](std::size_t from) {
    return std::min(svg.find_first_of(" \t\n\r/>=", from), svg.size());
  };
  const bool closes = svg.compare(at, 2, "</") == 0;
  std::size_t begin = at + (closes ? 2 : 1);
  at = end_of_word(begin);
  if (!known.contains(svg.substr(begin, at - begin))) return false;
  while (at < svg.size() && svg[at] != '>') {  // attributes
    begin = svg.find_first_not_of(" \t\n\r/", at);
    if (begin == svg.npos) return false;
    if (svg[begin] == '>') {
      at = begin;
      break;
    }
    at = end_of_word(begin);
    const std::string name = lower(svg.substr(begin, at - begin));
    if (name.starts_with("on") || name.ends_with("href") || name == "src") return false;
    if (at + 1 >= svg.size() || svg[at] != '=' || (svg[at + 1] != '"' && svg[at + 1] != '\'')) return false;
    at = svg.find(svg[at + 1], at + 2);
    if (at == svg.npos) return false;
    ++at;
  }
  return at < svg.size();
}

constexpr const char* style = R"(
:root { color-scheme: light dark; --ink: #333; --soft: #666; --line: #ddd; --paper: #fff; --card: #f6f7f9; --link: #0b62a8; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #ddd; --soft: #a0a4aa; --line: #3d4147; --paper: #17191c; --card: #212429; --link: #7ab8f0; }
}
body { margin: 0 auto; padding: 1rem; max-width: 116rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Helvetica, Arial, sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: .5rem 0 0; overflow-wrap: anywhere; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 .6rem; }
h3 { font-size: 1rem; margin: 1.2rem 0 .4rem; overflow-wrap: anywhere; }
p, figcaption { color: var(--soft); margin: .3rem 0; max-width: 60rem; overflow-wrap: anywhere; }
.answer { color: var(--ink); font-size: 1.1rem; margin: .6rem 0; }
a { color: var(--link); }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: .1rem 1rem; margin: .6rem 0; max-width: 76rem; }
.facts dt { color: var(--soft); }
.facts dd { margin: 0; overflow-wrap: anywhere; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .3rem 1rem .3rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; font-size: .85rem; vertical-align: bottom; max-width: 9rem; }
td { max-width: 26rem; overflow-wrap: break-word; }
.number { text-align: right; }
td.number { white-space: nowrap; }
figure { margin: 1rem 0; }
figure svg { height: auto; display: block; }
.plots { display: grid; gap: 0 2rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 32rem), 46rem)); align-items: start; }
.cases { display: flex; flex-wrap: wrap; gap: 1rem; align-items: flex-start; }
.cases figure { margin: 0; max-width: 100%; }
.cases img { max-width: 100%; height: auto; background: #000; display: block; }
.cases figcaption { font-size: .85rem; width: 0; min-width: 100%; }
.download { font-size: .85rem; margin: .2rem 0 1rem; }
@media (prefers-color-scheme: dark) { figure svg { filter: brightness(1.2); } }
details { background: var(--card); border-radius: 6px; padding: .5rem .9rem; margin: .6rem 0; }
summary { cursor: pointer; overflow-wrap: anywhere; }
pre { overflow-x: auto; font-size: .85rem; line-height: 1.4; }
.note { border-left: 4px solid #d55e00; padding-left: .8rem; }
@media (max-width: 44rem) {
  .facts { grid-template-columns: 1fr; }
  .facts dd { margin-bottom: .4rem; }
  .cards, .cards tbody, .cards tr, .cards td { display: block; max-width: none; }
  .cards tr { background: var(--card); border-radius: 6px; padding: .4rem .8rem; margin: .5rem 0; }
  .cards tr.head { display: none; }
  .cards td, .cards td.number { display: flex; justify-content: space-between; gap: 1rem; padding: .1rem 0; border: 0;
    text-align: right; white-space: normal; }
  .cards td::before { content: attr(data-label); color: var(--soft); text-align: left; flex: none; max-width: 50%; }
  .cards td:empty { display: none; }
}
)";

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
  // On a narrow screen a row of a wide table becomes a card, whose lines say what they are.
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

std::string html_facts(const std::vector<std::pair<std::string, std::string>>& facts) {
  std::string html = "<dl class=\"facts\">\n";
  for (const auto& [name, value] : facts)
    html += format("<dt>{}</dt><dd>{}</dd>\n", xml_escaped(name), xml_escaped(value));
  return html + "</dl>\n";
}

std::string html_download(const std::string& name, std::string_view content) {
  return format("<a download=\"{0}\" href=\"data:text/csv;charset=utf-8;base64,{1}\">{0}</a>",
                xml_escaped(name), base64(content));
}

bool is_harmless_svg(const std::string& svg) {
  for (std::size_t at = svg.find('<'); at != svg.npos; at = svg.find('<', at)) {
    if (!is_harmless_tag(svg, at)) return false;
  }
  return svg.find("<svg") != svg.npos && svg.find("url(") == svg.npos && svg.find("@import") == svg.npos;
}

std::string html_figure(const std::string& svg, const std::string& caption) {
  // What is wider than this keeps letters that can be read, and scrolls; the rest fits any screen.
  constexpr int narrow = 700;
  std::string html = svg;
  const std::size_t box = svg.find("viewBox=\"0 0 "), tag = svg.find("<svg");
  if (box != svg.npos && tag != svg.npos) {
    const int natural = std::atoi(svg.c_str() + box + 13);
    html.insert(tag + 4, format(" style=\"width:100%;min-width:{}px;max-width:{}px\"",
                                natural > narrow ? natural * 3 / 5 : 0, natural * 5 / 4));
  }
  return format("<figure><div class=\"wide\">{}</div><figcaption>{}</figcaption></figure>\n", html,
                xml_escaped(caption));
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

std::string html_page(const std::string& title, const std::string& body) {
  return format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n{}</body>\n</html>\n",
      xml_escaped(title), style, body);
}

}  // namespace voxswap::pipeline
