#include "cli/command.h"

#include <CLI/CLI.hpp>

#include "base/nearest.h"
#include "base/text.h"

namespace pawl::cli {
namespace {

Check check_of(CLI::Validator validator) {
  std::string description = validator.get_description();
  return {std::move(validator), std::move(description)};
}

// `token create`
std::string given_verb(const CLI::App& app) {
  std::string verb;
  for (auto given = app.get_subcommands(); !given.empty(); given = given.front()->get_subcommands())
    verb += (verb.empty() ? "" : " ") + given.front()->get_name();
  return verb;
}

// What is wrong with a command line; of a word that is not known, what it was probably meant to be.
std::string misuse_of(const CLI::App& app, const CLI::ParseError& wrong) {
  const std::string said = wrong.what();
  const std::vector<std::string> unknown = app.remaining(true);
  const CLI::App* command = &app;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().front();
  const auto verbs = command->get_subcommands([](const CLI::App*) { return true; });
  std::vector<std::string> known;
  for (const CLI::App* verb : verbs) known.push_back(verb->get_name());
  const bool lacks_verb = said == "A subcommand is required";
  if (lacks_verb && unknown.empty()) return "a verb is required: " + join(known, ", ", " or ");
  if (const std::size_t end = said.find(": 1 required "); end != std::string::npos)
    return said.substr(0, end) + " needs a value";
  const bool has_extras =
      wrong.get_exit_code() == static_cast<int>(CLI::ExitCodes::ExtrasError) || lacks_verb;
  if (!has_extras || unknown.empty()) return said;
  const std::string& word = unknown.front();
  if (word.starts_with('-')) {
    known.clear();
    for (const CLI::Option* option : command->get_options())
      if (option->get_name().starts_with("--")) known.push_back(option->get_name());
    return "unknown option " + printable(word) + did_you_mean(word, known);
  }
  if (known.empty()) return "unexpected argument " + in_quotes(word);
  return "unknown verb " + in_quotes(word) + did_you_mean(word, known);
}

}  // namespace

Check between(int from, int to) { return {CLI::Range(from, to)}; }
Check between(std::int64_t from, std::int64_t to) { return {CLI::Range(from, to)}; }
Check between(double from, double to) { return {CLI::Range(from, to)}; }
Check one_of(const std::vector<std::string>& words) { return check_of(CLI::IsMember(words)); }

// --- Option

Option* Option::required() {
  option_->required();
  return this;
}

Option* Option::check(const Check& check) {
  option_->check(check.says_wrong, check.description);
  return this;
}

Option* Option::needs(Option* other) {
  option_->needs(other->option_);
  return this;
}

Option* Option::needs(const std::string& other) {
  option_->needs(other);
  return this;
}

Option* Option::excludes(Option* other) {
  option_->excludes(other->option_);
  return this;
}

Option* Option::expected(int count) {
  option_->expected(count);
  return this;
}

Option* Option::expected(int count_min, int count_max) {
  option_->expected(count_min, count_max);
  return this;
}

Option* Option::allow_extra_args(bool allowed) {
  option_->allow_extra_args(allowed);
  return this;
}

Option* Option::delimiter(char between_values) {
  option_->delimiter(between_values);
  return this;
}

Option* Option::type_name(const std::string& name) {
  option_->type_name(name);
  return this;
}

Option* Option::description(const std::string& text) {
  option_->description(text);
  return this;
}

Option* Option::group(const std::string& title) {
  option_->group(title);
  return this;
}

Option* Option::capture_default_str() {
  option_->capture_default_str();
  return this;
}

// --- Command

Command::Command(const std::string& description, const std::string& name)
    : app_(std::make_shared<CLI::App>(description, name)) {
  for (const char* number : {"INT", "UINT", "FLOAT"}) app_->get_formatter()->label(number, "N");
  app_->get_formatter()->label("SUBCOMMAND", "VERB");
}

Command* Command::add_subcommand(const std::string& name, const std::string& description) {
  CLI::App* app = app_->add_subcommand(name, description);
  app->group("Verbs");
  subcommands_.emplace_back(new Command(app_->get_subcommand_ptr(app)));
  return subcommands_.back().get();
}

// A word that is taken by its place says by its name what it is.
Option* Command::keep(CLI::Option* option) {
  if (option->get_positional() && option->get_type_name() == "TEXT") option->type_name("");
  return &options_.emplace_back(option);
}

Option* Command::add_option(const std::string& name, std::string& into,
                            const std::string& description) {
  return keep(app_->add_option(name, into, description));
}

Option* Command::add_option(const std::string& name, std::vector<std::string>& into,
                            const std::string& description) {
  return keep(app_->add_option(name, into, description));
}

Option* Command::add_option(const std::string& name, int& into, const std::string& description) {
  return keep(app_->add_option(name, into, description));
}

Option* Command::add_option(const std::string& name, std::int64_t& into,
                            const std::string& description) {
  return keep(app_->add_option(name, into, description));
}

Option* Command::add_option(const std::string& name, std::size_t& into,
                            const std::string& description) {
  return keep(app_->add_option(name, into, description));
}

Option* Command::add_option(const std::string& name, double& into, const std::string& description) {
  return keep(app_->add_option(name, into, description));
}

Option* Command::add_flag(const std::string& name, bool& into, const std::string& description) {
  return keep(app_->add_flag(name, into, description));
}

void Command::set_version_flag(const std::string& name, const std::string& version) {
  app_->set_version_flag(name, version);
}

Option* Command::get_option(const std::string& name) { return keep(app_->get_option(name)); }

bool Command::got_subcommand() const { return !app_->get_subcommands().empty(); }

void Command::require_subcommand(int count) { app_->require_subcommand(count); }

void Command::require_subcommand(std::size_t count_min, std::size_t count_max) {
  app_->require_subcommand(count_min, count_max);
}

void Command::callback(std::function<void()> call) { app_->callback(std::move(call)); }

void Command::footer(const std::string& text) { app_->footer(text); }

void Command::group(const std::string& title) { app_->group(title); }

std::string Command::help() const { return app_->help(); }

Parsed Command::parse(std::span<const std::string> words, std::ostream& out) {
  try {
    std::vector<std::string> reversed(words.rbegin(), words.rend());  // as CLI11 wants them
    app_->parse(reversed);
  } catch (const CLI::ParseError& wrong) {
    if (wrong.get_exit_code() != 0)
      return {.misuse = misuse_of(*app_, wrong), .verb = given_verb(*app_)};
    app_->exit(wrong, out, out);
    return {.is_answered = true};
  }
  return {};
}

}  // namespace pawl::cli
