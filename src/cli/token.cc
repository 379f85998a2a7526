// pawl token: who may use a server.
#include <memory>
#include <ostream>

#include "base/json_text.h"
#include "base/text.h"
#include "cli/client.h"
#include "cli/reply_text.h"
#include "cli/verb.h"
#include "decide/json_edit.h"
#include "model/expression/json_view.h"

namespace pawl::cli {
namespace {

using Words = std::vector<std::string>;

struct TokenOptions : ClientOptions {
  std::string name;
  Words token_roles;
  Words machine_roles;
  Words machines;
  Words queues;
  std::string expires;
  bool act_as = false;
};

void put_words(JsonMap& map, const char* name, const Words& words) {
  if (words.empty()) return;
  std::string& list = map.member(name);
  for (const std::string& word : words)
    list += (&word == &words.front() ? "[" : ",") + json_string(word);
  list += "]";
}

std::string token_body(const TokenOptions& options) {
  std::string body;
  {
    JsonMap map(body);
    map.text("name", options.name);
    put_words(map, "roles", options.token_roles);
    put_words(map, "machine_roles", options.machine_roles);
    put_words(map, "machines", options.machines);
    put_words(map, "queues", options.queues);
    if (options.act_as) map.boolean("act_as", true);
    if (!options.expires.empty()) map.text("expires_in", options.expires);
    if (options.dry_run) map.boolean("dry_run", true);
  }
  return body;
}

std::string listed(std::string_view token, std::string_view name) {
  Words words;
  Scratch scratch;
  for (JsonWalk walk(JsonView(token).member(name)); walk.next();)
    words.emplace_back(walk.value().text(scratch));
  return words.empty() ? std::string("-") : join(words, ",", ",");
}

ExitCode call_tokens(const TokenOptions& options, const ApiRequest& request,
                     const Surroundings& surroundings,
                     const std::function<void(const std::string& reply)>& print) {
  const auto client = open_client(options, surroundings);
  if (!client) return report(client.error(), "", "", surroundings.err);
  const ApiReply reply = (*client)->call(request);
  if (options.json || !is_ok(reply)) return report_reply(reply, options, "", surroundings);
  print(reply.body);
  return ExitCode::ok;
}

ExitCode create_token(const TokenOptions& options, const Surroundings& surroundings) {
  return call_tokens(
      options, post("/v1/tokens", token_body(options)), surroundings,
      [&](const std::string& reply) {
        const std::string expires = said(reply, "expires_at");
        surroundings.out << (options.dry_run ? "dry run: " : "") << printable(said(reply, "name"))
                         << ": created"
                         << (expires.empty() ? "" : ", expires " + short_time(expires)) << '\n';
        if (!options.dry_run)
          surroundings.out << "access token (shown only once): " << said(reply, "token") << '\n';
      });
}

ExitCode list_tokens(const TokenOptions& options, const Surroundings& surroundings) {
  return call_tokens(options, get("/v1/tokens"), surroundings, [&](const std::string& reply) {
    std::vector<Words> rows{
        {"NAME", "ROLES", "MACHINE ROLES", "MACHINES", "QUEUES", "EXPIRES", "CREATED BY"}};
    for (const std::string& token : items_of(reply)) {
      const std::string expires = said(token, "expires_at");
      rows.push_back({said(token, "name") + (said(token, "act_as").empty() ? "" : " (acts as)"),
                      listed(token, "roles"), listed(token, "machine_roles"),
                      said(token, "machines").empty() ? "all" : listed(token, "machines"),
                      said(token, "queues").empty() ? "all" : listed(token, "queues"),
                      expires.empty() ? "never" : short_time(expires), said(token, "made_by")});
    }
    if (rows.size() == 1) {
      surroundings.out << "no access tokens\n";
    } else {
      print_table(std::move(rows), surroundings.out);
    }
  });
}

ExitCode revoke(const TokenOptions& options, const Surroundings& surroundings) {
  return call_tokens(options, post("/v1/tokens/revoke", token_body(options)), surroundings,
                     [&](const std::string&) {
                       surroundings.out << (options.dry_run ? "dry run: " : "")
                                        << printable(options.name) << ": revoked\n";
                     });
}

Command* add_token_verb(Command& token, Action& action, const char* name, const char* what,
                        const std::shared_ptr<TokenOptions>& options,
                        ExitCode (*act)(const TokenOptions&, const Surroundings&)) {
  Command* verb = token.add_subcommand(name, what);
  verb->callback([options, act, &action] {
    action = [options, act](const Surroundings& surroundings) {
      return act(*options, surroundings);
    };
  });
  return verb;
}

void add_words(Command& verb, const char* option, Words& words, const char* what,
               const char* type) {
  verb.add_option(option, words, what)
      ->allow_extra_args(false)
      ->check(not_empty())
      ->type_name(type);
}

}  // namespace

void add_token(Command& app, Action& action) {
  Command* token = app.add_subcommand("token", "Create, list or revoke access tokens for a server");
  token->require_subcommand(1);
  auto created = std::make_shared<TokenOptions>();
  Command* verb = add_token_verb(*token, action, "create",
                                 "Create an access token and show it once", created, create_token);
  verb->add_option("NAME", created->name, "name of the token, which appears in the log")
      ->required()
      ->check(not_empty());
  add_words(*verb, "--role", created->token_roles,
            "viewer, app, worker, operator or admin; may be repeated", "ROLE");
  add_words(*verb, "--machine-role", created->machine_roles,
            "role that machines see in `by` and `actor.roles`; may be repeated", "ROLE");
  add_words(*verb, "--machine", created->machines, "restrict it to this machine; may be repeated",
            "MACHINE");
  add_words(*verb, "--queue", created->queues, "restrict it to this queue; may be repeated",
            "QUEUE");
  verb->add_flag("--act-as", created->act_as, "let it act on behalf of other actors");
  verb->add_option("--expires", created->expires, "how long it is valid (default: until revoked)")
      ->check(not_empty())
      ->type_name("DURATION");
  add_actor_options(*verb, *created);
  verb->get_option("--role")->required();
  verb->footer("Example:\n  pawl token create shop --role app --machine order --expires 90d");
  auto shown = std::make_shared<TokenOptions>();
  verb = add_token_verb(*token, action, "list", "List access tokens, without their secrets", shown,
                        list_tokens);
  add_client_options(*verb, *shown);
  verb->footer("Example:\n  pawl token list");
  auto revoked = std::make_shared<TokenOptions>();
  verb = add_token_verb(*token, action, "revoke", "Revoke an access token", revoked, revoke);
  verb->add_option("NAME", revoked->name, "name of the token")->required()->check(not_empty());
  add_client_options(*verb, *revoked);
  verb->add_flag("--dry-run", revoked->dry_run, "show what would happen, but change nothing");
  verb->footer("Example:\n  pawl token revoke shop");
  token->footer("Example:\n  pawl token create ci --role worker --queue builds --expires 30d");
}

}  // namespace pawl::cli
