#include <algorithm>

#include "base/text.h"
#include "cli/describe.h"
#include "cli/reference.h"
#include "experiments/keys.h"

namespace voxswap::cli {

namespace {

// Quotes text for a shell.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

// The first line, without characters that are special for shells and roff.
std::string plain_line(const std::string& text) {
  std::string line = text.substr(0, text.find('\n'));
  std::erase_if(line, [](char c) { return c == '`' || c == '[' || c == ']' || c == ':' || c == '\\'; });
  return line;
}

// The words among the values of a key: "auto | none | a size" -> auto, none.
std::vector<std::string> words_of(const experiments::Key& key) {
  std::vector<std::string> words;
  for (const std::string& part : split(key.expected, '|')) {
    const std::string word = trim(part);
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::islower(c) != 0 || std::isdigit(c) != 0 || c == '_' || c == '-';
    });
    if (plain) words.push_back(word);
  }
  return words;
}

bool is_flag(const OptionDescription& option) {
  return !option.positional && option.value.empty();
}

std::vector<std::string> option_names(const CommandDescription& command) {
  std::vector<std::string> names;
  for (const OptionDescription& option : command.options)
    if (!option.positional) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

// --- bash

// Branches of a `case` with the values of each option; without values, files are completed.
std::string bash_values(const CommandDescription& command) {
  std::string text;
  for (const OptionDescription& option : command.options)
    if (!option.positional && !is_flag(option))
      text += format("    \"{} {}\") values={} ;;\n", command.name, option.names[0],
                     quoted(join(option.choices, " ") + " "));
  return text;
}

std::string bash_keys() {
  std::string text;
  for (const experiments::Key& key : experiments::keys())
    text += format("    {}) values={} ;;\n", key.path, quoted(join(words_of(key), " ")));
  return text;
}

std::string key_names(const std::string& end) {
  std::vector<std::string> names;
  for (const experiments::Key& key : experiments::keys())
    if (key.path != "sweep") names.push_back(key.path + end);
  return join(names, " ");
}

std::string of_bash(const std::vector<CommandDescription>& commands) {
  std::string names, options, values, takes_keys;
  for (const CommandDescription& command : commands) {
    names += command.name + " ";
    options += format("    {}) options={} ;;\n", command.name, quoted(join(option_names(command), " ")));
    values += bash_values(command);
    if (command.takes_keys) takes_keys += " " + command.name + " ";
  }
  return format(R"(# Completion of voxswap in bash: source <(voxswap completion bash)
_voxswap() {{
  local line=${{COMP_LINE:0:COMP_POINT}} token before command=${{COMP_WORDS[1]}} options= values=none
  token=${{line##*[[:space:]]}}
  before=${{line%"$token"}}
  before=${{before%"${{before##*[![:space:]]}}"}}
  before=${{before##*[[:space:]]}}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "{0} help --help --version" -- "$token"))
    return
  fi
  case $command in
{1}  esac
  case "$command $before" in
{2}  esac
  if [ "$values" != none ]; then
    COMPREPLY=($(compgen -W "$values" -- "$token"))
    return
  fi
  if [[ $token == -* ]]; then
    COMPREPLY=($(compgen -W "$options" -- "$token"))
    return
  fi
  [[ "{3}" == *" $command "* ]] || return
  if [[ $token == *=* ]]; then
    values=
    case ${{token%%=*}} in
{4}    esac
    COMPREPLY=($(compgen -W "$values" -- "${{token#*=}}"))
    [[ $COMP_WORDBREAKS == *=* ]] || COMPREPLY=("${{COMPREPLY[@]/#/${{token%%=*}}=}}")
  elif [ -n "$token" ]; then
    COMPREPLY=($(compgen -W "{5}" -- "$token"))
    [ ${{#COMPREPLY[@]}} -eq 0 ] || compopt -o nospace
  fi
}}
complete -o default -F _voxswap voxswap
)",
                names, options, values, takes_keys, bash_keys(), key_names("="));
}

// --- zsh

std::string of_zsh(const std::vector<CommandDescription>& commands) {
  std::string names, cases;
  for (const CommandDescription& command : commands) {
    names += "    " + quoted(command.name + ":" + plain_line(command.summary)) + "\n";
    cases += format("    {})\n      _arguments", command.name);
    for (const OptionDescription& option : command.options) {
      if (option.positional) continue;
      const std::string spec = option.names[0] + "[" + plain_line(option.meaning) + "]";
      const std::string value = is_flag(option) ? ""
                                : option.choices.empty()
                                    ? ":" + option.value + ":_files"
                                    : ":" + option.value + ":(" + join(option.choices, " ") + ")";
      cases += " \\\n        " + quoted(spec + value);
    }
    cases +=
        format(" \\\n        '*:argument:{}'\n      ;;\n", command.takes_keys ? "_voxswap_keys" : "_files");
  }
  std::string values;
  for (const experiments::Key& key : experiments::keys())
    if (const auto words = words_of(key); !words.empty())
      values += format("      {}) compadd -- {} ;;\n", key.path, join(words, " "));
  return format(R"(#compdef voxswap
# Completion of voxswap in zsh: source <(voxswap completion zsh), or this as _voxswap in a folder of $fpath
_voxswap_keys() {{
  if compset -P '*='; then
    case ${{IPREFIX%=}} in
{2}      *) _files ;;
    esac
  else
    _alternative 'files:file:_files' 'keys:key:compadd -S "" -- {3}'
  fi
}}
_voxswap() {{
  local -a commands
  commands=(
{0}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  (( CURRENT-- ))
  case $command in
{1}  esac
}}
if [ "$funcstack[1]" = _voxswap ]; then
  _voxswap "$@"
else
  compdef _voxswap voxswap
fi
)",
                names, cases, values, key_names("="));
}

// --- fish

std::string of_fish(const std::vector<CommandDescription>& commands) {
  std::string text =
      "# Completion of voxswap in fish: voxswap completion fish | source\n"
      "complete -c voxswap -n __fish_use_subcommand -f\n";
  for (const CommandDescription& command : commands) {
    text += format("complete -c voxswap -n __fish_use_subcommand -a {} -d {}\n", command.name,
                   quoted(plain_line(command.summary)));
    const std::string here = quoted("__fish_seen_subcommand_from " + command.name);
    for (const OptionDescription& option : command.options) {
      if (option.positional) continue;
      text += format("complete -c voxswap -n {}", here);
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (!is_flag(option)) text += " -r";
      if (!option.choices.empty()) text += " -f -a " + quoted(join(option.choices, " "));
      text += " -d " + quoted(plain_line(option.meaning)) + "\n";
    }
    if (command.takes_keys) {
      for (const experiments::Key& key : experiments::keys()) {
        if (key.path == "sweep") continue;
        std::vector<std::string> whole = {key.path + "="};
        for (const std::string& word : words_of(key)) whole.push_back(key.path + "=" + word);
        text += format("complete -c voxswap -n {} -a {} -d {}\n", here, quoted(join(whole, " ")),
                       quoted(plain_line(key.meaning)));
      }
    }
  }
  return text;
}

struct Shell {
  const char* name;
  std::string (*script)(const std::vector<CommandDescription>& commands);
};
constexpr Shell shells[] = {{"bash", of_bash}, {"zsh", of_zsh}, {"fish", of_fish}};

}  // namespace

std::vector<std::string> completed_shells() {
  std::vector<std::string> names;
  for (const Shell& shell : shells) names.push_back(shell.name);
  return names;
}

std::string completion_script(const std::string& name) {
  const auto found = std::find_if(std::begin(shells), std::end(shells),
                                  [&](const Shell& shell) { return name == shell.name; });
  return found->script(describe_commands());
}

}  // namespace voxswap::cli
